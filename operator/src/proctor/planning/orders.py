"""Orders of the phases, from what was merged and checked before. Nothing is decided here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.api.evalrun import EvalRunSpec, ModelsMode
from proctor.api.orders import (
    AgentOrders,
    ArtifactsOrder,
    ChecksOrders,
    CriterionCommands,
    CriterionOrder,
    GradeOrders,
    ShellOrder,
    TrialOrders,
)
from proctor.api.task import (
    DEFAULT_ARTIFACTS_MIB,
    CommandSpec,
    PreRunCommand,
    Sandbox,
    Task,
    Variant,
)
from proctor.planning.checks import TrialCriterion
from proctor.planning.defaults import (
    checks_place,
    default_lineage,
    egress_of,
    timeouts,
    user_of,
)
from proctor.planning.files import laid_files
from proctor.planning.layers import Settings
from proctor.planning.prompts import overlaid_prompt
from proctor.planning.repositories import described as repository
from proctor.planning.repositories import repository_of
from proctor.planning.secret_uses import described, secrets_of_agent

NO_AGENT = "none"


@dataclass(frozen=True, slots=True)
class CellParts:
    """All that the orders of one (task, variant) are made of.

    Args:
        agent: The agent's type.
        factory: ``module:attribute`` of its adapter.
        options: Its checked options, defaults filled in.
    """

    run: str
    spec: EvalRunSpec
    task: Task
    variant: Variant
    settings: Settings
    agent: str
    factory: str
    options: Mapping[str, Any]
    criteria: Sequence[TrialCriterion]


def trial_orders(parts: CellParts) -> TrialOrders:
    """The orders of all phases of one (task, variant)."""
    checks = _checks_orders(parts)
    return TrialOrders(_agent_orders(parts), checks, _grade_orders(parts, checks is not None))


def _agent_orders(parts: CellParts) -> AgentOrders:
    limits = timeouts(parts.settings.limits)
    return AgentOrders(
        agent=parts.agent,
        adapter=parts.factory,
        model=parts.settings.model,
        options=parts.options,
        env=parts.settings.env,
        secret_env=tuple(sorted(parts.settings.secret_env)),
        prompt=overlaid_prompt(parts.task.prompt, parts.variant.prompt),
        files=laid_files(parts.task.workspace, parts.variant.workspace),
        pre_run=tuple(_shell(command) for command in _pre_run(parts)),
        max_turns=parts.settings.limits.max_turns,
        task_timeout_seconds=limits["task_timeout_seconds"],
        turn_timeout_seconds=limits["turn_timeout_seconds"],
    )


def _checks_orders(parts: CellParts) -> ChecksOrders | None:
    """None when no command must run after the agent."""
    commands = tuple(
        CriterionCommands(index, criterion.resolved.commands)
        for index, criterion in enumerate(parts.criteria)
        if criterion.resolved.commands
    )
    post_run = (*parts.task.post_run, *parts.spec.post_run)
    if not commands and not post_run:
        return None
    return ChecksOrders(
        commands=commands,
        reference=laid_files(parts.task.reference),
        pre_run=tuple(_shell(c) for c in _pre_run(parts) if c.where == "AgentAndChecks"),
        post_run=tuple(_shell(command) for command in post_run),
        timeout_seconds=timeouts(parts.settings.limits)["grade_timeout_seconds"],
    )


def _grade_orders(parts: CellParts, has_checks: bool) -> GradeOrders:
    reads = any("reference" in criterion.resolved.traits.reads for criterion in parts.criteria)
    return GradeOrders(
        criteria=tuple(_criterion(criterion) for criterion in parts.criteria),
        reference=laid_files(parts.task.reference) if reads else (),
        has_checks=has_checks,
        agent_runs=parts.agent != NO_AGENT,
        timeout_seconds=timeouts(parts.settings.limits)["grade_timeout_seconds"],
        lineage=_lineage(parts),
        context=_context(parts),
        artifacts=_artifacts(parts.settings.sandbox),
    )


def _artifacts(sandbox: Sandbox) -> ArtifactsOrder | None:
    kept = sandbox.artifacts
    if kept is None:
        return None
    most = DEFAULT_ARTIFACTS_MIB if kept.max_mib is None else kept.max_mib
    return ArtifactsOrder(kept.paths, most << 20)


def _criterion(criterion: TrialCriterion) -> CriterionOrder:
    resolved = criterion.resolved
    return CriterionOrder(
        type=resolved.type,
        name=criterion.name,
        weight=criterion.weight,
        pass_threshold=resolved.pass_threshold,
        options=resolved.options,
        commands=len(resolved.commands),
    )


def _lineage(parts: CellParts) -> dict[str, str]:
    variant = f"variant:{parts.variant.name}"
    lineage = {**default_lineage(parts.settings), **parts.settings.lineage}
    if parts.task.prompt is not None or parts.variant.prompt is not None:
        lineage["prompt"] = "task" if parts.variant.prompt is None else variant
    for layer, files in (("task", parts.task.workspace), (variant, parts.variant.workspace)):
        if files is not None and files.image is not None:
            lineage["workspace.image.path"] = layer
        if files is not None and files.git is not None:
            lineage["workspace.git"] = layer
        for file in files.files if files else ():
            lineage[f"workspace.files.{file.path}"] = layer
    return dict(sorted(lineage.items()))


def _context(parts: CellParts) -> dict[str, str | None]:
    mode = parts.spec.models.mode if parts.spec.models else ModelsMode.LIVE
    uses = [described(use) for use in secrets_of_agent(parts.settings)]
    git = repository_of(parts.task.workspace, parts.variant.workspace)
    return {
        **({} if git is None else {"git": repository(git)}),
        **({"secrets": ", ".join(uses)} if uses else {}),
        "suite": parts.spec.suite or parts.run,
        "agent": parts.agent,
        "model": parts.settings.model,
        "image": parts.settings.sandbox.image,
        "user": user_of(parts.settings).value,
        "isolation": checks_place(parts.settings).value,
        "models": mode.value,
        "egress": egress_of(parts.settings.sandbox).mode.value,
    }


def _pre_run(parts: CellParts) -> tuple[PreRunCommand, ...]:
    return (*parts.spec.pre_run, *parts.task.pre_run)


def _shell(command: CommandSpec) -> ShellOrder:
    fails = isinstance(command, PreRunCommand) and command.fail_on_error
    return ShellOrder(command.command, command.timeout_seconds, fails)
