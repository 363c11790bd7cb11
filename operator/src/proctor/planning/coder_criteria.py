"""Success criteria of Coder Eval → criteria of ours."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.api.text import cut
from proctor.planning.translation import Translation

_COMMON = {"type": "type", "weight": "weight", "pass_threshold": "passThreshold"}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "file_exists": {"path": "path"},
    "file_contains": {"path": "path", "includes": "includes", "excludes": "excludes"},
    "file_matches_regex": {
        "path": "path",
        "pattern": "pattern",
        "must_match": "mustMatch",
        "flags": "regexFlags",
    },
    "json_check": {"path": "path", "json_schema": "jsonSchema", "assertions": "assertions"},
    "run_command": {
        "command": "command",
        "timeout": "timeoutSeconds",
        "expected_exit_code": "expectedExitCode",
        "expected_stdout": "expectedStdout",
        "stdout_match": "stdoutMatch",
        "score_from_stdout": "scoreFromStdout",
    },
}
_WITHOUT_EFFECT = ("description", "read_only")
"""``description`` becomes the name; ``read_only`` only says what Proctor's checks always are."""

_HINTS = {
    "command_not_executed": "use command_executed with max_count: 0, once it is supported",
    "program_stdout_equals": "use run_command with expected_stdout",
    "code_lints": "use run_command with the linter's command line",
    "scored_command": "use run_command with score_from_stdout: true",
}
_MAX_NAME = 120
_FIELD = "success_criteria"


def criteria(
    written: Any, files: Sequence[Mapping[str, Any]], translation: Translation
) -> list[dict[str, Any]]:
    """All criteria; ``files`` are those of the workspace, where schemas are looked for."""
    carried = list[dict[str, Any]]()
    for index, item in enumerate(translation.sequence(written, _FIELD)):
        field = f"{_FIELD}[{index}]"
        criterion = _criterion(translation.mapping(item, field), field, len(carried), translation)
        if criterion is None:
            continue
        if "jsonSchema" in criterion:
            _lay_in_schema(criterion, field, files, translation)
        carried.append(criterion)
    _name(carried, written)
    return carried


def _criterion(
    written: Mapping[str, Any], field: str, index: int, translation: Translation
) -> dict[str, Any] | None:
    kind = written.get("type")
    names = _FIELDS.get(str(kind))
    if names is None:
        remedy = _HINTS.get(str(kind), f"supported: {', '.join(_FIELDS)}")
        translation.refuse(f"{field}.type", f"criterion type {kind!r} is not supported", remedy)
        return None
    own = {key: value for key, value in written.items() if key not in _WITHOUT_EFFECT}
    ours = f"criteria[{index}]"
    translation.came_from(ours, field)
    if "TASK_DIR" in str(own.get("command", "")):
        translation.refuse(
            f"{field}.command",
            "the command reads $TASK_DIR, and a trial has no task folder",
            "put the files into the reference, and read $REFERENCE_DIR",
        )
    return translation.renamed(own, {**_COMMON, **names}, field, ours)


def _lay_in_schema(
    criterion: dict[str, Any],
    field: str,
    files: Sequence[Mapping[str, Any]],
    translation: Translation,
) -> None:
    """Put the schema itself in the place of its path: the agent could rewrite the file."""
    path = criterion.pop("jsonSchema")
    content = {file.get("path"): file.get("content") for file in files}.get(path)
    try:
        criterion["jsonSchema"] = json.loads(str(content)) if content is not None else None
    except ValueError:
        translation.refuse(f"{field}.json_schema", f"{path!r} is not JSON", "correct the schema")
    if content is None:
        translation.refuse(
            f"{field}.json_schema",
            f"no template source brings {path!r}",
            "bring the schema as a starter file",
        )


def _name(carried: Sequence[dict[str, Any]], written: Any) -> None:
    """Name criteria by their descriptions, where these are there and tell them apart."""
    known = [
        item
        for item in (written if isinstance(written, list) else [])
        if isinstance(item, dict) and item.get("type") in _FIELDS
    ]
    taken = set[str]()
    for criterion, item in zip(carried, known, strict=True):
        name = _shortened(item.get("description"))
        if name and name not in taken:
            criterion["name"] = name
            taken.add(name)


def _shortened(description: Any) -> str:
    text = " ".join(description.split()) if isinstance(description, str) else ""
    return cut(text, _MAX_NAME)
