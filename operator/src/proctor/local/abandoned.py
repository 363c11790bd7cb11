"""Containers of runs whose process is gone: they are removed at the start.

The keeper of each container removes it, also when the launcher was killed; this is for the case
that the keeper was killed as well. What an earlier boot left, such as by a power cut, runs no more
and stays: its folder's name may be that of another machine with the same engine.
"""

from proctor.local.engine import Engine
from proctor.local.start import is_locked


def remove_abandoned(engine: Engine) -> None:
    """Remove our containers whose run's folder no process works in."""
    engine.remove([name for name, folder in engine.owners().items() if not is_locked(folder)])
