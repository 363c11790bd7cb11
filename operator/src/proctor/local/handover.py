"""``loop`` beside an agent's container, for checks in place: as long as that runs, no longer."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from proctor.local.phases import PhaseOrder, Phases


@contextmanager
def handover_folder(*, wanted: bool) -> Iterator[Path | None]:
    """A folder for the socket of ``loop``, which any user of a container may enter.

    In one that nobody else of this machine may, with a short path, because a socket's must be.
    """
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        path = Path(folder) / "handover"
        path.mkdir()
        path.chmod(0o755)
        yield path


@asynccontextmanager
async def beside(phases: Phases, order: PhaseOrder) -> AsyncIterator[None]:
    """A phase that runs as long as the context lasts, or ends before.

    However it ends is no word on the trial: without it nothing is handed over.
    """
    running = asyncio.ensure_future(phases.run(order))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
