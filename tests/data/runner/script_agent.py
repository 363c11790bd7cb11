"""Adapters for the runner's tests: a shell script as an agent, and adapters that misbehave."""

import asyncio
import contextlib
import sys
import time
from datetime import UTC, datetime

from proctor.api.events import AgentEnd, AgentStart, TextChunk


def _now():
    return datetime.now(UTC).isoformat()


class ScriptAgent:
    """Runs ``options.script`` with ``sh -c``; its text is the output."""

    async def start(self, session):
        self.session = session

    async def turn(self, prompt, limits, emit):
        emit(AgentStart(at=_now(), prompt=prompt, turn=1))
        process = await asyncio.create_subprocess_exec(
            "sh",
            "-c",
            self.session.options["script"],
            cwd=self.session.workspace,
            env=dict(self.session.env),
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(limits.timeout_seconds):
                out, _ = await process.communicate()
            status, text = ("completed" if process.returncode == 0 else "crashed"), out.decode()
        except TimeoutError:
            status, text = "timeout", ""
        end = AgentEnd(at=_now(), turn=1, status=status, output=text, generations=3)
        emit(end)
        return end

    async def stop(self):
        pass


class HangingAgent(ScriptAgent):
    """Keeps no limit and swallows every cancellation."""

    async def turn(self, prompt, limits, emit):
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)


class BlockingAgent(ScriptAgent):
    async def turn(self, prompt, limits, emit):
        time.sleep(3600)  # noqa: ASYNC251 - it misbehaves


class RaisingAgent(ScriptAgent):
    async def turn(self, prompt, limits, emit):
        raise ValueError("adapter is broken")


class ExitingAgent(ScriptAgent):
    async def turn(self, prompt, limits, emit):
        sys.exit(0)


class TalkativeAgent(ScriptAgent):
    async def turn(self, prompt, limits, emit):
        for _ in range(200):
            emit(TextChunk(at=_now(), generation="g", text="x" * 60_000))
        return await super().turn(prompt, limits, emit)


class DribblingAgent(ScriptAgent):
    """Says its secret in pieces."""

    async def turn(self, prompt, limits, emit):
        emit(AgentStart(at=_now(), prompt=prompt, turn=1))
        text = f"it is {self.session.env['TOOL_API_KEY']} indeed"
        for start in range(0, len(text), 4):
            emit(TextChunk(at=_now(), generation="g", text=text[start : start + 4]))
        end = AgentEnd(at=_now(), turn=1, status="completed", output=text)
        emit(end)
        return end
