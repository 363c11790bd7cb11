"""What must be known of a run to take what its pods leave: its plan says it, or its EvalTrials."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Protocol

from proctor.api.evalrun import EvalRunSpec, FailurePolicy, ModelsMode
from proctor.controller.seen import RunKey
from proctor.engine.model import DesiredTrial, TrialId


class TrialFacts(Protocol):
    """What repeats of a trial share."""

    @property
    def agent(self) -> str:
        """Agent type."""

    @property
    def model(self) -> str | None:
        """None: the agent's own choice."""

    @property
    def needs_model(self) -> bool:
        """Whether its pod may have asked a model."""

    @property
    def models(self) -> ModelsMode:
        """Who answers its model calls."""


class HarvestedRun(Protocol):
    """A run whose attempts can be observed, recorded and stopped."""

    @property
    def key(self) -> RunKey:
        """Which run."""

    @property
    def uid(self) -> str:
        """UID of the EvalRun."""

    @property
    def spec(self) -> EvalRunSpec:
        """What its user wants."""

    @property
    def policy(self) -> FailurePolicy:
        """What happens after platform faults."""

    @property
    def budget_usd(self) -> Decimal | None:
        """What the run may spend, in US dollars; None: no limit."""

    @property
    def suite(self) -> str:
        """Identity over time."""

    @property
    def desired(self) -> tuple[DesiredTrial, ...]:
        """Its trials, as far as they are known."""

    @property
    def trials(self) -> Mapping[str, TrialId]:
        """Name of the EvalTrial of each → which trial it is."""

    @property
    def names(self) -> Mapping[TrialId, str]:
        """The other way round."""

    def cell(self, trial: TrialId) -> TrialFacts:
        """What the trial shares with its repeats."""
