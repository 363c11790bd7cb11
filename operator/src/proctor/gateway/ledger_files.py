"""A ledger in a folder, or in memory."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from proctor.gateway.journal import FolderJournal, MemoryJournal
from proctor.gateway.ledger import Ledger
from proctor.pricing import Prices


def open_ledger(
    folder: Path | None, prices: Prices, now: Callable[[], datetime]
) -> tuple[Ledger, FolderJournal | None]:
    """A ledger that goes on from what is kept in ``folder``; None: it keeps nothing.

    The journal is to be closed by the caller.

    Raises:
        PlatformError: When another process has the folder.
        OSError: When it cannot be used.
    """
    if folder is None:
        return Ledger(MemoryJournal(), prices, now, since=now()), None
    journal = FolderJournal(folder, now())
    return Ledger(journal, prices, now, since=journal.since), journal
