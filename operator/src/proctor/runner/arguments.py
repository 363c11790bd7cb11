"""The command lines of the phases."""

import argparse
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from proctor.api.orders import TrialRef
from proctor.runner.places import (
    Address,
    AgentPlaces,
    ChecksPlaces,
    EgressAccess,
    FillPlaces,
    GradePlaces,
    InPlace,
    LoopPlaces,
    Proof,
    ResultsPlace,
    StagePlaces,
)

if TYPE_CHECKING:
    from proctor.runner.fetch_places import FetchPlaces

Places: TypeAlias = (
    "StagePlaces | FetchPlaces | FillPlaces | LoopPlaces | AgentPlaces | ChecksPlaces | GradePlaces"
)


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
    parser.add_argument("--must-reach", type=_address, metavar="HOST:PORT")
    parser.add_argument("--must-not-reach", type=_address, metavar="HOST:PORT")
    parser.add_argument("--only-report", action="store_true", help="an open network is allowed")
    parser.add_argument("--finding", type=Path, metavar="FILE")
    _add_git(parser, required=False)


def _add_git(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--git", metavar="URL", required=required)
    parser.add_argument("--commit", metavar="ID", required=required)
    parser.add_argument("--git-path", metavar="FOLDER", help="of the repository; absent: all of it")
    parser.add_argument("--fetch-to", type=Path, metavar="DIR", required=required)
    parser.add_argument("--libraries", type=Path, metavar="DIR", help="that only this imports")
    _add_egress(parser)


def _fetch(parsed: argparse.Namespace) -> "FetchPlaces":
    from proctor.runner.fetch_places import FetchPlaces, GitSource  # only where one is fetched

    if not (parsed.commit and parsed.fetch_to):
        raise SystemExit("proctor.runner: --git needs --commit and --fetch-to")
    source = GitSource(parsed.git, parsed.commit, parsed.git_path)
    return FetchPlaces(source, parsed.fetch_to, parsed.libraries, _egress(parsed))


def _stage(parsed: argparse.Namespace) -> StagePlaces:
    reach, shun = parsed.must_reach, parsed.must_not_reach
    proof = Proof(reach, shun, not parsed.only_report) if reach and shun else None
    fetch = _fetch(parsed) if parsed.git else None
    return StagePlaces(parsed.to, parsed.source, proof, parsed.finding, fetch)


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    _add_git(parser, required=True)


def _add_fill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="DIR")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")


def _fill(parsed: argparse.Namespace) -> FillPlaces:
    return FillPlaces(parsed.source, parsed.to)


def _add_loop(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    _add_pass(parser)
    parser.add_argument("--kept", type=Path, required=True, metavar="DIR")
    parser.add_argument("--handshake", type=Path, required=True, metavar="DIR")
    at = parser.add_mutually_exclusive_group(required=True)
    at.add_argument("--port", dest="at", type=int, metavar="N")
    at.add_argument("--socket", dest="at", type=Path, metavar="FILE", help="without a network")


def _loop(parsed: argparse.Namespace) -> LoopPlaces:
    return LoopPlaces(
        orders=parsed.orders,
        workspace=parsed.workspace,
        kept=parsed.kept,
        handshake=parsed.handshake,
        at=parsed.at,
        pass_file=parsed.egress_pass_file,
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--orders", type=Path, required=True, metavar="FILE")
    parser.add_argument("--workspace", type=Path, required=True, metavar="DIR")


def _add_gateway(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--gateway", metavar="URL", help="without /v1")
    parser.add_argument("--key-file", type=Path, metavar="FILE")


def _add_egress(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--egress-proxy", metavar="URL", help="for hosts that are allowed")
    _add_pass(parser)


def _add_pass(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--egress-pass-file", type=Path, metavar="FILE")


def _egress(parsed: argparse.Namespace) -> EgressAccess | None:
    url, file = parsed.egress_proxy, parsed.egress_pass_file
    return EgressAccess(url, file) if url and file else None


def _add_agent(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    _add_gateway(parser)
    _add_egress(parser)
    parser.add_argument("--home", type=Path, required=True, metavar="DIR")
    parser.add_argument("--evidence", type=Path, required=True, metavar="DIR")
    parser.add_argument("--gateway-socket", type=Path, metavar="FILE", help="without a network")
    parser.add_argument("--persist", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--filled", action="store_true", help="the workspace was made by fill")
    parser.add_argument("--fetched", type=Path, metavar="DIR", help="to copy into the workspace")
    loop = parser.add_mutually_exclusive_group()
    loop.add_argument(
        "--loop-port",
        dest="loop",
        type=int,
        metavar="N",
        help="checks run here, with what loop hands over",
    )
    loop.add_argument("--loop-socket", dest="loop", type=Path, metavar="FILE")
    parser.add_argument("--handshake", type=Path, metavar="DIR")
    parser.add_argument("--scratch", type=Path, metavar="DIR")


def _agent(parsed: argparse.Namespace) -> AgentPlaces:
    return AgentPlaces(
        orders=parsed.orders,
        workspace=parsed.workspace,
        home=parsed.home,
        evidence=parsed.evidence,
        persist=tuple(parsed.persist),
        filled=parsed.filled,
        fetched=parsed.fetched,
        in_place=_in_place(parsed),
        gateway=_base(parsed.gateway),
        gateway_socket=parsed.gateway_socket,
        key_file=parsed.key_file,
        egress=_egress(parsed),
    )


def _in_place(parsed: argparse.Namespace) -> InPlace | None:
    given = (parsed.loop, parsed.handshake, parsed.scratch)
    return None if None in given else InPlace(*given)


def _add_checks(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    _add_egress(parser)
    parser.add_argument("--frozen-workspace", type=Path, metavar="DIR", help="absent: in place")
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
        egress=_egress(parsed),
    )


def _add_grade(parser: argparse.ArgumentParser) -> None:
    _add_common(parser)
    _add_gateway(parser)
    _add_pass(parser)
    parser.add_argument("--agent-evidence", type=Path, required=True, metavar="DIR")
    parser.add_argument("--checks-evidence", type=Path, metavar="DIR")
    parser.add_argument("--kept", type=Path, metavar="DIR")
    parser.add_argument("--fetched", type=Path, metavar="DIR", help="whose notes are recorded")
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
        kept=parsed.kept,
        fetched=parsed.fetched,
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
        pass_file=parsed.egress_pass_file,
    )


def _results(parsed: argparse.Namespace) -> ResultsPlace | None:
    if parsed.results is None or parsed.results_token_file is None:
        return None
    url = parsed.results.rstrip("/")
    return ResultsPlace(url, parsed.results_token_file, parsed.upload_seconds)


def _base(url: str | None) -> str | None:
    return None if url is None else url.rstrip("/")


def _address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    if not (host and separator and port.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host, int(port)


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
    "fetch": (_add_fetch, _fetch, "Fetch a commit of a repository."),
    "fill": (_add_fill, _fill, "Copy a folder of the image into the workspace."),
    "loop": (_add_loop, _loop, "Keep hidden orders until the agent is gone."),
    "agent": (_add_agent, _agent, "Fill the workspace and take the turn."),
    "checks": (_add_checks, _checks, "Run the commands of criteria on a copy."),
    "grade": (_add_grade, _grade, "Judge the evidence and write the verdict."),
}
