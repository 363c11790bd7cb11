"""The phase ``stage``: lays the runner's own runtime where the task's containers mount it."""

import os
import sys
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.runner.copying import copy_tree
from proctor.runner.places import StagePlaces
from proctor.runner.stopping import exit_on_signals


class NoExecVolumeError(PlatformError):
    """The runtime volume is mounted ``noexec``: nothing could be started from it."""


def run_stage(places: StagePlaces) -> None:
    """Copy the runtime; safe to repeat.

    Raises:
        NoExecVolumeError: Named, because it is the cluster's configuration.
        OSError: When the volume cannot take it.
    """
    exit_on_signals()
    source = places.source or Path(os.environ.get("PYTHONHOME") or sys.prefix)
    places.target.mkdir(parents=True, exist_ok=True)
    if os.statvfs(places.target).f_flag & os.ST_NOEXEC:
        raise NoExecVolumeError(f"{places.target} is mounted noexec")
    for skipped in copy_tree(source, places.target):
        print(f"left out: {skipped}", flush=True)
