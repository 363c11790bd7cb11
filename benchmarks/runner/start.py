"""CPU time of starts, beside the interpreter's own cost of asyncio and ssl, in the same run.

    python benchmarks/runner/start.py [--rounds N]

Prints a table (seconds of user and system time, children included, best of N) and exits 1 when a
start is over its bound. Bytecode is cached as it is in an installation.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.api.orders import AgentOrders, CriterionOrder, GradeOrders
from proctor.api.report import AgentReport


@dataclass(frozen=True, slots=True)
class Start:
    """What is started; ``command`` gets a fresh folder. ``bound`` None: only for comparison."""

    name: str
    command: Callable[[Path], Sequence[str]]
    bound_seconds: float | None = None


def interpreter(_: Path) -> Sequence[str]:
    return ("-c", "import asyncio, ssl")


def agent(folder: Path) -> Sequence[str]:
    """A whole phase whose agent does nothing: its own process is ``true``."""
    orders = AgentOrders(
        agent="command",
        adapter="proctor.agents.command:CommandAgent",
        model=None,
        options={"command": None, "argv": ["true"], "prompt": "Stdin"},
        env={},
        prompt="",
        files=(),
        pre_run=(),
        max_turns=None,
        task_timeout_seconds=30,
        turn_timeout_seconds=30,
    )
    (folder / "orders.json").write_text(json.dumps(orders.to_json()))
    return (
        *("-m", "proctor.runner", "agent", "--orders", str(folder / "orders.json")),
        *("--workspace", str(folder / "workspace"), "--home", str(folder / "home")),
        *("--evidence", str(folder / "evidence")),
    )


def grade(folder: Path) -> Sequence[str]:
    """A whole phase with one criterion."""
    orders = GradeOrders(
        criteria=(CriterionOrder("file_exists", "a", 1.0, 0.9, {"path": "a"}),),
        reference=(),
        has_checks=False,
        agent_runs=True,
        timeout_seconds=30,
    )
    (folder / "orders.json").write_text(json.dumps(orders.to_json()))
    for name in ("workspace", "evidence"):
        (folder / name).mkdir()
    report = AgentReport("completed", started=True)
    (folder / "evidence" / "agent.json").write_text(json.dumps(report.to_json()))
    return (
        *("-m", "proctor.runner", "grade", "--orders", str(folder / "orders.json")),
        *("--workspace", str(folder / "workspace")),
        *("--agent-evidence", str(folder / "evidence")),
        *("--verdict", str(folder / "verdict"), "--record", str(folder / "record")),
        *("--run", "r", "--task", "t", "--variant", "v", "--repeat", "0"),
        *("--uid", "u", "--attempt", "1"),
    )


def cli(_: Path) -> Sequence[str]:
    return ("-c", "from proctor.cli.main import main; main()", "--help")


STARTS = (
    Start('python -c "import asyncio, ssl"', interpreter),
    Start("runner: phase agent", agent, 0.12),
    Start("runner: phase grade", grade, 0.6),
    Start("proctor --help", cli, 0.3),
)


def cpu_seconds(start: Start, env: dict[str, str]) -> float:
    """User and system time of one start and of all processes that it waited for."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, *start.command(Path(folder))]
        with subprocess.Popen(
            argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            assert process.stderr is not None
            errors = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{start.name}: exit code {process.returncode}: {errors.decode()}")
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(rounds + 1):  # the first one fills the cache
            for start in STARTS:
                seconds = cpu_seconds(start, env)
                best[start.name] = min(best.get(start.name, seconds), seconds)
    print(f"{'CPU seconds, best of ' + str(rounds):<34}{'measured':>9}{'bound':>8}")
    for start in STARTS:
        bound = "" if start.bound_seconds is None else f"{start.bound_seconds:.2f}"
        print(f"{start.name:<34}{best[start.name]:>9.3f}{bound:>8}")
    over = [s.name for s in STARTS if s.bound_seconds and best[s.name] > s.bound_seconds]
    for name in over:
        print(f"over its bound: {name}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
