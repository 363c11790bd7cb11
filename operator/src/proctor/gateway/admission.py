"""Lets calls in: those that a limit leaves no room for wait until a call in flight is settled.

A refusal is final for the agent, so nobody is refused for money that another call only holds.
"""

import asyncio

from proctor.gateway.account import Account
from proctor.gateway.events import CallEnded
from proctor.gateway.ledger import Ask, Ending, Ledger, OpenCall
from proctor.gateway.limits import Busy, Refusal


class Admission:
    """Opens and ends calls; whoever waits for room is looked at again in the order of arrival."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    async def open(self, account: Account, ask: Ask) -> OpenCall | Refusal:
        """Book a call, as soon as its limits have room for it, or refuse it for good.

        A call waits only while another one of the same run is in flight.

        Raises:
            OSError: When it cannot be written down.
        """
        while True:
            found = self.ledger.open_call(account, ask)
            if not isinstance(found, Busy):
                return found
            await self._room(account.run)

    def end(self, call: OpenCall, ending: Ending) -> CallEnded:
        """Book what a call used, and let others in; ``OSError`` as above."""
        try:
            return self.ledger.end_call(call, ending)
        finally:
            self.look_again(call.account.run)

    def look_again(self, run: str) -> None:
        """Wake whoever waits for room in a run."""
        for waiting in self._waiting.pop(run, ()):
            if not waiting.done():
                waiting.set_result(None)

    async def _room(self, run: str) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run, []).append(waiting)
        try:
            await waiting
        finally:
            self._drop(run, waiting)

    def _drop(self, run: str, waiting: asyncio.Future[None]) -> None:
        """Keep nothing of a client that went away."""
        left = self._waiting.get(run, [])
        if waiting in left:
            left.remove(waiting)
        if not left:
            self._waiting.pop(run, None)
