"""Checks in the agent's own container, once nothing of the agent is left.

For tasks about the machine itself: what the agent changed outside its workspace is there, and so is
every program that it replaced.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.api.orders import ChecksOrders
from proctor.api.redaction import Redactor
from proctor.api.report import ChecksReport
from proctor.runner.checking import carry_out
from proctor.runner.command import Place
from proctor.runner.handover import ask, take_secret
from proctor.runner.leading import remove_links_into
from proctor.runner.places import InPlace, LoopAddress
from proctor.runner.printing import printable


@dataclass(frozen=True, slots=True)
class Loop:
    """How to ask ``loop``; ``secret`` is nowhere but here."""

    at: LoopAddress
    secret: bytes
    scratch: Path


def know_loop(places: InPlace) -> Loop:
    """Take the secret; before any code of the task or the agent runs.

    Raises:
        HandoverError: When ``loop`` has made none.
        OSError: When it cannot be taken.
    """
    return Loop(places.loop, take_secret(places.handshake), places.scratch)


def check_in_place(
    loop: Loop, place: Place, folders: Iterable[Path], redactor: Redactor
) -> ChecksReport:
    """Get the hidden orders and carry them out; without them the report says why.

    Symlinks in ``folders`` that lead to hidden files or into ``/proc`` are taken away first.

    Raises:
        PlatformError: When processes survived.
        OSError: When the scratch folder cannot be used.
    """
    begin = time.monotonic()
    try:
        orders = ChecksOrders.from_json(ask(loop.at, loop.secret))
    except (PlatformError, LookupError, TypeError, ValueError) as error:
        return ChecksReport({}, setup_failed=str(error))
    for folder in folders:
        for removed in remove_links_into(folder, (Path("/proc"), loop.scratch)):
            print(f"{folder}: taken away {redactor.text(printable(removed))}", flush=True)
    return carry_out(orders, place, loop.scratch, begin)
