"""Digests of what an image is built from: equal inputs, equal tag, no build."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cluster.images.errors import ImagesError

TAG_LENGTH = 12


def file_digest(path: Path) -> str:
    """Hash one file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_digest(root: Path, paths: Iterable[str]) -> str:
    """Hash names, executable bits and contents of what lies at ``paths`` below ``root``, in hex.

    Raises:
        ImagesError: One of the paths does not exist.
    """
    lines = [_line(root, file) for path in sorted(paths) for file in _files(root, path)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def image_tag(base: str, arguments: Mapping[str, str], inputs: str) -> str:
    """Name an image by all that decides its content: the base's digest, arguments, files."""
    parts = [base, *(f"{name}={arguments[name]}" for name in sorted(arguments)), inputs]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:TAG_LENGTH]


def _files(root: Path, path: str) -> Iterator[Path]:
    place = root / path
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from sorted(file for file in place.rglob("*") if file.is_file())
    else:
        raise ImagesError(f"{place} does not exist, but a Dockerfile copies it; create it")


def _line(root: Path, file: Path) -> str:
    kind = "x" if file.stat().st_mode & 0o100 else "-"
    return f"{kind} {file_digest(file)} {file.relative_to(root)}"
