"""What ``stage`` is told of the repository that it fetches, and no other container (pure)."""

from typing import Any

from proctor.api.evalrun import FailurePolicy
from proctor.api.git import (
    AUTHORITIES_KEY,
    FETCH_SECONDS,
    GIT_AUTHORITIES,
    GIT_PASSWORD,
    GIT_USERNAME,
    PASSWORD_KEY,
    USERNAME_KEY,
)
from proctor.api.redaction import SECRET_PREFIX
from proctor.api.workspace import GitRepository
from proctor.controller.confinement import FETCH_PASS_FOLDER, proxy_words
from proctor.controller.literals import literal
from proctor.controller.settings import NetworkSettings
from proctor.planning.reserved import FETCHED

FETCHED_VOLUME = "fetched"
LIBRARIES = "/stage"
"""In the runner's image, not below /proctor: it is never laid beside an agent."""

PASS_SLACK_SECONDS = 120
"""``stage`` lays the runner and proves the network before it fetches, and clocks differ."""


def pass_seconds(policy: FailurePolicy) -> int:
    """For how long a pass holds from when its pod is made, in seconds.

    The pod may begin as late as ``pendingTimeoutSeconds`` allow: from then on there is time for
    all that ``stage`` does.
    """
    return policy.pending_timeout_seconds + FETCH_SECONDS + PASS_SLACK_SECONDS


def fetch_words(git: GitRepository, network: NetworkSettings) -> list[str]:
    """Arguments of ``stage``."""
    below = [] if git.path is None else [f"--git-path={literal(git.path)}"]
    return [
        "--git", git.url, "--commit", git.commit, *below,
        "--fetch-to", FETCHED, "--libraries", LIBRARIES,
        *proxy_words(network, FETCH_PASS_FOLDER),
    ]  # fmt: skip


def fetch_env(git: GitRepository) -> dict[str, Any]:
    """Who asks the server. A Secret without a password keeps the pod from starting, by name."""
    if git.secret_ref is None:
        return {}
    secret = git.secret_ref.name
    env = [
        _variable(GIT_PASSWORD, secret, PASSWORD_KEY),
        _variable(GIT_USERNAME, secret, USERNAME_KEY, optional=True),
        _variable(GIT_AUTHORITIES, secret, AUTHORITIES_KEY, optional=True),
    ]
    return {"env": env}


def _variable(name: str, secret: str, key: str, *, optional: bool = False) -> dict[str, Any]:
    ref = {"name": secret, "key": key, **({"optional": True} if optional else {})}
    return {"name": f"{SECRET_PREFIX}{name}", "valueFrom": {"secretKeyRef": ref}}
