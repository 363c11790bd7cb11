"""One (task, variant): merged, checked, and built when nothing is wrong with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from proctor.api.errors import Problem
from proctor.api.evalrun import ModelsMode
from proctor.api.evaltrial import TrialLimits
from proctor.api.pod_template import PodTemplate
from proctor.api.task import Limits, Task, Variant
from proctor.api.workspace import MAX_FILE_BYTES
from proctor.planning.checks import TrialCriterion, agent_problems
from proctor.planning.defaults import (
    checks_place,
    egress_of,
    full_resources,
    full_service,
    timeouts,
    user_of,
)
from proctor.planning.egress_rules import agent_egress_problems
from proctor.planning.files import LARGE_FILES, LARGE_HIDDEN_FILES, clashes, laid_files
from proctor.planning.kinds import Kinds
from proctor.planning.layers import Layer, Settings, merge_layers
from proctor.planning.model import WORKSPACE, Cell, RunSource
from proctor.planning.orders import NO_AGENT, CellParts, trial_orders
from proctor.planning.pod_template_rules import persist_problems
from proctor.planning.prompts import overlaid_prompt
from proctor.planning.repositories import cell_problems as repository_problems
from proctor.planning.repositories import repository_of
from proctor.planning.secret_uses import secret_problems, secrets_of_agent
from proctor.planning.workspaces import cell_problems, image_path

MODEL_REQUIRED = frozenset({"mini"})
"""Agents that choose no model themselves: without one their first turn could only fail."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A task and a variant, with the paths where they were written.

    Args:
        criteria: Of the task and the run; those that could not be resolved are left out.
    """

    task: Task
    task_field: str
    variant: Variant
    variant_field: str
    criteria: Sequence[TrialCriterion]


@dataclass(frozen=True, slots=True)
class CellMaker:
    """Makes the cells of one run.

    Args:
        priced: Whether a model has a price; a limit in money needs one.
    """

    source: RunSource
    kinds: Kinds
    priced: Callable[[str], bool]

    def make(self, pair: Pair) -> Cell | tuple[Problem, ...]:
        """The cell, or everything that is wrong with this pair."""
        settings = merge_layers(self._layers(pair))
        problems = [*self._problems(pair, settings)]
        if settings.agent_type is None or settings.agent_type not in self.kinds.agent_types():
            return (*problems, _agent_problem(settings, self.kinds.agent_types()))
        options, wrong = self.kinds.agent_options(
            settings.agent_type, settings.options, "agent.options"
        )
        problems += [_moved(problem, settings) for problem in wrong]
        if problems:
            return tuple(problems)
        return self._cell(pair, settings, options, settings.agent_type)

    def _layers(self, pair: Pair) -> tuple[Layer, ...]:
        spec, task, variant = self.source.spec, pair.task, pair.variant
        layers = (
            Layer("run", "spec", spec.agent, spec.limits, spec.sandbox),
            Layer("task", pair.task_field, task.agent, task.limits, task.sandbox),
            Layer(
                f"variant:{variant.name}",
                pair.variant_field,
                variant.agent,
                variant.limits,
                variant.sandbox,
            ),
        )
        return layers if self.source.overrides is None else (*layers, self.source.overrides)

    def _problems(self, pair: Pair, settings: Settings) -> Iterator[Problem]:
        if settings.agent_type == NO_AGENT:
            yield from agent_problems(pair.criteria)
        elif not (overlaid_prompt(pair.task.prompt, pair.variant.prompt) or "").strip():
            yield Problem(
                f"{pair.task_field}.prompt",
                f"task {pair.task.name!r} has no prompt",
                "give the agent a prompt, or use agent type none",
            )
        if settings.agent_type in MODEL_REQUIRED and settings.model is None:
            yield Problem(
                settings.field("agent.model"),
                f"agent {settings.agent_type} has no model of its own choice",
                "set agent.model, or --model on the command line",
            )
        needs_key = settings.agent_type in MODEL_REQUIRED
        yield from agent_egress_problems(settings, needs_key, self.source.egress_modes)
        yield from _file_problems(pair)
        yield from secret_problems(settings)
        field = settings.field("sandbox.podTemplate.volumes")
        yield from persist_problems(settings.sandbox.pod_template, settings.sandbox.persist, field)
        yield from self._workspace_problems(pair, settings)
        yield from self._price_problems(settings)

    def _workspace_problems(self, pair: Pair, settings: Settings) -> Iterator[Problem]:
        own = pair.variant.workspace is not None and pair.variant.workspace.image is not None
        field = pair.variant_field if own else pair.task_field
        path = image_path(pair.task.workspace, pair.variant.workspace)
        yield from cell_problems(path, settings.sandbox, f"{field}.workspace")
        git = repository_of(pair.task.workspace, pair.variant.workspace)
        own_git = pair.variant.workspace is not None and pair.variant.workspace.git is not None
        at = pair.variant_field if own_git else pair.task_field
        offered = self.source.egress_modes
        yield from repository_problems(git, path, offered, f"{at}.workspace")

    def _price_problems(self, settings: Settings) -> Iterator[Problem]:
        model = settings.model
        if settings.agent_type == NO_AGENT or model is None or self.priced(model):
            return
        fields = [settings.field("limits.maxUsd")] if settings.limits.max_usd is not None else []
        if self.source.spec.budget is not None:
            fields.append("spec.budget.usd")
        for field in fields:
            yield Problem(
                field,
                f"the model {model!r} has no price, so a limit in US dollars cannot hold",
                "use maxTotalTokens, or a model with a price",
            )

    def _cell(self, pair: Pair, settings: Settings, options: Mapping[str, Any], agent: str) -> Cell:
        parts = CellParts(
            run=self.source.name,
            spec=self.source.spec,
            task=pair.task,
            variant=pair.variant,
            settings=settings,
            agent=agent,
            factory=self.kinds.agent_factory(agent),
            options=options,
            criteria=pair.criteria,
        )
        models = self.source.spec.models
        path = image_path(pair.task.workspace, pair.variant.workspace)
        return Cell(
            task=pair.task.name,
            variant=pair.variant.name,
            agent=agent,
            model=settings.model,
            image=settings.sandbox.image,
            persist=settings.sandbox.persist,
            resources=full_resources(settings.sandbox.resources),
            pod=settings.sandbox.pod_template or PodTemplate(),
            env=settings.env,
            secret_env=settings.secret_env,
            secrets=secrets_of_agent(settings),
            limits=_gateway_limits(settings.limits),
            **timeouts(settings.limits),
            criteria=tuple(criterion.name for criterion in pair.criteria),
            orders=trial_orders(parts),
            needs_model=agent != NO_AGENT,
            models=models.mode if models else ModelsMode.LIVE,
            user=user_of(settings),
            workspace=path or WORKSPACE,
            from_image=path is not None,
            git=repository_of(pair.task.workspace, pair.variant.workspace),
            checks_place=checks_place(settings),
            services=tuple(full_service(one) for one in settings.sandbox.services),
            egress=egress_of(settings.sandbox),
        )


def _agent_problem(settings: Settings, known: Sequence[str]) -> Problem:
    remedy = f"known: {', '.join(known)}; command runs any command line"
    if settings.agent_type is None:
        named = "set spec.agent.type, or --agent on the command line"
        return Problem("spec.agent.type", "no agent is named", f"{named}; {remedy}")
    return Problem(
        settings.field("agent.type"), f"agent type {settings.agent_type!r} is not known", remedy
    )


def _moved(problem: Problem, settings: Settings) -> Problem:
    """A problem with merged options, at the place where the option was written."""
    return Problem(settings.field(problem.field), problem.message, problem.remedy)


def _file_problems(pair: Pair) -> Iterator[Problem]:
    files = laid_files(pair.task.workspace, pair.variant.workspace)
    if pair.variant.workspace is not None:
        yield from clashes(files, f"{pair.variant_field}.workspace")
    hidden = laid_files(pair.task.reference)
    for laid, part, remedy in (
        (files, "workspace", LARGE_FILES),
        (hidden, "reference", LARGE_HIDDEN_FILES),
    ):
        size = sum(len(file.data) for file in laid)
        if size > MAX_FILE_BYTES:
            yield Problem(
                f"{pair.task_field}.{part}",
                f"the files of task {pair.task.name!r} are {size} bytes together",
                remedy,
            )


def _gateway_limits(limits: Limits) -> TrialLimits:
    return TrialLimits(
        max_model_calls=limits.max_model_calls,
        max_total_tokens=limits.max_total_tokens,
        max_usd=None if limits.max_usd is None else Decimal(str(limits.max_usd)),
    )
