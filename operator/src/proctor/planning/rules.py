"""What the run's fields must satisfy whatever agents and criteria exist."""

import re
from collections.abc import Iterator, Sequence

from proctor.api.container import EnvVar
from proctor.api.errors import Problem
from proctor.api.evalrun import MAX_RUN_NAME, EvalRunSpec, Models, ModelsMode
from proctor.api.secret_refs import SecretEnvVar
from proctor.api.task import AgentSpec, Sandbox, Task, Variant
from proctor.planning.artifact_rules import artifact_problems
from proctor.planning.cassette_rules import cassette_problems
from proctor.planning.egress_rules import egress_problems
from proctor.planning.files import clashes, file_problems, laid_files
from proctor.planning.pod_template_rules import template_problems
from proctor.planning.prompts import overlay_problems
from proctor.planning.repositories import repository_problems
from proctor.planning.reserved import RESERVED, SYSTEM, overlap
from proctor.planning.scripts import script_problems
from proctor.planning.selecting import select_problems
from proctor.planning.service_rules import service_problems
from proctor.planning.workspaces import path_problems

MAX_TRIALS = 20_000
_NAME = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
_OURS = {
    "HOME",
    "USER",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
}


def name_problems(name: str, field: str = "metadata.name") -> Iterator[Problem]:
    """A name of a run that names of pods and labels cannot be made of."""
    if len(name) > MAX_RUN_NAME:
        yield Problem(
            field,
            f"{name!r} has {len(name)} characters, and names of pods are made of it",
            f"shorten it to {MAX_RUN_NAME} characters",
        )
    if not _NAME.fullmatch(name):
        yield Problem(
            field,
            f"{name!r} is not a Kubernetes name",
            "use a-z, 0-9 and -, with a letter or digit at both ends",
        )


def spec_problems(spec: EvalRunSpec, *, knows_all_tasks: bool = True) -> Iterator[Problem]:
    """All that is wrong with a run's own fields.

    Args:
        spec: The run's.
        knows_all_tasks: False: a selection may mean tasks that nobody handed in.
    """
    yield from _unique([task.name for task in spec.tasks], "spec.tasks", "task")
    yield from _unique([variant.name for variant in spec.variants], "spec.variants", "variant")
    if knows_all_tasks:
        yield from select_problems(spec.tasks, spec.select)
    yield from _models_problems(spec.models)
    yield from _layer_problems(spec.agent, spec.sandbox, "spec")
    for index, task in enumerate(spec.tasks):
        yield from _task_problems(task, f"spec.tasks[{index}]")
    for index, variant in enumerate(spec.variants):
        yield from _variant_problems(variant, f"spec.variants[{index}]")
    yield from _size_problems(spec)


def _task_problems(task: Task, field: str) -> Iterator[Problem]:
    yield from file_problems(task.workspace, f"{field}.workspace")
    yield from path_problems(task.workspace, f"{field}.workspace")
    yield from repository_problems(task.workspace, f"{field}.workspace")
    yield from file_problems(task.reference, f"{field}.reference")
    yield from clashes(laid_files(task.workspace), f"{field}.workspace")
    yield from clashes(laid_files(task.reference), f"{field}.reference")
    yield from _layer_problems(task.agent, task.sandbox, field)


def _variant_problems(variant: Variant, field: str) -> Iterator[Problem]:
    yield from overlay_problems(variant.prompt, f"{field}.prompt")
    yield from file_problems(variant.workspace, f"{field}.workspace")
    yield from path_problems(variant.workspace, f"{field}.workspace")
    yield from repository_problems(variant.workspace, f"{field}.workspace")
    yield from clashes(laid_files(variant.workspace), f"{field}.workspace")
    yield from _layer_problems(variant.agent, variant.sandbox, field)


def _layer_problems(
    agent: AgentSpec | None, sandbox: Sandbox | None, field: str
) -> Iterator[Problem]:
    if agent is not None:
        yield from _env_problems(agent.env, f"{field}.agent.env")
        yield from _env_problems(agent.secret_env, f"{field}.agent.secretEnv")
    if sandbox is not None:
        yield from service_problems(sandbox.services, f"{field}.sandbox.services")
    if sandbox is not None and sandbox.egress is not None:
        yield from egress_problems(sandbox.egress, f"{field}.sandbox.egress")
    paths = sandbox.persist if sandbox else ()
    for index, path in enumerate(paths):
        yield from _persist_problems(path, paths[:index], f"{field}.sandbox.persist[{index}]")
    if sandbox and sandbox.pod_template:
        yield from template_problems(sandbox.pod_template, f"{field}.sandbox.podTemplate")
    if sandbox and sandbox.artifacts:
        yield from artifact_problems(sandbox.artifacts, f"{field}.sandbox.artifacts")


def _env_problems(variables: Sequence[EnvVar | SecretEnvVar], field: str) -> Iterator[Problem]:
    yield from _unique([variable.name for variable in variables], field, "variable")
    for index, variable in enumerate(variables):
        if variable.name in _OURS or variable.name.startswith("PROCTOR_"):
            yield Problem(
                f"{field}[{index}].name",
                f"{variable.name} is set by Proctor in every trial",
                "leave it out; keys of providers belong to the gateway",
            )


def _persist_problems(path: str, others: Sequence[str], field: str) -> Iterator[Problem]:
    """A folder that cannot be a volume of its own beside ours and those before it."""
    taken = [own for own in (*RESERVED, *SYSTEM, "/etc", *others) if overlap(path, own)]
    if taken or ".." in path.split("/"):
        reason = f"overlaps {taken[0]}" if taken else "has `..` in it"
        yield Problem(
            field, f"{path!r} {reason}", "name a folder of the image's own, such as /opt/tools"
        )


def _models_problems(models: Models | None) -> Iterator[Problem]:
    if models is None:
        return
    scripted = models.mode is ModelsMode.SCRIPTED
    script = models.script
    if scripted and script is None:
        yield Problem(
            "spec.models.script",
            "mode Scripted needs a script",
            "give script.inline or script.configMap",
        )
    if not scripted and script is not None:
        yield Problem(
            "spec.models.script",
            f"mode {models.mode.value} reads no script",
            "set mode: Scripted, or remove the script",
        )
    if script is not None and (script.inline is None) == (script.config_map is None):
        yield Problem(
            "spec.models.script",
            "a script comes from exactly one place",
            "give either inline or configMap",
        )
    if scripted and script is not None and script.inline is not None:
        yield from script_problems(script.inline, "spec.models.script.inline")
    yield from cassette_problems(models)


def _size_problems(spec: EvalRunSpec) -> Iterator[Problem]:
    trials = len(spec.tasks) * max(len(spec.variants), 1) * spec.repeats
    if trials > MAX_TRIALS:
        yield Problem(
            "spec.repeats",
            f"tasks × variants × repeats are {trials} trials",
            f"keep them at {MAX_TRIALS} or fewer",
        )


def _unique(names: Sequence[str], field: str, noun: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in first:
            yield Problem(
                f"{field}[{index}].name",
                f"the {noun} {name!r} is already {field}[{first[name]}]",
                f"give each {noun} a name of its own",
            )
        first.setdefault(name, index)
