"""Files of workspaces and references: checked, decoded, and laid over each other."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from proctor.api.errors import Problem
from proctor.api.orders import FileOrder
from proctor.api.workspace import MAX_FILE_BYTES, Files, WorkspaceFile

LARGE_FILES = f"keep them at {MAX_FILE_BYTES} bytes, or lay large ones into the image"
LARGE_HIDDEN_FILES = (
    f"keep them at {MAX_FILE_BYTES} bytes; not in the image, where the agent would see them"
)
"""What to do about too many bytes of a task's files."""


def file_problems(files: Files | None, field: str) -> Iterator[Problem]:
    """What is wrong with a set of files; ``field`` is the path of the set."""
    for index, file in enumerate(files.files if files else ()):
        yield from _one(file, f"{field}.files[{index}]")


def _one(file: WorkspaceFile, field: str) -> Iterator[Problem]:
    yield from path_problems(file.path, f"{field}.path")
    if (file.content is None) == (file.content_base64 is None):
        both = "both content and contentBase64 are" if file.content is not None else "no content is"
        yield Problem(
            field, f"{both} given for {file.path!r}", "give exactly one of content, contentBase64"
        )
    if file.content_base64 is not None and _decoded(file.content_base64) is None:
        yield Problem(
            f"{field}.contentBase64",
            f"the content of {file.path!r} is not base64",
            "encode the bytes with `base64 -w0`, or give text as content",
        )


def path_problems(path: str, field: str) -> Iterator[Problem]:
    """What is wrong with a path below the workspace."""
    if ".." in path.split("/"):
        yield Problem(
            field, f"{path!r} leads out of the folder with `..`", "write the path without `..`"
        )
    elif not PurePosixPath(path).parts:
        yield Problem(field, f"{path!r} names no file", "write a path such as src/main.py")


def laid_files(*layers: Files | None) -> tuple[FileOrder, ...]:
    """All files of the layers, sorted by path; of one path the last wins. Checked before."""
    laid = {
        str(PurePosixPath(file.path)): file
        for files in layers
        if files is not None
        for file in files.files
    }
    return tuple(
        FileOrder(path, _data(file), file.executable) for path, file in sorted(laid.items())
    )


def clashes(files: Sequence[FileOrder], field: str) -> Iterator[Problem]:
    """Paths that would have to be a file and a folder at once."""
    paths = {file.path for file in files}
    for path in sorted(paths):
        for parent in PurePosixPath(path).parents:
            if str(parent) in paths:
                yield Problem(
                    field,
                    f"{str(parent)!r} is a file, and {path!r} needs it as a folder",
                    "rename one of them",
                )


def _data(file: WorkspaceFile) -> bytes:
    if file.content_base64 is not None:
        return _decoded(file.content_base64) or b""
    return (file.content or "").encode()


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
