"""Whose model calls these are, and what they may use.

``Accounts`` is a port: random keys locally, projected tokens in a cluster. It answers who holds
a key; the ledger says what was used.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol

from proctor.api.evaltrial import TrialLimits
from proctor.api.usage import SPENDING_MODES
from proctor.gateway.record_file import Recorder
from proctor.gateway.replay_tape import Tape
from proctor.gateway.seat import Role as Role
from proctor.gateway.seat import Seat
from proctor.wire.script import Script

Mode = Literal["Live", "Record", "Replay", "Scripted"]


@dataclass(frozen=True, slots=True)
class Account:
    """One attempt of a trial.

    Args:
        limits: Enforced before each of the agent's calls.
        script: Answers in mode ``Scripted``; None otherwise.
        namespace: Its namespace; ``local`` without a cluster.
        opened_at: From when its calls may date: what a ledger that is younger cannot know of.
            None: it is as new as this process.
        role: Whose key is used; a judge's calls are booked apart and take none of the limits.
        run_uid: Whose budget its calls are taken from; empty: it belongs to no run.
        run_budget_usd: What all trials of the run may spend together; None: no limit.
        label: ``task/variant/repeat``, by which a cassette knows the trial; empty: not known.
        recorder: Where its calls are recorded in mode ``Record``; None otherwise.
        tape: What answers in mode ``Replay``; None otherwise.
        model: What the trial is told to ask; that nobody serves it is no fault of the agent. Empty:
            the agent chooses.
        traceparent: The W3C trace context that its calls belong to; empty: none.
    """

    trial_uid: str
    attempt: int
    limits: TrialLimits = field(default_factory=TrialLimits)
    mode: Mode = "Live"
    script: Script | None = None
    namespace: str = "local"
    opened_at: datetime | None = None
    role: Role = "agent"
    run_uid: str = ""
    run_budget_usd: Decimal | None = None
    label: str = ""
    recorder: Recorder | None = None
    tape: Tape | None = None
    model: str = ""
    traceparent: str = ""

    @property
    def run(self) -> str:
        """Whose ledger it belongs to: the run's, or the trial's own when it has no run."""
        return self.run_uid or self.trial_uid

    @property
    def asks_provider(self) -> bool:
        """Whether its calls go to a provider, and cost money."""
        return self.mode in SPENDING_MODES

    @property
    def seat(self) -> Seat:
        """Who makes its calls, as a cassette knows it."""
        return Seat(self.label, self.trial_uid, self.attempt, self.role)


@dataclass(frozen=True, slots=True)
class Admitted:
    """The key of the agent or of the judge of an account."""

    account: Account
    role: Role


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator's own token: it reads bills and has no account."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A key that is not served.

    Args:
        status: 401 for an unknown key, 403 for a known one that may not call now.
        reason: For the client.
    """

    status: int
    reason: str


class Accounts(Protocol):
    """Who holds which key."""

    async def find(self, key: str) -> Admitted | Operator | Refused:
        """Look a key up.

        Raises:
            PlatformError: When that cannot be said now; nobody is refused for our failure.
        """
