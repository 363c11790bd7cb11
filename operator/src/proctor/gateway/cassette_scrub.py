"""Takes secrets out of what a cassette keeps. Pure."""

import re
from collections.abc import Iterable
from typing import Any

SECRET = "[secret]"
_SHORTEST = 8
"""A shorter value is no key: taking it out would only spoil texts."""

_SHAPES = re.compile(
    "|".join(
        (
            r"\bsk-[A-Za-z0-9_-]{16,}",
            r"\bAIza[A-Za-z0-9_-]{30,}",
            r"\bgh[pousr]_[A-Za-z0-9]{20,}",
            r"\bgithub_pat_[A-Za-z0-9_]{20,}",
            r"\bglpat-[A-Za-z0-9_-]{16,}",
            r"\bhf_[A-Za-z0-9]{20,}",
            r"\bnpm_[A-Za-z0-9]{30,}",
            r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
            r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
            r"\bproctor-(?:agent|judge)-[A-Za-z0-9_-]{20,}",
            r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
            r"(?<=Bearer )[A-Za-z0-9._~+/=-]{16,}",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----",
        )
    ),
    re.DOTALL,
)
"""Keys of model providers, code hosts, registries and clouds; tokens; private keys."""

_MARKS = (
    *("sk-", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_"),
    *("npm_", "xox", "AKIA", "ASIA", "proctor-", "eyJ", "Bearer ", "PRIVATE KEY"),
)
"""A text without any of them has no such key; to look for them costs a tenth of the pattern."""


def scrubbed(value: Any, secrets: Iterable[str] = ()) -> Any:
    """JSON with ``[secret]`` in place of known keys, and of what looks like one.

    Args:
        value: JSON.
        secrets: Values that must not stay, wherever they stand.
    """
    known = [secret for secret in secrets if len(secret) >= _SHORTEST]
    return _scrubbed(value, sorted(known, key=len, reverse=True))


def _scrubbed(value: Any, known: list[str]) -> Any:
    if isinstance(value, str):
        value = _writable(value)
        for secret in known:
            value = value.replace(secret, SECRET)
        is_suspect = any(mark in value for mark in _MARKS)
        return _SHAPES.sub(SECRET, value) if is_suspect else value
    if isinstance(value, dict):
        return {_scrubbed(name, known): _scrubbed(part, known) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_scrubbed(part, known) for part in value]
    return value


def _writable(text: str) -> str:
    """Half a surrogate pair, which no file can hold, becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
