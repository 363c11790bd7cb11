"""Runs a command line against a scripted gateway and says how it went."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders_gateway import an_account
from proctor.api.usage import Bill
from proctor.gateway.embed import LocalGateway
from proctor.gateway.watch import NoWatch

SECONDS = 120


@dataclass
class Counted(NoWatch):
    """How often the client asked, and how often it was refused."""

    calls: int = 0
    refusals: int = 0

    def started(self, call: Any) -> None:
        self.calls += 1

    def refused(self, account: Any, refusal: Any) -> None:
        self.refusals += 1


@dataclass(frozen=True)
class Ended:
    """How a command line ended.

    Args:
        lines: JSON objects on its standard output.
    """

    exit_code: int | None
    output: str
    calls: int
    refusals: int
    bill: Bill
    lines: Sequence[dict[str, Any]] = field(default_factory=list)


async def run(
    argv: Sequence[str],
    env: Mapping[str, str],
    workspace: Path,
    gateway: LocalGateway,
    counted: Counted,
) -> Ended:
    """Run until it ends, without anything on its standard input."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        env=env,
        cwd=workspace,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        process.kill()
        output, _ = await process.communicate()
        raise AssertionError(f"did not end in time: {output[-2000:]!r}") from None
    text = output.decode()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return Ended(
        exit_code=process.returncode,
        output=text,
        calls=counted.calls,
        refusals=counted.refusals,
        bill=gateway.bill("trial-1", 1),
        lines=lines,
    )


def agent_key(gateway: LocalGateway, script: str, **limits: Any) -> str:
    return gateway.admit(an_account(script, **limits)).agent


def says(answer: str) -> str:
    """A script with one rule."""
    return f"rules: [{answer}]"


def fails(status: int) -> str:
    return says(f"{{error: {{status: {status}, message: not now, retryAfterSeconds: 0}}}}")


def malformed(kind: str) -> str:
    return says(f"{{answer: {{text: {'A long text. ' * 9}, malformed: {kind}}}}}")
