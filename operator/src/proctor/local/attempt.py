"""One attempt of a trial: agent, freeze, checks, grade; a verdict or a failure comes out.

What a later phase may see and an earlier one may not (hidden orders, keys) is written only when
the phase before has ended with everything that it started.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from proctor.api.orders import TrialRef
from proctor.api.outcome import FailureClass
from proctor.api.termination import TerminationError, TrialVerdict
from proctor.api.usage import Bill, RunSpending
from proctor.engine.model import Failure, TrialId
from proctor.gateway.local_accounts import Keys
from proctor.local.contained import (
    GATEWAY_SOCKET,
    GATEWAY_URL,
    LOOP_SOCKET,
    Confined,
    Ground,
    Shares,
    Sight,
    agent_shares,
    checks_shares,
    fill_shares,
    passed,
)
from proctor.local.engine import Share
from proctor.local.failures import broken_places, failure, fill_failure, phase_failure
from proctor.local.files import remove_tree, write_atomically
from proctor.local.freezing import freeze, freeze_handed_over, freeze_in_place, guard, renew
from proctor.local.gateway_socket import gateway_socket
from proctor.local.handover import beside, handover_folder
from proctor.local.phases import PhaseEnd, PhaseOrder, Phases
from proctor.local.places import TrialPlaces
from proctor.planning.model import Cell
from proctor.planning.reserved import FETCHED, HANDSHAKE
from proctor.runner.secret_values import KEY_NAME

BACKSTOP_SECONDS = 60
"""What a phase may take beyond its own limits before the launcher ends it."""

_MAX_VERDICT_BYTES = 64 * 1024


class Gateway(Protocol):
    """What an attempt needs of the model gateway."""

    @property
    def url(self) -> str:
        """Its address, without a trailing slash."""

    def admit(self, ref: TrialRef, cell: Cell) -> Keys:
        """Open an account for this attempt; the trial's other attempts end."""

    def bill(self, uid: str, attempt: int) -> Bill | None:
        """What the attempt has used so far; None when it never had an account."""

    def spending(self) -> RunSpending:
        """What the run has used so far, in earlier processes too."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt to run, and where.

    Args:
        secrets: Values of the cell's ``secret_env``.
        fetched: Folder of its repository; None: it has none.
        ground: What its containers share with others; None: it runs without containers.
    """

    ref: TrialRef
    cell: Cell
    places: TrialPlaces
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    fetched: Path | None = None
    ground: Ground | None = None

    @property
    def trial(self) -> TrialId:
        """The trial that it belongs to."""
        return TrialId(self.ref.task, self.ref.variant, self.ref.repeat)

    @property
    def handover(self) -> Path | None:
        """Folder of the socket of ``loop``; None: hidden orders need none."""
        return None if self.ground is None else self.ground.handover

    @property
    def persisted(self) -> tuple[Path, ...]:
        """Folders besides workspace and HOME that pass from agent to checks."""
        if self.ground is None:
            return ()
        return tuple(path for path, _ in passed(self.places, self.cell) if path != self.places.home)

    def confined(self, phase: str, shares: Shares, *more: Share) -> Confined | None:
        """The container of a phase; None without containers."""
        if self.ground is None:
            return None
        return Confined(
            name=f"proctor-{self.ref.uid}-{self.ref.attempt}-{phase}",
            cell=self.cell,
            ground=self.ground,
            shares=(*shares(self.places, self.cell, self.ground), *more),
            folder=self.places.private,
        )


async def run_attempt(attempt: Attempt, phases: Phases, gateway: Gateway) -> TrialVerdict | Failure:
    """Run all phases of an attempt.

    Cancelled, it returns only when none of its processes is left.
    """
    try:
        if attempt.ground is None:
            return await _run(attempt, phases, gateway)
        with handover_folder(wanted=attempt.cell.checks_in_place) as handover:
            async with gateway_socket(gateway.url) as socket:
                ground = replace(attempt.ground, socket=socket, handover=handover)
                return await _run(replace(attempt, ground=ground), phases, gateway)
    finally:
        with suppress(OSError):
            remove_tree(attempt.places.private)


async def _run(attempt: Attempt, phases: Phases, gateway: Gateway) -> TrialVerdict | Failure:
    keys = gateway.admit(attempt.ref, attempt.cell) if attempt.cell.needs_model else None
    try:
        _lay_out(attempt)
        if attempt.ground is not None and attempt.cell.from_image:
            end = await phases.run(_fill_phase(attempt))
            if end.exit_code != 0:
                return fill_failure(end)
        end = await _run_agent(attempt, phases, _agent_phase(attempt, gateway.url, keys))
    except OSError as error:
        return Failure(FailureClass.INFRA, "LauncherError", f"{type(error).__name__}: {error}")
    if end.exit_code != 0:
        return phase_failure("agent", end)
    try:
        return await _judge(attempt, phases, gateway.url, keys)
    except OSError as error:
        return broken_places(error)


async def _run_agent(attempt: Attempt, phases: Phases, order: PhaseOrder) -> PhaseEnd:
    """With checks in place ``loop`` is beside it, and the checks are part of it."""
    if attempt.handover is None:
        return await phases.run(order)
    async with beside(phases, _loop_phase(attempt, attempt.handover, order.timeout_seconds)):
        return await phases.run(order)


async def _judge(
    attempt: Attempt, phases: Phases, url: str, keys: Keys | None
) -> TrialVerdict | Failure:
    if attempt.handover is not None:
        freeze_handed_over(attempt.places, attempt.persisted)
    elif attempt.cell.checks_in_place:
        await asyncio.to_thread(freeze_in_place, attempt.places)
    else:
        freeze(attempt.places, attempt.persisted)
    if attempt.cell.orders.checks is not None and attempt.handover is None:
        end = await phases.run(_checks_phase(attempt))
        if end.exit_code != 0:
            return phase_failure("checks", end)
    guard(attempt.places)
    end = await phases.run(_grade_phase(attempt, url, keys))
    return _read_verdict(attempt, end)


def _lay_out(attempt: Attempt) -> None:
    """Start from nothing: what an attempt before left is removed."""
    places = attempt.places
    for folder in (places.work, places.record):
        remove_tree(folder)
    made = (places.workspace, places.home, places.evidence("agent"), places.frozen)
    for folder in (*made, *attempt.persisted):
        folder.mkdir(parents=True)
    (places.folder / "logs").mkdir(exist_ok=True)
    places.private.mkdir(mode=0o700)


def _fill_phase(attempt: Attempt) -> PhaseOrder:
    confined = attempt.confined("fill", fill_shares)
    at = _sight(confined)
    arguments = ["--from", attempt.cell.workspace, "--to", at(attempt.places.workspace)]
    phase = _phase(attempt, "fill", arguments, attempt.cell.task_timeout_seconds)
    return replace(phase, confined=confined)


def _agent_phase(attempt: Attempt, url: str, keys: Keys | None) -> PhaseOrder:
    places, cell = attempt.places, attempt.cell
    confined = attempt.confined("agent", agent_shares, *_repository(attempt))
    at = _sight(confined)
    key = keys.agent if keys and cell.agent_asks_models else None
    arguments = [
        *_orders(places, "agent", cell.orders.agent.to_json(), at),
        *("--workspace", at(places.workspace)),
        *("--home", at(places.home)),
        *("--evidence", at(places.evidence("agent"))),
        *(word for path in attempt.persisted for word in ("--persist", at(path))),
        *(("--filled",) if confined is not None and cell.from_image else ()),
        *_fetched(attempt, at),
        *_gateway(places, url if confined is None else GATEWAY_URL, key, at),
        *(("--gateway-socket", GATEWAY_SOCKET) if confined is not None and key else ()),
        *_way_to_loop(attempt, at),
    ]
    _renew_temporary(attempt)
    checks_seconds = 0 if attempt.handover is None else cell.grade_timeout_seconds
    phase = _phase(attempt, "agent", arguments, cell.task_timeout_seconds + checks_seconds)
    return replace(phase, secrets=attempt.secrets, confined=confined)


def _way_to_loop(attempt: Attempt, at: Sight) -> tuple[str, ...]:
    if attempt.handover is None:
        return ()
    for folder in (attempt.places.handshake, attempt.places.scratch):
        renew(folder)
    return (
        *("--loop-socket", f"{at(attempt.handover)}/{LOOP_SOCKET}"),
        *("--handshake", HANDSHAKE),
        *("--scratch", at(attempt.places.scratch)),
    )


def _loop_phase(attempt: Attempt, handover: Path, seconds: float) -> PhaseOrder:
    """On this machine, as its user: it keeps what it sets aside where ``grade`` looks for it."""
    places, checks = attempt.places, attempt.cell.orders.checks
    assert checks is not None
    arguments = [
        *_orders(places, "checks", checks.to_json(), Sight()),
        *("--workspace", str(places.workspace)),
        *("--kept", str(places.frozen)),
        *("--handshake", str(places.handshake)),
        *("--socket", str(handover / LOOP_SOCKET)),
    ]
    phase = _phase(attempt, "loop", arguments, 0)
    return replace(phase, secrets=attempt.secrets, timeout_seconds=seconds + BACKSTOP_SECONDS)


def _repository(attempt: Attempt) -> tuple[Share, ...]:
    return () if attempt.fetched is None else (Share(attempt.fetched, FETCHED),)


def _fetched(attempt: Attempt, at: Sight) -> tuple[str, ...]:
    return () if attempt.fetched is None else ("--fetched", at(attempt.fetched))


def _checks_phase(attempt: Attempt) -> PhaseOrder:
    places, checks = attempt.places, attempt.cell.orders.checks
    assert checks is not None
    confined = attempt.confined("checks", checks_shares)
    at = _sight(confined)
    renew(places.scratch)
    arguments = [
        *_orders(places, "checks", checks.to_json(), at),
        *("--workspace", at(places.workspace)),
        *("--home", at(places.home)),
        *(() if attempt.cell.checks_in_place else _copied(attempt, at)),
        *("--evidence", at(places.evidence("checks"))),
        *("--scratch", at(places.scratch)),
    ]
    _renew_temporary(attempt)
    phase = _phase(attempt, "checks", arguments, attempt.cell.grade_timeout_seconds)
    return replace(phase, confined=confined)


def _copied(attempt: Attempt, at: Sight) -> tuple[str, ...]:
    """What the checks copy first, so that they change nothing that is graded."""
    places = attempt.places
    folders = (places.home, *attempt.persisted)
    pairs = (f"{at(places.frozen / folder.name)}={at(folder)}" for folder in folders)
    return (
        *("--frozen-workspace", at(places.frozen / places.workspace.name)),
        *(word for pair in pairs for word in ("--frozen", pair)),
    )


def _sight(confined: Confined | None) -> Sight:
    return Sight() if confined is None else Sight(confined.shares)


def _renew_temporary(attempt: Attempt) -> None:
    if attempt.ground is not None:
        renew(attempt.places.temporary)
        attempt.places.temporary.chmod(0o1777)


def _grade_phase(attempt: Attempt, url: str, keys: Keys | None) -> PhaseOrder:
    places, cell, ref = attempt.places, attempt.cell, attempt.ref
    checks = places.evidence("checks" if attempt.handover is None else "agent")
    arguments = [
        *_orders(places, "grade", cell.orders.grade.to_json(), Sight()),
        *("--workspace", str(places.frozen / places.workspace.name)),
        *("--agent-evidence", str(places.evidence("agent"))),
        *(("--checks-evidence", str(checks)) if cell.orders.checks else ()),
        *_fetched(attempt, Sight()),
        *("--verdict", str(_verdict_file(places))),
        *("--record", str(places.record)),
        *_gateway(places, url, keys.judge if keys else None, Sight()),
        *("--run", ref.run, "--task", ref.task, "--variant", ref.variant),
        *("--repeat", str(ref.repeat), "--uid", ref.uid, "--attempt", str(ref.attempt)),
    ]
    phase = _phase(attempt, "grade", arguments, cell.grade_timeout_seconds)
    agents_key = {KEY_NAME: keys.agent} if keys else {}
    return replace(phase, secrets={**attempt.secrets, **agents_key})


def _phase(attempt: Attempt, name: str, arguments: list[str], seconds: int) -> PhaseOrder:
    return PhaseOrder(
        name=name,
        arguments=tuple(arguments),
        folder=attempt.places.folder,
        log=attempt.places.log(attempt.ref.attempt, name),
        timeout_seconds=seconds + BACKSTOP_SECONDS,
    )


def _orders(places: TrialPlaces, phase: str, body: Mapping[str, Any], at: Sight) -> tuple[str, str]:
    path = places.orders(phase)
    write_atomically(path, json.dumps(body).encode(), 0o600)
    return "--orders", at(path)


def _gateway(places: TrialPlaces, url: str, key: str | None, at: Sight) -> tuple[str, ...]:
    if key is None:
        return ()
    write_atomically(places.key, key.encode(), 0o600)
    return "--gateway", url, "--key-file", at(places.key)


def _verdict_file(places: TrialPlaces) -> Path:
    return places.private / "verdict.json"


def _read_verdict(attempt: Attempt, end: PhaseEnd) -> TrialVerdict | Failure:
    """The verdict that grade wrote; no verdict is a grader error, never a score of 0."""
    if end.exit_code != 0:
        return failure(FailureClass.GRADER, "GradeFailed", end)
    try:
        with _verdict_file(attempt.places).open("rb") as file:
            verdict = TrialVerdict.from_message(file.read(_MAX_VERDICT_BYTES).decode())
    except (OSError, UnicodeDecodeError, TerminationError) as error:
        return Failure(FailureClass.GRADER, "NoVerdict", str(error))
    if (verdict.trial_uid, verdict.attempt) != (attempt.ref.uid, attempt.ref.attempt):
        return Failure(FailureClass.GRADER, "NoVerdict", "the verdict is of another attempt")
    return verdict
