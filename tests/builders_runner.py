"""A trial in folders of its own, taken through the phases as real processes."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proctor.api.evidence import Command
from proctor.api.orders import (
    AgentOrders,
    ChecksOrders,
    CriterionCommands,
    CriterionOrder,
    FileOrder,
    GradeOrders,
    ShellOrder,
)
from proctor.api.report import AgentReport, ChecksReport
from proctor.api.termination import TrialVerdict

ADAPTERS = Path(__file__).parent / "data" / "runner"


def a_file(path: str, text: str = "", *, executable: bool = False) -> FileOrder:
    return FileOrder(path, text.encode(), executable)


def a_shell(command: str, *, must_succeed: bool = True) -> ShellOrder:
    return ShellOrder(command, 20, must_succeed)


def some_commands(*lines: str, index: int = 0, timeout_seconds: int = 20) -> CriterionCommands:
    commands = tuple(Command(("sh", "-c", line), timeout_seconds) for line in lines)
    return CriterionCommands(index, commands)


def agent_orders(script: str = "true", **changes: Any) -> AgentOrders:
    """An agent that is a shell script in the workspace."""
    orders = AgentOrders(
        agent="script",
        adapter="script_agent:ScriptAgent",
        model=None,
        options={"script": script},
        env={},
        prompt="do it",
        files=(),
        pre_run=(),
        max_turns=None,
        task_timeout_seconds=20,
        turn_timeout_seconds=20,
    )
    return replace(orders, **changes)


def checks_orders(*commands: CriterionCommands, **changes: Any) -> ChecksOrders:
    orders = ChecksOrders(
        commands=commands, reference=(), pre_run=(), post_run=(), timeout_seconds=60
    )
    return replace(orders, **changes)


def file_exists(path: str) -> CriterionOrder:
    return CriterionOrder("file_exists", f"exists {path}", 1.0, 0.9, {"path": path})


def file_contains(path: str, text: str) -> CriterionOrder:
    options = {"path": path, "includes": [text]}
    return CriterionOrder("file_contains", f"contains {text}", 1.0, 0.9, options)


def run_command(line: str) -> CriterionOrder:
    return CriterionOrder("run_command", f"run {line}", 1.0, 0.9, {"command": line}, commands=1)


def grade_orders(*criteria: CriterionOrder, **changes: Any) -> GradeOrders:
    orders = GradeOrders(
        criteria=criteria,
        reference=(),
        has_checks=any(criterion.commands for criterion in criteria),
        agent_runs=True,
        timeout_seconds=60,
        context={"suite": "s", "agent": "script"},
    )
    return replace(orders, **changes)


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    cpu_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class TrialFolders:
    """All folders of one trial below ``root``; HOME and workspace of the checks are others."""

    root: Path

    def __getattr__(self, name: str) -> Path:
        return self.root / name

    @property
    def frozen_home(self) -> Path:
        return self.root / "home"

    def orders(self, phase: str, body: Mapping[str, Any]) -> str:
        path = self.root / f"{phase}.json"
        path.write_text(json.dumps(body))
        return str(path)

    def agent(
        self,
        orders: AgentOrders,
        *more: str,
        prefix: Sequence[str] = (),
        secrets: Mapping[str, str] | None = None,
    ) -> Ended:
        arguments = [
            *("--orders", self.orders("agent", orders.to_json())),
            *("--workspace", str(self.workspace)),
            *("--home", str(self.home)),
            *("--evidence", str(self.agent_evidence)),
        ]
        return run_phase("agent", *arguments, *more, prefix=prefix, secrets=secrets)

    def checks(self, orders: ChecksOrders, *more: str, prefix: Sequence[str] = ()) -> Ended:
        arguments = [
            *("--orders", self.orders("checks", orders.to_json())),
            *("--frozen-workspace", str(self.workspace)),
            *("--workspace", str(self.copy)),
            *("--home", str(self.copy_home)),
            *("--frozen", f"{self.home}={self.copy_home}"),
            *("--evidence", str(self.checks_evidence)),
            *("--scratch", str(self.scratch)),
        ]
        return run_phase("checks", *arguments, *more, prefix=prefix)

    @contextlib.contextmanager
    def loop(
        self, orders: ChecksOrders, *more: str, at: Path | None = None
    ) -> Iterator[tuple[str, ...]]:
        """``loop`` as a real process with a log; what the agent's command line says of it.

        ``at``: its socket; None: a port.
        """
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        where = ("port", port) if at is None else ("socket", str(at))
        self.handshake.mkdir(exist_ok=True)
        self.kept.mkdir(exist_ok=True)
        arguments = [
            *("--orders", self.orders("checks", orders.to_json())),
            *("--workspace", str(self.workspace)),
            *("--kept", str(self.kept)),
            *("--handshake", str(self.handshake)),
            *(f"--{where[0]}", where[1]),
        ]
        command = (sys.executable, "-m", "proctor.runner", "loop", *arguments, *more)
        log = (self.root / "loop.log").open("w")
        with log, subprocess.Popen(command, stdout=log) as process:
            try:
                yield (
                    *(f"--loop-{where[0]}", where[1]),
                    *("--handshake", str(self.handshake)),
                    *("--scratch", str(self.scratch)),
                )
            finally:
                process.terminate()

    def grade(
        self, orders: GradeOrders, *more: str, secrets: Mapping[str, str] | None = None
    ) -> Ended:
        arguments = [
            *("--orders", self.orders("grade", orders.to_json())),
            *("--workspace", str(self.workspace)),
            *("--agent-evidence", str(self.agent_evidence)),
            *("--verdict", str(self.verdict_file)),
            *("--record", str(self.record)),
            *("--run", "r", "--task", "t", "--variant", "v", "--repeat", "0"),
            *("--uid", "u-1", "--attempt", "1"),
        ]
        if orders.has_checks:
            arguments += ["--checks-evidence", str(self.checks_evidence)]
        return run_phase("grade", *arguments, *more, secrets=secrets)

    def agent_report(self) -> AgentReport:
        return AgentReport.from_json(json.loads((self.agent_evidence / "agent.json").read_bytes()))

    def checks_report(self) -> ChecksReport:
        body = json.loads((self.checks_evidence / "checks.json").read_bytes())
        return ChecksReport.from_json(body)

    def events(self) -> list[dict[str, Any]]:
        lines = (self.agent_evidence / "transcript.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def verdict(self) -> TrialVerdict:
        return TrialVerdict.from_message(self.verdict_file.read_text())


def run_phase(
    *arguments: str, prefix: Sequence[str] = (), secrets: Mapping[str, str] | None = None
) -> Ended:
    """One phase as a real process; ``prefix`` is a command that starts it."""
    given = {f"PROCTOR_SECRET_{name}": value for name, value in (secrets or {}).items()}
    env = {**os.environ, "PYTHONPATH": str(ADAPTERS), **given}
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "proctor.runner", *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def graded(
    folders: TrialFolders,
    agent: AgentOrders,
    grade: GradeOrders,
    checks: ChecksOrders | None = None,
) -> TrialVerdict:
    """The verdict after all phases, each of which must have done its work."""
    for ended in (
        folders.agent(agent),
        *([folders.checks(checks)] if checks is not None else []),
        folders.grade(grade),
    ):
        assert ended.code == 0, ended.err
    return folders.verdict()
