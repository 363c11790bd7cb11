"""Template sources and references of Coder Eval → files of a workspace."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from proctor.api.workspace import MAX_FILE_BYTES
from proctor.planning.files import LARGE_FILES, LARGE_HIDDEN_FILES
from proctor.planning.folder import Folder, FolderFile, ignored_patterns, is_copied, workspace_file
from proctor.planning.translation import Translation

_SOURCES = "sandbox.template_sources"


def workspace_files(
    sandbox: Mapping[str, Any], folder: Folder, translation: Translation
) -> list[dict[str, Any]]:
    """Files of all template sources, in order: of one path the last wins."""
    files = list[dict[str, Any]]()
    changes = translation.sequence(sandbox.get("ignore_patterns"), "sandbox.ignore_patterns")
    ignored = ignored_patterns([str(change) for change in changes])
    sources = translation.sequence(sandbox.get("template_sources"), _SOURCES)
    for index, written in enumerate(sources):
        field = f"{_SOURCES}[{index}]"
        source = translation.mapping(written, field)
        match source.get("type"):
            case "starter_files":
                found = _starter_files(source, field, translation)
            case "template_dir":
                found = _template_dir(source, field, ignored, folder, translation)
            case other:
                translation.refuse(
                    f"{field}.type",
                    f"a template source of type {other!r} is not supported",
                    "use starter_files or template_dir",
                )
                found = []
        for theirs, file in found:
            translation.came_from(f"workspace.files[{len(files)}]", theirs)
            files.append(file)
    return files


def reference_files(
    written: Any, folder: Folder, translation: Translation
) -> list[dict[str, Any]] | None:
    """Files of the reference; None when the task has none."""
    if written is None:
        return None
    reference = translation.mapping(written, "reference")
    for key in reference:
        if key != "directory":
            translation.unsupported(f"reference.{key}", reference[key])
    directory = str(reference.get("directory", ""))
    try:
        found = folder.files(directory, lambda _: True)
    except OSError as error:
        _unreadable("reference.directory", directory, error, translation)
        return None
    translation.came_from("reference", "reference.directory")
    _refuse_large(found, "reference.directory", LARGE_HIDDEN_FILES, translation)
    return [workspace_file(file.path, file) for file in _small(found)]


def read_text(path: str, field: str, folder: Folder, translation: Translation) -> str | None:
    """Text of a file beside the task file; None, and a problem, when it cannot be read."""
    try:
        return folder.read(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _unreadable(field, path, error, translation)
        return None


def _starter_files(
    source: Mapping[str, Any], field: str, translation: Translation
) -> list[tuple[str, dict[str, Any]]]:
    names = {"path": "path", "content": "content"}
    _only(source, ("type", "files"), field, translation)
    files = translation.sequence(source.get("files"), f"{field}.files")
    return [
        (here, translation.renamed(translation.mapping(file, here), names, here, ""))
        for here, file in ((f"{field}.files[{index}]", file) for index, file in enumerate(files))
    ]


def _template_dir(
    source: Mapping[str, Any],
    field: str,
    ignored: frozenset[str],
    folder: Folder,
    translation: Translation,
) -> list[tuple[str, dict[str, Any]]]:
    _only(source, ("type", "path", "mount_point", "include_patterns"), field, translation)
    path, mount = str(source.get("path", "")), str(source.get("mount_point", "."))
    included = translation.sequence(source.get("include_patterns"), f"{field}.include_patterns")
    patterns = [str(pattern) for pattern in included]
    if "$" in path:
        translation.refuse(f"{field}.path", f"{path!r} names an environment variable")
        return []
    try:
        found = folder.files(path, lambda name: is_copied(name, ignored, patterns))
    except OSError as error:
        _unreadable(f"{field}.path", path, error, translation)
        return []
    _refuse_large(found, f"{field}.path", LARGE_FILES, translation)
    return [
        (f"{field}.path", workspace_file(str(PurePosixPath(mount) / file.path), file))
        for file in _small(found)
    ]


def _refuse_large(
    found: Sequence[FolderFile], field: str, remedy: str, translation: Translation
) -> None:
    """Name each file that is too large by itself, which planning could not tell by its content."""
    for file in found:
        if len(file.data) > MAX_FILE_BYTES:
            translation.refuse(field, f"{file.path!r} has {len(file.data)} bytes", remedy)


def _small(found: Sequence[FolderFile]) -> list[FolderFile]:
    return [file for file in found if len(file.data) <= MAX_FILE_BYTES]


def _only(
    source: Mapping[str, Any], names: Sequence[str], field: str, translation: Translation
) -> None:
    for key in source:
        if key not in names:
            translation.unsupported(f"{field}.{key}", source[key])


def _unreadable(field: str, path: str, error: Exception, translation: Translation) -> None:
    if isinstance(error, UnicodeDecodeError):
        reason = "is not UTF-8"
    else:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or 'there is no such thing'}"
    translation.refuse(field, f"{path!r} {reason}", "name what lies beside the task file")
