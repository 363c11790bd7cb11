"""Field types that criteria share, so that one field name has one type in all of them."""

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from proctor.api.validation import refusal

_FLAG_BITS = re.I | re.M | re.S | re.X | re.A


def _below_workspace(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute():
        raise refusal(f"{path!r} is absolute", "write it relative to the workspace")
    if ".." in pure.parts:
        raise refusal(f"{path!r} leaves the workspace", "write a path without '..'")
    if not pure.parts:
        raise refusal(f"{path!r} is the workspace itself", "name a file or folder in it")
    return str(pure)


def _known_flags(flags: int) -> int:
    if flags & ~_FLAG_BITS:
        raise refusal(
            f"{flags} has bits that are not flags",
            "add up 2 (ignore case), 8 (multi-line), 16 (dot matches all), 64 (verbose) and "
            "256 (ASCII)",
        )
    return flags


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a regular expression that a person wrote; a refusal when it is none."""
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise refusal(
            f"{pattern!r} is not a regular expression: {error}",
            "use the syntax of Python's re module; a literal . * ? ( [ needs a backslash",
        ) from None


RelativePath = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00-\x1f]+$", min_length=1, max_length=512),
    AfterValidator(_below_workspace),
]
"""A path or a glob below the workspace (or the reference folder), normalised."""

FilePath = Annotated[
    RelativePath,
    Field(
        description="File below the workspace, or a glob (* ? [) that exactly one file matches; "
        "a file of just that name wins."
    ),
]

RegexFlags = Annotated[
    int,
    Field(
        ge=0,
        le=511,
        description="Sum of Python's regex flags: 2 ignore case, 8 multi-line, 16 dot matches "
        "all, 64 verbose, 256 ASCII.",
    ),
    AfterValidator(_known_flags),
]

RegexText = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
"""A regular expression; whoever uses it compiles it at load, with its flags."""
