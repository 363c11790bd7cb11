"""The loop around passes: take what is due, one pass per run at a time, back off after errors."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from proctor.api.errors import ProctorError
from proctor.controller.due import Due
from proctor.controller.seen import RunKey
from proctor.metrics.trials import OperatorMetrics

WORKERS = 4
PAUSE_SECONDS = 0.1
"""Between two passes over a run: events come in swarms, and a pass looks at all of them."""
_LONGEST_BACKOFF_SECONDS = 60
_LONGEST_SLEEP_SECONDS = 10.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Workers:
    """Runs ``reconcile`` for every run that is due.

    Args:
        last_pass: ``time.monotonic`` of the last sign of life, for the health check.
    """

    due: Due
    reconcile: Callable[[RunKey], Awaitable[None]]
    metrics: OperatorMetrics
    now: Callable[[], datetime]
    last_pass: float = field(default_factory=time.monotonic)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _failures: dict[RunKey, int] = field(default_factory=dict)

    def mark(self, run: RunKey) -> None:
        """Mark a run as due, and wake a worker."""
        self.due.mark(run)
        self._woken.set()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            self.last_pass = time.monotonic()
            run = self.due.take(self.now())
            if run is None:
                await self._sleep()
            else:
                await self._pass(run)

    async def _pass(self, run: RunKey) -> None:
        began, failed = time.monotonic(), False
        try:
            await self.reconcile(run)
            self._failures.pop(run, None)
        except ProctorError as error:
            failed = True
            self._retry(run, error)
        except Exception as error:
            failed = True
            log.exception("a pass over %s/%s broke", run.namespace, run.name)
            self._retry(run, error)
        finally:
            seconds = time.monotonic() - began
            self.due.done(run, self.now() + timedelta(seconds=max(PAUSE_SECONDS, 2 * seconds)))
            self.metrics.pass_ended(seconds, failed=failed)

    def _retry(self, run: RunKey, error: Exception) -> None:
        failures = self._failures[run] = self._failures.get(run, 0) + 1
        seconds = min(0.5 * 2 ** min(failures, 10), _LONGEST_BACKOFF_SECONDS)
        self.due.mark_at(run, self.now() + timedelta(seconds=seconds))
        log.warning("%s/%s again in %.0f s: %s", run.namespace, run.name, seconds, error)

    async def _sleep(self) -> None:
        """Until somebody marks a run, or the next timer rings."""
        when = self.due.next_at()
        seconds = _LONGEST_SLEEP_SECONDS
        if when is not None:
            seconds = min(max((when - self.now()).total_seconds(), 0.0) + 0.001, seconds)
        self._woken.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return
