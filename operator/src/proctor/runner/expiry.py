"""How long a projected token is good for. Standard library only."""

import base64
import binascii
import json

from proctor.api.errors import PlatformError


def require_lifetime(key: str, now: float, seconds: float) -> None:
    """Refuse a token that ends before the phase may: a client reads its key only once.

    A key that is no JSON Web Token (the local gateway's) has no end.

    Args:
        key: The bearer key.
        now: Seconds since the epoch.
        seconds: How long the phase may take.

    Raises:
        PlatformError: When the cluster gave it a shorter life than was asked for.
    """
    ends = expiry(key)
    if ends is not None and ends < now + seconds:
        raise PlatformError(
            f"the gateway token ends in {ends - now:.0f} s, but the phase may take "
            f"{seconds:.0f} s: "
            "the cluster caps token lifetimes; allow longer ones or lower the trial's limits"
        )


def expiry(key: str) -> float | None:
    """When a JSON Web Token ends, in seconds since the epoch; None: it does not say."""
    parts = key.split(".")
    if len(parts) != 3:
        return None
    padded = parts[1] + "=" * (-len(parts[1]) % 4)
    try:
        claims = json.loads(base64.urlsafe_b64decode(padded))
    except (binascii.Error, ValueError):
        return None
    ends = claims.get("exp") if isinstance(claims, dict) else None
    return float(ends) if isinstance(ends, int | float) else None
