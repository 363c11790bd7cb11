"""A Coder Eval task file (0.12) → a Task.

What Proctor cannot do yet is a problem that names the field; what Coder Eval itself tolerates, an
unknown field at the top, is a warning. Nothing is dropped in silence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from proctor.api.errors import Problem, SpecError
from proctor.api.task import Task
from proctor.api.validation import read_model
from proctor.planning.coder_criteria import criteria
from proctor.planning.coder_files import read_text, reference_files, workspace_files
from proctor.planning.coder_sandbox import sandbox_settings
from proctor.planning.folder import Folder
from proctor.planning.places import SourceMap
from proctor.planning.translation import Translation

__all__ = ["CoderTask", "Folder", "read_task"]

_READ = {
    "task_id",
    "description",
    "initial_prompt",
    "initial_prompt_file",
    "tags",
    "skip",
    "agent",
    "sandbox",
    "success_criteria",
    "run_limits",
    "reference",
    "pre_run",
    "post_run",
}
_NOT_YET = {
    "checker_context",
    "expected_commands",
    "dataset",
    "simulation",
    "suite_id",
    "row_id",
}
_LIMITS = {
    "max_turns": "maxTurns",
    "task_timeout": "taskTimeoutSeconds",
    "turn_timeout": "turnTimeoutSeconds",
    "max_total_tokens": "maxTotalTokens",
    "max_usd": "maxUsd",
}
_PRE_RUN = {"command": "command", "timeout": "timeoutSeconds", "fail_on_error": "failOnError"}
_POST_RUN = {"command": "command", "timeout": "timeoutSeconds"}


@dataclass(frozen=True, slots=True)
class CoderTask:
    """A task file that was read.

    Args:
        places: Places of the task's fields, by our path below it; they speak in the file's names.
        warnings: Problems that Coder Eval tolerates; their fields are the file's.
    """

    task: Task
    places: SourceMap
    warnings: tuple[Problem, ...]


def read_task(written: Mapping[str, Any], source: SourceMap, folder: Folder) -> CoderTask:
    """Read a task file's document, whatever its ``skip`` says.

    Raises:
        SpecError: With all problems at once; their fields are the file's.
    """
    translation = Translation(source)
    body = _body(written, folder, translation)
    places = SourceMap(translation.places)
    problems = list(translation.problems)
    try:
        task = read_model(Task, body, "")
    except SpecError as error:
        problems += [places.locate(problem) for problem in error.problems]
    if problems:
        raise SpecError(problems)
    return CoderTask(task, places, tuple(translation.warnings))


def _body(written: Mapping[str, Any], folder: Folder, translation: Translation) -> dict[str, Any]:
    top = {"task_id": "name", "description": "description", "tags": "tags"}
    body = translation.renamed(
        {key: value for key, value in written.items() if key in top}, top, "", ""
    )
    translation.came_from("", "")
    translation.came_from("name", "task_id")
    _check_top(written, translation)
    sandbox = translation.mapping(written.get("sandbox"), "sandbox")
    files = workspace_files(sandbox, folder, translation)
    reference = reference_files(written.get("reference"), folder, translation)
    parts = {
        "prompt": _prompt(written, folder, translation),
        "agent": _agent(written.get("agent"), translation),
        "limits": _limits(written.get("run_limits"), translation),
        "sandbox": sandbox_settings(sandbox, translation),
        "workspace": {"files": files} if files else None,
        "reference": None if reference is None else {"files": reference},
        "criteria": criteria(written.get("success_criteria"), files, translation),
        "preRun": _commands(written.get("pre_run"), "pre_run", "preRun", _PRE_RUN, translation),
        "postRun": _commands(
            written.get("post_run"), "post_run", "postRun", _POST_RUN, translation
        ),
    }
    translation.came_from("criteria", "success_criteria")
    return {**body, **{key: value for key, value in parts.items() if value is not None}}


def _check_top(written: Mapping[str, Any], translation: Translation) -> None:
    for key, value in written.items():
        if key in _NOT_YET:
            translation.unsupported(key, value)
        elif key not in _READ:
            translation.warn(key, f"unknown field {key!r} is ignored, as Coder Eval does")
    if not isinstance(written.get("skip", False), bool):
        translation.refuse("skip", f"{written['skip']!r} is not a boolean", "write true or false")


def _prompt(written: Mapping[str, Any], folder: Folder, translation: Translation) -> Any:
    inline, path = written.get("initial_prompt"), written.get("initial_prompt_file")
    if inline is not None and path is not None:
        translation.refuse(
            "initial_prompt_file", "initial_prompt is given as well", "give exactly one of them"
        )
    if path is None:
        translation.came_from("prompt", "initial_prompt")
        return inline
    translation.came_from("prompt", "initial_prompt_file")
    text = read_text(str(path), "initial_prompt_file", folder, translation)
    return None if text is None else text.strip()


def _agent(written: Any, translation: Translation) -> dict[str, Any] | None:
    """Type and model as they are; all other fields are options of that type."""
    agent = translation.mapping(written, "agent")
    if not agent:
        return None
    names = {key: to_camel(key) for key in agent if key not in ("type", "model")}
    own = {key: agent[key] for key in agent if key not in names}
    body = translation.renamed(own, {"type": "type", "model": "model"}, "agent", "agent")
    written_options = {key: agent[key] for key in names}
    options = translation.renamed(written_options, names, "agent", "agent.options")
    return {**body, "options": options} if options else body


def _limits(written: Any, translation: Translation) -> dict[str, Any] | None:
    limits = dict(translation.mapping(written, "run_limits"))
    counted = [limits.pop(key, False) for key in ("count_cached_input", "count_cache_creation")]
    if limits.get("max_total_tokens") is not None and not all(counted):
        translation.warn(
            "run_limits.max_total_tokens", "Proctor counts tokens of the prompt cache as well"
        )
    return translation.renamed(limits, _LIMITS, "run_limits", "limits") or None


def _commands(
    written: Any, theirs: str, ours: str, names: Mapping[str, str], translation: Translation
) -> list[dict[str, Any]] | None:
    commands = list[dict[str, Any]]()
    for index, command in enumerate(translation.sequence(written, theirs)):
        here, there = f"{theirs}[{index}]", f"{ours}[{index}]"
        translation.came_from(there, here)
        commands.append(translation.renamed(translation.mapping(command, here), names, here, there))
    return commands or None
