"""One agent from its start to its end, whatever it or its adapter does. No pydantic.

An adapter is foreign code: it may raise, hang, swallow its cancellation or block the event loop.
None of that keeps the phase from ending, and all of it is the agent's ending.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from proctor.agents.contract import Agent, Emit, Session, TurnLimits
from proctor.api.events import AgentEnd, EndStatus
from proctor.api.orders import AgentOrders
from proctor.api.report import AgentStatus
from proctor.runner.processes import OrphanReaper
from proctor.runner.stopping import Stop

T = TypeVar("T")

_GRACE_SECONDS = 2.0  # an adapter keeps its own time; this is for one that does not
_CANCEL_SECONDS = 2.0
_STOP_SECONDS = 5.0
_BLOCKED_SECONDS = 10.0
_REAP_SECONDS = 1.0
_STATUS: dict[EndStatus, AgentStatus] = {
    "completed": "completed",
    "stopped": "completed",
    "crashed": "crashed",
    "timeout": "timeout",
    "max_turns": "max_turns",
}


class _StoppedError(Exception):
    """The runner was told to stop."""


class _LoopBlockedError(BaseException):
    """The event loop has not turned since long after every limit."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the agent's part ended; fields as in ``AgentReport``."""

    status: AgentStatus
    reason: str = ""
    turns: int | None = None


def converse(agent: Agent, session: Session, orders: AgentOrders, stop: Stop, emit: Emit) -> Ending:
    """Start the agent, give it the prompt, and stop it.

    The event loop is left as it is: closing it would wait for foreign tasks and threads.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with _alarm(orders.task_timeout_seconds + _BLOCKED_SECONDS):
        try:
            return loop.run_until_complete(_converse(agent, session, orders, stop, emit))
        except _LoopBlockedError:
            return Ending("timeout", "the adapter blocked the event loop beyond every limit")
        except BaseException as error:  # noqa: BLE001 - an adapter may even call sys.exit
            return Ending("crashed", f"adapter {orders.adapter}: {type(error).__name__}: {error}")


async def _converse(
    agent: Agent, session: Session, orders: AgentOrders, stop: Stop, emit: Emit
) -> Ending:
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[None] = loop.create_future()
    loop.add_reader(stop.fileno(), _resolve, stopped)
    reaping = loop.create_task(_reap_orphans())
    begin = time.monotonic()
    try:
        await _within(agent.start(session), orders.task_timeout_seconds, stopped)
        left = orders.task_timeout_seconds - (time.monotonic() - begin)
        limits = TurnLimits(min(left, orders.turn_timeout_seconds), orders.max_turns)
        turn = agent.turn(orders.prompt or "", limits, emit)
        end = await _within(turn, limits.timeout_seconds + _GRACE_SECONDS, stopped)
    except TimeoutError:
        seconds = time.monotonic() - begin
        return Ending("timeout", f"no answer after {seconds:.0f} s")
    except _StoppedError:
        return Ending("interrupted", "the runner was told to stop")
    finally:
        reaping.cancel()
        loop.remove_reader(stop.fileno())
        with contextlib.suppress(Exception):
            await _within(agent.stop(), _STOP_SECONDS, loop.create_future())
    return _ending(end)


def _ending(end: AgentEnd) -> Ending:
    return Ending(_STATUS[end.status], end.crash_reason or "", end.generations)


async def _within(
    work: Coroutine[Any, Any, T], seconds: float, stopped: "asyncio.Future[None]"
) -> T:
    """Wait for ``work``, but never longer than this, even if it swallows its cancellation."""
    task = asyncio.ensure_future(work)
    waited: set[asyncio.Future[Any]] = {task, stopped}
    await asyncio.wait(waited, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_SECONDS)
        if stopped.done():
            raise _StoppedError
        raise TimeoutError
    return task.result()


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def _reap_orphans() -> None:
    reaper = OrphanReaper()
    while True:
        await asyncio.sleep(_REAP_SECONDS)
        reaper.look()


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise in the main thread when the time is up, wherever foreign code keeps it busy."""
    deadline = time.monotonic() + seconds

    def ring(*_: Any) -> None:
        if time.monotonic() >= deadline:  # anybody may send the signal
            raise _LoopBlockedError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
