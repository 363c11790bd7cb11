"""The command lines of the phases."""

import argparse
import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from proctor.api.orders import TrialRef
from proctor.runner.places import (
    AgentPlaces,
    ChecksPlaces,
    GradePlaces,
    ResultsPlace,
    StagePlaces,
)

Places = StagePlaces | AgentPlaces | ChecksPlaces | GradePlaces


def parse_arguments(argv: Sequence[str]) -> Places:
    """Read a command line; exits with code 2 and usage when it is wrong."""
    parser = _parser("", "One phase of a trial.")
    parser.add_argument("phase", choices=_PHASES, metavar="PHASE", help=", ".join(_PHASES))
    phase = parser.parse_args(argv[:1]).phase
    add, read, description = _PHASES[phase]
    of_phase = _parser(f" {phase}", description)
    add(of_phase)
    return read(of_phase.parse_args(argv[1:]))


def _parser(phase: str, description: str) -> argparse.ArgumentParser:
    """A parser that does not ask for the terminal's width: that alone imports for 10 ms."""
    formatter = functools.partial(argparse.HelpFormatter, width=100)
    return argparse.ArgumentParser(
        prog=f"proctor.runner{phase}", description=description, formatter_class=formatter
    )


def _add_stage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    parser.add_argument("--from", dest="source", type=Path, metavar="DIR")


def _stage(parsed: argparse.Namespace) -> StagePlaces:
    return StagePlaces(parsed.to, parsed.source)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--orders", type=Path, required=True, metavar="FILE")
    parser.add_argument("--workspace", type=Path, required=True, metavar="DIR")


def _add_gateway(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--gateway", metavar="URL", help="without /v1")
    parser.add_argument("--key-file", type=Path, metavar="FILE")


def _add_agent(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    _add_gateway(parser)
    parser.add_argument("--home", type=Path, required=True, metavar="DIR")
    parser.add_argument("--evidence", type=Path, required=True, metavar="DIR")
    parser.add_argument("--persist", type=Path, action="append", default=[], metavar="DIR")


def _agent(parsed: argparse.Namespace) -> AgentPlaces:
    return AgentPlaces(
        orders=parsed.orders,
        workspace=parsed.workspace,
        home=parsed.home,
        evidence=parsed.evidence,
        persist=tuple(parsed.persist),
        gateway=_base(parsed.gateway),
        key_file=parsed.key_file,
    )


def _add_checks(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    parser.add_argument("--frozen-workspace", type=Path, required=True, metavar="DIR")
    parser.add_argument("--home", type=Path, required=True, metavar="DIR")
    parser.add_argument("--evidence", type=Path, required=True, metavar="DIR")
    parser.add_argument("--frozen", type=_pair, action="append", default=[], metavar="SRC=DST")
    parser.add_argument("--scratch", type=Path, required=True, metavar="DIR")


def _checks(parsed: argparse.Namespace) -> ChecksPlaces:
    return ChecksPlaces(
        orders=parsed.orders,
        frozen_workspace=parsed.frozen_workspace,
        workspace=parsed.workspace,
        home=parsed.home,
        evidence=parsed.evidence,
        scratch=parsed.scratch,
        frozen=tuple(parsed.frozen),
    )


def _add_grade(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    _add_gateway(parser)
    parser.add_argument("--agent-evidence", type=Path, required=True, metavar="DIR")
    parser.add_argument("--checks-evidence", type=Path, metavar="DIR")
    parser.add_argument("--verdict", type=Path, required=True, metavar="FILE")
    parser.add_argument("--record", type=Path, required=True, metavar="DIR")
    parser.add_argument("--results", metavar="URL", help="of the results server")
    parser.add_argument("--results-token-file", type=Path, metavar="FILE")
    parser.add_argument("--upload-seconds", type=float, default=120.0, metavar="N")
    for name in ("run", "task", "variant", "uid"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("repeat", "attempt"):
        parser.add_argument(f"--{name}", type=int, required=True, metavar="N")


def _grade(parsed: argparse.Namespace) -> GradePlaces:
    return GradePlaces(
        orders=parsed.orders,
        workspace=parsed.workspace,
        agent_evidence=parsed.agent_evidence,
        checks_evidence=parsed.checks_evidence,
        verdict=parsed.verdict,
        record=parsed.record,
        trial=TrialRef(
            run=parsed.run,
            task=parsed.task,
            variant=parsed.variant,
            repeat=parsed.repeat,
            uid=parsed.uid,
            attempt=parsed.attempt,
        ),
        gateway=_base(parsed.gateway),
        key_file=parsed.key_file,
        results=_results(parsed),
    )


def _results(parsed: argparse.Namespace) -> ResultsPlace | None:
    if parsed.results is None or parsed.results_token_file is None:
        return None
    url = parsed.results.rstrip("/")
    return ResultsPlace(url, parsed.results_token_file, parsed.upload_seconds)


def _base(url: str | None) -> str | None:
    return None if url is None else url.rstrip("/")


def _pair(text: str) -> tuple[Path, Path]:
    source, separator, target = text.partition("=")
    if not (source and separator and target):
        raise argparse.ArgumentTypeError(f"{text!r} is not SRC=DST")
    return Path(source), Path(target)


_PHASES: dict[
    str,
    tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], Places], str],
] = {
    "stage": (_add_stage, _stage, "Lay the runtime for the task's containers."),
    "agent": (_add_agent, _agent, "Fill the workspace and take the turn."),
    "checks": (_add_checks, _checks, "Run the commands of criteria on a copy."),
    "grade": (_add_grade, _grade, "Judge the evidence and write the verdict."),
}
