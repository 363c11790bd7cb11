"""``python -m proctor.runner PHASE``: one phase of a trial, as PID 1 of a container or locally.

Exit codes: 0 the phase did its work, whatever the agent did; 2 wrong command line; 3 a platform
fault before any code of the task or the agent ran (4 and 5: the network's, 6 and 7: a repository's,
of ``stage``); 1 any other fault of ours.
"""

import os
import sys

from proctor.runner.arguments import Places, parse_arguments
from proctor.runner.places import (
    AgentPlaces,
    ChecksPlaces,
    FillPlaces,
    GradePlaces,
    LoopPlaces,
    NotStartedError,
    StagePlaces,
)
from proctor.runner.secret_values import phase_redactor


def main() -> None:
    """Run the phase that the command line names; never returns."""
    places = parse_arguments(sys.argv[1:])
    try:
        code = _run(places)
    except BaseException as error:  # noqa: BLE001 - the runner's top: said in one line, never lost
        said = phase_redactor(os.environ, None).text(f"{type(error).__name__}: {error}")
        text = " ".join(said.split())
        print(f"proctor.runner: {text}", file=sys.stderr)
        code = error.exit_code if isinstance(error, NotStartedError) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # nothing that a plugin left behind (threads, exit hooks) delays the end


def _run(places: Places) -> int:
    """Import only what the phase needs: the start of ``agent`` and ``checks`` is bounded."""
    if isinstance(places, AgentPlaces):
        from proctor.runner.agent import run_agent

        run_agent(places)
    elif isinstance(places, ChecksPlaces):
        from proctor.runner.checks import run_checks

        run_checks(places)
    elif isinstance(places, FillPlaces):
        from proctor.runner.fill import run_fill

        run_fill(places)
    elif isinstance(places, LoopPlaces):
        from proctor.runner.loop import run_loop

        run_loop(places)
    elif isinstance(places, StagePlaces):
        from proctor.runner.stage import run_stage

        run_stage(places)
    elif isinstance(places, GradePlaces):
        from proctor.runner.grade import run_grade

        run_grade(places)
    else:
        from proctor.runner.fetching import fetch

        fetch(places)
    return 0


if __name__ == "__main__":
    main()
