"""The phase ``stage``: lays the runner's own runtime where the task's containers mount it.

Then it proves that the pod's network is closed. Nothing hostile runs beside it, so that the finding
in its termination message is ours; and rules for a new pod have had the time of the copying.
A repository is fetched last, with a pass for the egress proxy that no other container has.
"""

import os
import sys
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.runner.copying import copy_tree
from proctor.runner.places import NotStartedError, StagePlaces
from proctor.runner.proof import prove
from proctor.runner.secret_values import phase_redactor
from proctor.runner.stopping import exit_on_signals


class NoExecVolumeError(PlatformError):
    """The runtime volume is mounted ``noexec``: nothing could be started from it."""


def run_stage(places: StagePlaces) -> None:
    """Copy the runtime; safe to repeat.

    Raises:
        NoExecVolumeError: Named, because it is the cluster's configuration.
        NotStartedError: The network is open, or the gateway or a repository is out of reach.
        OSError: When the volume cannot take it.
    """
    exit_on_signals()
    source = places.source or Path(os.environ.get("PYTHONHOME") or sys.prefix)
    places.target.mkdir(parents=True, exist_ok=True)
    if os.statvfs(places.target).f_flag & os.ST_NOEXEC:
        raise NoExecVolumeError(f"{places.target} is mounted noexec")
    for skipped in copy_tree(source, places.target):
        print(f"left out: {skipped}", flush=True)
    finding = ""
    try:
        if places.proof is not None:
            finding = prove(places.proof)
        if places.fetch is not None:
            from proctor.runner.fetching import fetch  # with a library that only it needs

            fetch(places.fetch)
    except NotStartedError as error:
        _tell(places, phase_redactor(os.environ, None).text(str(error)))
        raise
    _tell(places, finding)


def _tell(places: StagePlaces, finding: str) -> None:
    if places.finding is not None:
        places.finding.write_text(finding[:1000])
