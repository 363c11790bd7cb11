"""A run that has started and cannot be planned now: what its status and EvalTrials say (pure).

That is enough to take every verdict, to stop pods and to end the run; nothing of it can be started.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from proctor.api.egress import EgressMode
from proctor.api.errors import SpecError
from proctor.api.evalrun import EvalRunSpec, FailurePolicy, ModelsMode
from proctor.controller.names import EGRESS_LABEL, FETCH_LABEL
from proctor.controller.seen import RunKey, SeenPod, SeenRun, SeenTrial
from proctor.engine.model import DesiredTrial, TrialId
from proctor.planning.manifest import parse_spec


@dataclass(frozen=True, slots=True)
class KnownTrial:
    """What an EvalTrial says of its trial.

    Args:
        needs_model: True: it does not say, so the gateway is asked.
    """

    agent: str
    model: str | None
    models: ModelsMode
    needs_model: bool = True


@dataclass(frozen=True, slots=True)
class RemainingRun:
    """A run as far as it is known without its plan.

    Args:
        rest: Trials that have no EvalTrial, by variant, none with 0; None: nobody wrote down yet
            how many the run has.
    """

    key: RunKey
    uid: str
    spec: EvalRunSpec
    desired: tuple[DesiredTrial, ...]
    trials: Mapping[str, TrialId]
    names: Mapping[TrialId, str]
    known: Mapping[TrialId, KnownTrial]
    rest: Mapping[str, int] | None

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

    def cell(self, trial: TrialId) -> KnownTrial:
        """What its EvalTrial says."""
        return self.known[trial]


def remaining_run(run: SeenRun, trials: Mapping[str, SeenTrial]) -> RemainingRun:
    """Put together what is known of a run; ``trials`` are all that the cluster shows for it."""
    ours = own_trials(run, trials)
    ids = {name: _trial_id(trial) for name, trial in ours.items()}
    by_id = {ids[name]: trial for name, trial in ours.items()}
    order = sorted(by_id, key=lambda one: (one.repeat, one.task, one.variant))
    return RemainingRun(
        key=run.key,
        uid=run.identity.uid,
        spec=_spec(run),
        desired=tuple(_desired(one, by_id[one]) for one in order),
        trials=ids,
        names={one: name for name, one in ids.items()},
        known={one: _known(trial) for one, trial in by_id.items()},
        rest=_rest(run, by_id),
    )


def own_trials(run: SeenRun, trials: Mapping[str, SeenTrial]) -> dict[str, SeenTrial]:
    """Those of this run, and not of another one that had its name."""
    return {
        name: trial
        for name, trial in trials.items()
        if trial.run_uid == run.identity.uid and not trial.identity.deleting
    }


def needed_policies(pods: Iterable[SeenPod]) -> tuple[frozenset[EgressMode], bool]:
    """Modes of egress of pods, and whether any fetches a repository, by their own labels."""
    labels = [pod.labels for pod in pods]
    named = {one.get(EGRESS_LABEL) for one in labels}
    modes = frozenset(mode for mode in EgressMode if mode.value in named)
    return modes, any(FETCH_LABEL in one for one in labels)


def _spec(run: SeenRun) -> EvalRunSpec:
    """Its spec; one with defaults when this version cannot read it, which an earlier one could."""
    try:
        return parse_spec(run.spec)
    except SpecError:
        return EvalRunSpec.model_construct(cancelled=run.spec.get("cancelled") is True)


def _trial_id(trial: SeenTrial) -> TrialId:
    return TrialId(trial.spec.task, trial.spec.variant, trial.spec.repeat)


def _desired(trial: TrialId, seen: SeenTrial) -> DesiredTrial:
    return DesiredTrial(trial, seen.spec.agent, seen.spec.model, seen.spec.criteria)


def _known(trial: SeenTrial) -> KnownTrial:
    return KnownTrial(trial.spec.agent, trial.spec.model, ModelsMode(trial.spec.models.mode))


def _rest(run: SeenRun, known: Iterable[TrialId]) -> Mapping[str, int] | None:
    if run.status.start_time is None:
        return None
    made = Counter(trial.variant for trial in known)
    left = {one.name: one.total - made[one.name] for one in run.status.variants}
    return {variant: count for variant, count in left.items() if count > 0}
