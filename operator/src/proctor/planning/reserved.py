"""Paths of a trial's containers that belong to Proctor or to the system (pure)."""

RESERVED = (
    "/proctor", "/proctor-orders", "/proctor-secrets", "/workspace", "/home/agent", "/frozen",
    "/evidence", "/scratch", "/tmp", "/fill", "/fetched", "/kept",
)  # fmt: skip
"""Proctor's own mounts."""

SYSTEM = ("/dev", "/proc", "/sys", "/var/run/proctor", "/run/proctor", "/var/run/secrets")
"""What no volume may cover."""


def overlap(one: str, other: str) -> bool:
    """Whether one of two absolute paths is the other, or below it."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
