"""The phase ``agent``: fills the workspace, takes the turn, freezes what is left. No pydantic.

It runs in the task's image beside hostile code. What it writes are claims; they are written last,
when nothing else runs any more.
"""

import importlib
import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.agents.contract import Agent, Session
from proctor.api.errors import PlatformError
from proctor.api.events import AgentEnd, EndStatus
from proctor.api.orders import AgentOrders
from proctor.api.redaction import Redactor
from proctor.api.report import (
    AGENT_REPORT,
    CHECKS_REPORT,
    TRANSCRIPT,
    AgentReport,
    ChecksReport,
)
from proctor.runner.command import Place, first_failure, run_in_order
from proctor.runner.egress import proxy_environment
from proctor.runner.environment import (
    agent_environment,
    checks_environment,
    command_environment,
)
from proctor.runner.expiry import require_lifetime
from proctor.runner.fill import require_filled
from proctor.runner.folders import require_unused, wipe, write_new
from proctor.runner.gateway import await_gateway
from proctor.runner.hardening import harden
from proctor.runner.ipc import empty_shared_memory
from proctor.runner.laying import LayingError, lay_files
from proctor.runner.memory import MemoryWatch
from proctor.runner.opening import open_up
from proctor.runner.places import AgentPlaces, InPlace, NotStartedError, read_key, read_orders
from proctor.runner.printing import printable
from proctor.runner.processes import kill_everything
from proctor.runner.redacting import RedactedChunks, redacted_report
from proctor.runner.secret_values import (
    SecretValueError,
    agent_secrets,
    phase_redactor,
    require_redactable,
)
from proctor.runner.stopping import stop_on_signals
from proctor.runner.transcript import Transcript, utc_now

if TYPE_CHECKING:
    from proctor.runner.in_place import Loop

_END: dict[str, EndStatus] = {"timeout": "timeout", "interrupted": "stopped"}


@dataclass(frozen=True, slots=True)
class _Prepared:
    orders: AgentOrders
    place: Place
    key: str | None
    redactor: Redactor
    transcript: Transcript
    loop: "Loop | None"


def run_agent(places: AgentPlaces) -> None:
    """Carry out the phase and leave the evidence.

    Raises:
        NotStartedError: When nothing has run yet.
        PlatformError: When the freezing failed.
        OSError: When the evidence cannot be written.
    """
    prepared = _prepare(places)
    watch = MemoryWatch()
    watch.start()
    report = _set_up(places, prepared)
    if report.status == "completed":
        report = _hand_over(places, prepared, report)
    _freeze(places, prepared.redactor)
    if report.started:
        _close_account(places, prepared)
    checks = _check(places, prepared, report)
    report = redacted_report(replace(report, memory_kills=watch.kills), prepared.redactor)
    wipe(places.evidence)
    write_new(places.evidence, TRANSCRIPT, prepared.transcript.close())
    write_new(places.evidence, AGENT_REPORT, json.dumps(report.to_json()).encode())
    if checks is not None:
        write_new(places.evidence, CHECKS_REPORT, json.dumps(checks.to_json()).encode())


def _prepare(places: AgentPlaces) -> _Prepared:
    try:
        harden()
        stop = stop_on_signals()
        orders = AgentOrders.from_json(read_orders(places.orders))
        key = read_key(places.key_file)
        if key is not None:
            require_lifetime(key, time.time(), orders.task_timeout_seconds)
        require_filled(places.workspace) if places.filled else require_unused(places.workspace)
        if places.fetched is not None:
            _copy_fetched(places.fetched, places.workspace)
        places.home.mkdir(parents=True, exist_ok=True)
        wipe(places.evidence)
        if places.gateway is not None:
            _way_to_gateway(places.gateway, places.gateway_socket)
        secrets = agent_secrets(orders.secret_env, os.environ)
        env = {
            **command_environment(os.environ, places.home, places.workspace),
            **proxy_environment(places.egress, places.gateway),
            **orders.env,
            **secrets,
        }
        place = Place(places.workspace, env, stop)
        egress_pass = places.egress.given_pass if places.egress else None
        redactor = phase_redactor(os.environ, key, egress_pass)
        transcript = Transcript(places.evidence, redactor)
        loop = None if places.in_place is None else _know_loop(places.in_place)
        return _Prepared(orders, place, key, redactor, transcript, loop)
    except (PlatformError, OSError, LookupError, TypeError, ValueError) as error:
        raise NotStartedError(f"{type(error).__name__}: {error}") from error


def _copy_fetched(fetched: Path, workspace: Path) -> None:
    """Lay the repository down as files of this user: git works in nobody else's."""
    from proctor.runner.copying import copy_tree
    from proctor.runner.fetched import TREE

    skipped = copy_tree(fetched / TREE, workspace)
    if skipped:
        raise PlatformError(f"{len(skipped)} files were not copied, such as {skipped[0]}")


def _way_to_gateway(url: str, path: Path | None) -> None:
    if path is not None:
        from proctor.runner.forwarding import forward  # threads: only without a network

        forward(url, path)
    await_gateway(url)


def _know_loop(places: InPlace) -> "Loop":
    from proctor.runner.in_place import know_loop  # hashlib: only for checks in place

    return know_loop(places)


def _set_up(places: AgentPlaces, prepared: _Prepared) -> AgentReport:
    """Lay the files and run ``preRun``; ``completed`` means that an agent may start."""
    orders = prepared.orders
    try:
        require_redactable(agent_secrets(orders.secret_env, os.environ))
        lay_files(places.workspace, orders.files)
    except (LayingError, SecretValueError) as error:
        return AgentReport("setup_failed", str(error))
    results = run_in_order(orders.pre_run, prepared.place)
    if prepared.place.stop.requested:
        return AgentReport("interrupted", "the runner was told to stop", pre_run=results)
    failure = first_failure(results, orders.pre_run)
    if failure is not None:
        return AgentReport("setup_failed", failure, pre_run=results)
    return AgentReport("not_run" if orders.agent == "none" else "completed", pre_run=results)


def _hand_over(places: AgentPlaces, prepared: _Prepared, report: AgentReport) -> AgentReport:
    """Let the agent answer; its adapter is imported only now."""
    from proctor.runner.conversation import Ending, converse  # asyncio: not for agent type none

    orders = prepared.orders
    try:
        agent = _make_adapter(orders.adapter)
    except Exception as error:  # noqa: BLE001 - a plugin's module may raise anything
        reason = f"adapter {orders.adapter}: {type(error).__name__}: {error}"
        return replace(report, status="setup_failed", reason=reason)
    session = Session(
        workspace=places.workspace,
        home=places.home,
        env=agent_environment(prepared.place.env, places.gateway, prepared.key, orders.model),
        gateway_url=places.gateway,
        api_key=prepared.key,
        model=orders.model,
        options=orders.options,
    )
    transcript = prepared.transcript
    chunks = RedactedChunks(prepared.redactor, transcript.add)
    begin = time.monotonic()
    ending: Ending = converse(agent, session, orders, prepared.place.stop, chunks.add)
    seconds = time.monotonic() - begin
    if transcript.last_end is None:
        status = _END.get(ending.status, "crashed")
        chunks.add(
            AgentEnd(at=utc_now(), turn=1, status=status, crash_reason=ending.reason or None)
        )
    return replace(
        report,
        status=ending.status,
        reason=ending.reason,
        started=True,
        turns=ending.turns,
        seconds=seconds,
    )


def _make_adapter(factory: str) -> Agent:
    module, _, attribute = factory.partition(":")
    made: Any = getattr(importlib.import_module(module), attribute)()
    agent: Agent = made
    return agent


def _check(places: AgentPlaces, prepared: _Prepared, report: AgentReport) -> ChecksReport | None:
    """Run the checks here, if they are to run here and there is something to check."""
    if prepared.loop is None or report.status in ("setup_failed", "interrupted"):
        return None
    from proctor.runner.in_place import check_in_place

    env = checks_environment(os.environ, places.home, places.workspace)
    env |= proxy_environment(places.egress, None)
    folders = {places.workspace, places.home, *places.persist}
    place = replace(prepared.place, env=env)
    checks = check_in_place(prepared.loop, place, folders, prepared.redactor)
    empty_shared_memory()
    return checks


def _close_account(places: AgentPlaces, prepared: _Prepared) -> None:
    """From here on the key is worth nothing: checks may run what the agent left."""
    if places.gateway is None or prepared.key is None:
        return
    from proctor.runner.ledger import close_account  # http.client: not for the phase's start

    problem = close_account(places.gateway, prepared.key)
    if problem is not None:
        said = prepared.redactor.text(printable(problem))
        print(f"the agent's account at the gateway stays open until grade: {said}", flush=True)


def _freeze(places: AgentPlaces, redactor: Redactor) -> None:
    """From here on nothing changes what the agent left."""
    kill_everything()
    empty_shared_memory()
    for folder in {places.workspace, places.home, *places.persist}:
        for failure in open_up(folder):
            print(f"{folder}: {redactor.text(printable(failure))}", flush=True)
