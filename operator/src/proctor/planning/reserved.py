"""Paths of a trial's containers that are taken (pure)."""

RESERVED = (
    "/proctor", "/proctor-orders", "/workspace", "/home/agent", "/frozen", "/evidence", "/scratch",
    "/tmp", "/fill",
)  # fmt: skip
"""Proctor's own mounts."""

SYSTEM = ("/dev", "/proc", "/sys", "/etc", "/var/run/proctor", "/run/proctor")
"""What no volume may cover."""


def overlap(one: str, other: str) -> bool:
    """Whether one is the other, or lies in it."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
