"""An EvalRun whose spec could be planned: everything about it that never changes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from proctor.api.base import API_VERSION
from proctor.api.egress import EgressMode
from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import MUTABLE, Cassette, EvalRunSpec, FailurePolicy, ModelsMode
from proctor.api.evaltrial import TrialModels
from proctor.api.task import Task
from proctor.controller.names import digest, trial_name
from proctor.controller.orders import PackedOrders, config_map, pack_orders
from proctor.controller.permissions import permission_problems
from proctor.controller.pods import owner_reference
from proctor.controller.seen import RunKey, SeenRun
from proctor.controller.settings import TrialSettings
from proctor.engine.model import DesiredTrial, TrialId, desired_trials
from proctor.planning.cassette_rules import cluster_problems
from proctor.planning.config_maps import ConfigMapData, config_maps_digest
from proctor.planning.kinds import Kinds
from proctor.planning.manifest import parse_spec
from proctor.planning.model import Cell, RunPlan, RunSource
from proctor.planning.plan import plan_run

SCRIPT_KEY = "script.yaml"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that was accepted.

    Args:
        trials: Name of the EvalTrial of every desired trial → which trial it is.
        models: What each EvalTrial says of who answers its calls.
        script: ConfigMap body with the inline script, or None.
        sources_digest: Of all that its workspaces' ConfigMaps hold; empty when they name none.
    """

    key: RunKey
    uid: str
    spec: EvalRunSpec
    plan: RunPlan
    desired: tuple[DesiredTrial, ...]
    trials: Mapping[str, TrialId]
    names: Mapping[TrialId, str]
    orders: PackedOrders
    models: TrialModels
    script: Mapping[str, Any] | None
    sources_digest: str = ""

    @property
    def policy(self) -> FailurePolicy:
        """What happens after platform faults; the defaults when the spec says nothing."""
        return self.spec.failure_policy or FailurePolicy()

    @property
    def budget_usd(self) -> Decimal | None:
        """What the run may spend, in US dollars; None: no limit."""
        return None if self.spec.budget is None else Decimal(str(self.spec.budget.usd))

    @property
    def suite(self) -> str:
        """Identity over time: the spec's, or the run's name."""
        return self.spec.suite or self.key.name

    @property
    def can_be_made_again(self) -> bool:
        """Whether it comes out the same at any time: bundles never change, ConfigMaps may."""
        return not self.sources_digest

    def cell(self, trial: TrialId) -> Cell:
        """What the trial shares with its repeats."""
        return self.plan.cells[trial.task, trial.variant]

    def config_maps(self, trial: TrialId) -> tuple[Mapping[str, Any], ...]:
        """Bodies of the ConfigMaps that the trial's pod, or the gateway for it, reads."""
        placed = self.orders.places[trial.task, trial.variant]
        places = [place for place in (placed.agent, placed.grade, placed.checks) if place]
        bodies = [self.orders.config_maps[name] for name in dict(places)]
        return (*bodies, self.script) if self.script is not None else tuple(bodies)


def same_plan(spec: EvalRunSpec, other: EvalRunSpec) -> bool:
    """Whether two specs differ in nothing but what may change while a run goes on."""
    plain = dict.fromkeys(MUTABLE)
    return spec.model_copy(update=plain) == other.model_copy(update=plain)


def plan_seen_run(
    run: SeenRun,
    kinds: Kinds,
    priced: Callable[[str], bool],
    egress_modes: frozenset[EgressMode],
    settings: TrialSettings | None = None,
    config_maps: ConfigMapData | None = None,
    bundles: Mapping[str, tuple[Task, ...]] | None = None,
) -> PlannedRun:
    """Plan a run from its raw spec.

    Args:
        run: As the cluster shows it.
        kinds: Agents and criteria.
        priced: Whether a model has a price.
        egress_modes: Those that this cluster offers.
        settings: What this installation allows.
        config_maps: What the ConfigMaps hold that its workspaces name.
        bundles: Tasks of the bundles that it names, by digest.

    Raises:
        SpecError: Every problem, with field and remedy.
    """
    spec = parse_spec(run.spec)
    uid, name = run.identity.uid, run.identity.name
    source = RunSource(
        name=name,
        spec=spec,
        seed=digest(uid),
        config_maps=config_maps or {},
        bundles=bundles or {},
        egress_modes=egress_modes,
    )
    plan = plan_run(source, kinds, priced)
    held = config_maps_digest(source)
    refused = (
        *permission_problems(plan, settings or TrialSettings()),
        *_changed(held, run.status.sources_digest),
    )
    if refused:
        raise SpecError(refused)
    names = {trial: trial_name(name, uid, trial) for trial in plan.trials}
    owner = run_owner(run)
    models, script = _models(run, spec, owner)
    return PlannedRun(
        key=run.key,
        uid=uid,
        spec=spec,
        plan=plan,
        desired=desired_trials(plan),
        trials={name: trial for trial, name in names.items()},
        names=names,
        orders=pack_orders(plan, run.identity.namespace, name, uid, owner),
        models=models,
        script=script,
        sources_digest=held,
    )


def _changed(held: str, accepted: str) -> Iterator[Problem]:
    """Trials that ran and trials to come would not start with the same files."""
    if accepted and held != accepted:
        yield Problem(
            "spec.tasks",
            "ConfigMaps that its workspaces name have changed since the run was accepted",
            "apply the run under a new name",
        )


def run_owner(run: SeenRun) -> dict[str, Any]:
    """Owner reference to the run."""
    return owner_reference(API_VERSION, "EvalRun", run.identity.name, run.identity.uid)


def _replayed(mode: ModelsMode, cassette: Cassette) -> TrialModels:
    """What EvalTrials say of a cassette."""
    named, volume = cassette.config_map, cassette.volume
    return TrialModels(
        mode=mode.value,
        cassette_config_map=named.name if named else None,
        cassette_key=named.key if named else None,
        cassette_path=volume.path if volume else None,
    )


def _models(
    run: SeenRun, spec: EvalRunSpec, owner: Mapping[str, Any]
) -> tuple[TrialModels, Mapping[str, Any] | None]:
    """What EvalTrials say, and the ConfigMap to make for an inline script."""
    models = spec.models
    problems = tuple(cluster_problems(models))
    if problems:
        raise SpecError(problems)
    if models is not None and models.cassette is not None:
        return _replayed(models.mode, models.cassette), None
    if models is None or models.script is None:
        return TrialModels(mode=models.mode.value if models else "Live"), None
    given = models.script.config_map
    if given is not None:
        named = TrialModels(
            mode=models.mode.value, script_config_map=given.name, script_key=given.key
        )
        return named, None
    text = models.script.inline or ""
    uid, name = run.identity.uid, run.identity.name
    made = f"{name}-script-{digest(uid, text)}"
    body = config_map(made, {SCRIPT_KEY: text}, (run.identity.namespace, name, uid), owner)
    return TrialModels(mode=models.mode.value, script_config_map=made, script_key=SCRIPT_KEY), body
