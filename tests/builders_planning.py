"""Builders for tests of planning: runs in a few words, and kinds without any plugin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.api.catalog import Traits
from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import EvalRunSpec
from proctor.api.evidence import Command
from proctor.api.task import CriterionSpec
from proctor.planning.coder_eval import CoderTask
from proctor.planning.folder import FolderFile, Keep
from proctor.planning.kinds import ResolvedCriterion
from proctor.planning.manifest import parse_spec
from proctor.planning.places import SourceMap
from proctor.planning.plan import RunPlan, RunSource, plan_run


@dataclass(frozen=True, slots=True)
class FakeKinds:
    """Agents none, command (needs ``command``) and mini; criteria by name.

    ``file_exists`` reads files, ``run_command`` runs, ``asks`` needs an agent, ``compares`` reads
    the reference.
    """

    def agent_types(self) -> Sequence[str]:
        return ("command", "mini", "none")

    def criterion_types(self) -> Sequence[str]:
        return ("asks", "compares", "file_exists", "run_command")

    def agent_options(
        self, agent_type: str, options: Mapping[str, Any], field: str
    ) -> tuple[Mapping[str, Any], tuple[Problem, ...]]:
        known = {"command": {"command", "promptBy"}, "mini": {"steps"}, "none": set[str]()}
        wrong = [
            Problem(f"{field}.{key}", f"unknown option {key!r}", "known: command")
            for key in options
            if key not in known[agent_type]
        ]
        if agent_type == "command" and "command" not in options:
            wrong.append(Problem(f"{field}.command", "is missing", "give a command line"))
        return {"promptBy": "stdin", **options}, tuple(wrong)

    def agent_factory(self, agent_type: str) -> str:
        return f"proctor.agents.{agent_type}:make"

    def criterion(self, spec: CriterionSpec, field: str) -> ResolvedCriterion | tuple[Problem, ...]:
        if spec.type not in self.criterion_types():
            return (
                Problem(f"{field}.type", f"criterion type {spec.type!r} is not known", "known: …"),
            )
        options = spec.options()
        commands = ()
        if spec.type == "run_command":
            commands = (Command(("sh", "-c", options.get("command", "true")), 30),)
        return ResolvedCriterion(
            type=spec.type,
            name=spec.name,
            pass_threshold=0.9 if spec.pass_threshold is None else spec.pass_threshold,
            traits=Traits(
                reads=frozenset({"reference"} if spec.type == "compares" else {"files"}),
                needs_agent=spec.type == "asks",
            ),
            options=options,
            commands=commands,
        )


KINDS = FakeKinds()


def priced(model: str) -> bool:
    return model.startswith("claude-")


def a_task(name: str = "hello", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "prompt": "Say hello.",
        "criteria": [{"type": "file_exists", "path": "hello.txt"}],
        **fields,
    }


def a_spec(**fields: Any) -> EvalRunSpec:
    body = {"agent": {"type": "mini", "model": "claude-x"}, "tasks": [a_task()], **fields}
    return parse_spec(body)


def a_source(name: str = "run", seed: str = "", **fields: Any) -> RunSource:
    return RunSource(name=name, spec=a_spec(**fields), seed=seed)


def a_plan(**fields: Any) -> RunPlan:
    return plan_run(a_source(**fields), KINDS, priced)


def problems_of(**fields: Any) -> tuple[Problem, ...]:
    """Problems that the plan of such a run is refused with; none when it is accepted."""
    try:
        a_plan(**fields)
    except SpecError as error:
        return error.problems
    return ()


@dataclass(frozen=True, slots=True)
class FakeFolder:
    """A folder in memory: path → bytes."""

    contents: Mapping[str, bytes]

    def read(self, path: str) -> bytes:
        if path not in self.contents:
            raise FileNotFoundError(path)
        return self.contents[path]

    def files(self, path: str, keep: Keep) -> Sequence[FolderFile]:
        base = f"{path.rstrip('/')}/"
        found = [
            FolderFile(name.removeprefix(base), data)
            for name, data in sorted(self.contents.items())
            if name.startswith(base) and keep(name.removeprefix(base))
        ]
        if not any(name.startswith(base) for name in self.contents):
            raise NotADirectoryError(path)
        return found


@dataclass(frozen=True, slots=True)
class DiskFolder:
    """A real folder of the test data."""

    root: Path

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def files(self, path: str, keep: Keep) -> Sequence[FolderFile]:
        base = self.root / path
        if not base.is_dir():
            raise NotADirectoryError(str(base))
        found = sorted(one for one in base.rglob("*") if one.is_file())
        wanted = ((str(one.relative_to(base)), one) for one in found)
        return [FolderFile(name, one.read_bytes()) for name, one in wanted if keep(name)]


NO_FOLDER = FakeFolder({})


def headers(text: str) -> dict[str, str]:
    """The ``# key: value`` lines that a bad manifest begins with."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    return {key: value for key, _, value in (line.partition(": ") for line in lines)}


def a_suite(*tasks: CoderTask) -> RunSource:
    """A run of Coder Eval tasks; their files name no agent of the run."""
    places = SourceMap()
    for index, task in enumerate(tasks):
        places = places.joined(task.places.within(f"spec.tasks[{index}]"))
    return RunSource("suite", EvalRunSpec(tasks=tuple(task.task for task in tasks)), places=places)
