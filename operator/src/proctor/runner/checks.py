"""The phase ``checks``: runs commands of criteria on a copy of what the agent left. No pydantic.

It runs in the task's image, and code that the agent left runs with it: what it writes are claims,
made beside agent code, and written last.
"""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.api.orders import ChecksOrders
from proctor.api.redaction import Redactor
from proctor.api.report import CHECKS_REPORT
from proctor.runner.checking import carry_out
from proctor.runner.command import Place
from proctor.runner.copying import copy_tree
from proctor.runner.egress import proxy_environment
from proctor.runner.environment import checks_environment
from proctor.runner.folders import require_unused, wipe, write_new
from proctor.runner.hardening import harden
from proctor.runner.ipc import empty_shared_memory
from proctor.runner.leading import remove_links_into
from proctor.runner.memory import MemoryWatch
from proctor.runner.places import ChecksPlaces, NotStartedError, read_orders
from proctor.runner.printing import printable
from proctor.runner.secret_values import phase_redactor
from proctor.runner.stopping import stop_on_signals


def run_checks(places: ChecksPlaces) -> None:
    """Carry out the phase and leave the evidence.

    Raises:
        NotStartedError: When no command has run yet.
        PlatformError: When processes survived.
        OSError: When the evidence cannot be written.
    """
    begin = time.monotonic()
    orders, place = _prepare(places)
    watch = MemoryWatch()
    watch.start()
    report = carry_out(orders, place, places.scratch, begin)
    report = replace(report, memory_kills=watch.kills)
    empty_shared_memory()
    wipe(places.evidence)
    write_new(places.evidence, CHECKS_REPORT, json.dumps(report.to_json()).encode())


def _prepare(places: ChecksPlaces) -> tuple[ChecksOrders, Place]:
    try:
        harden()
        stop = stop_on_signals()
        orders = ChecksOrders.from_json(read_orders(places.orders))
        wipe(places.evidence)
        egress_pass = places.egress.given_pass if places.egress else None
    except (PlatformError, OSError, LookupError, TypeError, ValueError) as error:
        raise NotStartedError(f"{type(error).__name__}: {error}") from error
    redactor = phase_redactor(os.environ, None, egress_pass)
    if places.frozen_workspace is not None:
        _copy_frozen(places, redactor)
    places.home.mkdir(parents=True, exist_ok=True)
    _cut_links(places, redactor)
    env = checks_environment(os.environ, places.home, places.workspace)
    env |= proxy_environment(places.egress, None)
    return orders, Place(places.workspace, env, stop)


def _copy_frozen(places: ChecksPlaces, redactor: Redactor) -> None:
    """Fill our own places; what fails here (no space, no inodes) the agent has left."""
    assert places.frozen_workspace is not None
    for source, target in ((places.frozen_workspace, places.workspace), *places.frozen):
        require_unused(target)
        for skipped in copy_tree(source, target):
            print(f"{target}: left out {redactor.text(printable(skipped))}", flush=True)


def _cut_links(places: ChecksPlaces, redactor: Redactor) -> None:
    """Nothing of the agent leads a check to our own files."""
    ours = (Path("/proc"), places.orders.parent, places.scratch, places.evidence)
    for target in (places.workspace, places.home, *(copy for _, copy in places.frozen)):
        for removed in remove_links_into(target, ours):
            print(f"{target}: left out {redactor.text(printable(removed))}", flush=True)
