"""The model gateway in this process, as an attempt sees it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

from proctor.api.evalrun import ModelsMode
from proctor.api.orders import TrialRef
from proctor.api.usage import Bill, RunSpending
from proctor.gateway.account import Account, Mode
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.embed import LocalGateway
from proctor.gateway.local_accounts import Keys
from proctor.gateway.providers import Provider
from proctor.gateway.record_file import Recorder
from proctor.gateway.replay_tape import Tape
from proctor.gateway.traced import TraceTarget
from proctor.local.attempt import Gateway
from proctor.local.cassette import recorded_path
from proctor.local.folder import RunFolder
from proctor.local.planned import PlannedRun
from proctor.local.providers import NAMESPACE
from proctor.planning.model import Cell
from proctor.wire.script import Script
from proctor.wire.script_text import parse_script

_MODES: dict[ModelsMode, Mode] = {
    ModelsMode.LIVE: "Live",
    ModelsMode.RECORD: "Record",
    ModelsMode.REPLAY: "Replay",
    ModelsMode.SCRIPTED: "Scripted",
}


@asynccontextmanager
async def open_gateway(
    run: PlannedRun,
    folder: RunFolder,
    providers: Sequence[Provider],
    traces: TraceTarget | None = None,
) -> AsyncIterator[Gateway]:
    """A gateway for one run; ``providers`` hold the keys, and nobody else gets them.

    A run that is recorded has its cassette in order once the gateway is closed.
    """
    script = None if run.script is None else parse_script(run.script)
    tape = None if run.cassette is None else Tape(parse_cassette(run.cassette))
    path = recorded_path(run.source, folder.places.folder)
    recorder = None if path is None else Recorder(path, folder.uid)
    answers = Answers(script, tape, recorder)
    async with LocalGateway(providers, ledger_dir=folder.places.ledger, traces=traces) as gateway:
        yield EmbeddedGateway(gateway, answers, folder.uid, run.budget_usd)
    if recorder is not None:
        recorder.arrange()


@dataclass(frozen=True, slots=True)
class Answers:
    """What answers instead of a provider, or keeps what it answers; at most one is set."""

    script: Script | None = None
    tape: Tape | None = None
    recorder: Recorder | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedGateway:
    """Opens accounts from cells."""

    gateway: LocalGateway
    answers: Answers
    run_uid: str
    budget_usd: Decimal | None

    @property
    def url(self) -> str:
        """Its address, without a trailing slash."""
        return self.gateway.url

    def admit(self, ref: TrialRef, cell: Cell) -> Keys:
        """Open an account for this attempt; the trial's other attempts end."""
        return self.gateway.admit(
            Account(
                trial_uid=ref.uid,
                attempt=ref.attempt,
                limits=cell.limits,
                mode=_MODES[cell.models],
                script=self.answers.script,
                tape=self.answers.tape,
                recorder=self.answers.recorder,
                label=ref.label,
                namespace=NAMESPACE,
                model=cell.model or "",
                run_uid=self.run_uid,
                run_budget_usd=self.budget_usd,
            )
        )

    def bill(self, uid: str, attempt: int) -> Bill | None:
        """What the attempt has used so far."""
        return self.gateway.bill(uid, attempt)

    def spending(self) -> RunSpending:
        """What the run has used so far."""
        return self.gateway.spending(self.run_uid)
