"""Paths of a trial's containers that belong to Proctor or to the system (pure).

The same in a pod and in containers on a laptop.
"""

from proctor.planning.model import WORKSPACE

RUNNER = "/proctor"
"""The runner's bundle, with an interpreter of its own."""

RUNNER_COMMAND = (f"{RUNNER}/bin/python3", "-m", "proctor.runner")

ORDERS = "/proctor-orders"
"""A folder for each phase, with ``orders.json``."""

HIDDEN_SECRETS = "/proctor-secrets"
"""Where ``grade`` finds Secrets whose values it takes out."""

HOME = "/home/agent"
FROZEN = "/frozen"
"""What the agent left: ``workspace``, and what else passes to the checks."""

EVIDENCE = "/evidence"
"""A folder for each phase."""

SCRATCH = "/scratch"
"""Hidden files, while the checks run."""

TEMPORARY = "/tmp"
FILL_FOLDER = "/fill"
"""The workspace, while it is filled from the image's folder of its own path."""

FETCHED = "/fetched"
"""A repository as it was fetched."""

KEPT = "/kept"
"""What ``loop`` keeps of checks in place."""

PRIVATE = "/var/run/proctor"
"""Tokens, passes and sockets, each in the containers that need it."""

HANDSHAKE = f"{PRIVATE}/loop"
"""Where ``loop`` leaves its one-time secret for the runner in the agent's container."""

RESERVED = (
    RUNNER, ORDERS, HIDDEN_SECRETS, WORKSPACE, HOME, FROZEN, EVIDENCE, SCRATCH, TEMPORARY,
    FILL_FOLDER, FETCHED, KEPT,
)  # fmt: skip
"""Proctor's own mounts."""

SYSTEM = ("/dev", "/proc", "/sys", PRIVATE, "/run/proctor", "/var/run/secrets")
"""What no volume may cover."""


def overlap(one: str, other: str) -> bool:
    """Whether one of two absolute paths is the other, or below it."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
