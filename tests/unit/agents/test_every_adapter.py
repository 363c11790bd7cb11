"""The contract of adapters, on each of them: one end on every exit, and nothing left behind."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from builders_agents import (
    LIMITS,
    Seen,
    a_session,
    an_error,
    is_gone,
    messages_answer,
    processes_in,
)
from fakes.model_server import model_server
from proctor.agents.command import CommandAgent
from proctor.agents.contract import Agent, Session, TurnLimits
from proctor.agents.mini.agent import MiniAgent
from proctor.agents.none import NoneAgent
from proctor.api.events import (
    AgentEnd,
    AgentStart,
    GenerationEnd,
    GenerationStart,
    ToolEnd,
    ToolStart,
)

HANG = "sleep 300 & echo $! >child; wait"


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter that was started, and how it was."""

    agent: Agent
    session: Session


@contextlib.asynccontextmanager
async def subject(kind: str, doing: str, folder: Path):
    """An adapter of ``kind`` that will succeed, crash or hang with a grandchild."""
    answers: dict[str, tuple[Any, ...]] = {
        "succeed": (messages_answer("done"), messages_answer("done")),
        "crash": (an_error(403, "budget"),),
        "hang": (messages_answer("", ("shell", {"command": HANG})),),
    }
    commands = {"succeed": "echo done", "crash": "exit 3", "hang": HANG}
    async with model_server(*answers[doing]) as server:
        agents: dict[str, tuple[Agent, dict[str, Any]]] = {
            "none": (NoneAgent(), {}),
            "command": (CommandAgent(), {"command": commands[doing]}),
            "mini": (MiniAgent(), {"gateway_url": server.url, "model": "m"}),
        }
        agent, options = agents[kind]
        session = a_session(folder, kind, **options)
        await agent.start(session)
        try:
            yield Subject(agent, session)
        finally:
            await agent.stop()


def assert_well_formed(seen: Seen, end: AgentEnd) -> None:
    assert isinstance(seen[0], AgentStart)
    assert seen[-1] == end
    assert len(seen.of(AgentEnd)) == 1
    assert [e.call for e in seen.of(ToolStart)] == [e.call for e in seen.of(ToolEnd)]
    assert [e.generation for e in seen.of(GenerationStart)] == [
        e.generation for e in seen.of(GenerationEnd)
    ]


async def child_of(session: Session) -> int:
    """The grandchild's pid, as soon as it has been written."""
    file = session.workspace / "child"
    while not (file.exists() and file.read_text().endswith("\n")):  # noqa: ASYNC110 - a file
        await asyncio.sleep(0.01)
    return int(file.read_text())


@pytest.mark.parametrize("kind", ["none", "command", "mini"])
async def test_an_answer_has_one_end(kind, tmp_path):
    seen = Seen()
    async with subject(kind, "succeed", tmp_path) as it:
        end = await it.agent.turn("hello", LIMITS, seen)
    assert (end.status, end.turn, end.crash_reason) == ("completed", 1, None)
    assert_well_formed(seen, end)


@pytest.mark.parametrize("kind", ["none", "command", "mini"])
async def test_turns_are_counted(kind, tmp_path):
    async with subject(kind, "succeed", tmp_path) as it:
        ends = [await it.agent.turn("hello", LIMITS, Seen()) for _ in range(2)]
    assert [(end.turn, end.status) for end in ends] == [(1, "completed"), (2, "completed")]


@pytest.mark.parametrize("kind", ["command", "mini"])
async def test_a_crash_has_one_end_with_a_reason(kind, tmp_path):
    seen = Seen()
    async with subject(kind, "crash", tmp_path) as it:
        end = await it.agent.turn("hello", LIMITS, seen)
    assert end.status == "crashed"
    assert end.crash_reason
    assert_well_formed(seen, end)


@pytest.mark.parametrize("kind", ["command", "mini"])
async def test_a_timeout_has_one_end_and_ends_grandchildren(kind, tmp_path):
    seen = Seen()
    async with subject(kind, "hang", tmp_path) as it:
        end = await it.agent.turn("hello", TurnLimits(timeout_seconds=2.5), seen)
        child = await child_of(it.session)
        assert await is_gone(child)
    assert (end.status, end.crash_reason) == ("timeout", "no answer within 2.5 s")
    assert_well_formed(seen, end)


@pytest.mark.parametrize("kind", ["command", "mini"])
async def test_a_cancelled_turn_has_one_end_and_leaves_no_process(kind, tmp_path):
    seen = Seen()
    async with subject(kind, "hang", tmp_path) as it:
        turn = asyncio.create_task(it.agent.turn("hello", LIMITS, seen))
        child = await child_of(it.session)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert await is_gone(child)
    assert seen[-1].status == "stopped"
    assert_well_formed(seen, seen[-1])


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 13, 21, 34])
@pytest.mark.parametrize("kind", ["command", "mini"])
async def test_cancelling_while_a_process_is_being_started_leaves_none(kind, steps, tmp_path):
    # A cancellation inside asyncio's spawning used to hang, and left the grandchild running.
    seen = Seen()
    async with subject(kind, "hang", tmp_path) as it:
        turn = asyncio.create_task(it.agent.turn("hello", LIMITS, seen))
        for _ in range(steps):
            await asyncio.sleep(0)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        left = processes_in(it.session.workspace)
        assert [pid for pid in left if not await is_gone(pid)] == []
    assert len(seen.of(AgentEnd)) == (1 if steps else 0)


@pytest.mark.parametrize("kind", ["none", "command", "mini"])
async def test_stopping_twice_or_without_a_turn_is_fine(kind, tmp_path):
    async with subject(kind, "succeed", tmp_path) as it:
        await it.agent.stop()


@pytest.mark.parametrize("make", [CommandAgent, MiniAgent])
async def test_a_turn_needs_a_start(make):
    with pytest.raises(RuntimeError, match="turn before start"):
        await make().turn("hello", LIMITS, Seen())
