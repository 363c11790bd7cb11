"""The tool ``shell``: a command line with bounded time and output.

A command may leave a server in the background; it lives until the agent stops.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from proctor.agents.output import Capture
from proctor.agents.process import Child

MAX_OUTPUT_BYTES = 32_768
_DRAIN_SECONDS = 0.2


class Shell:
    """Runs command lines in one folder."""

    def __init__(self, cwd: Path, env: Mapping[str, str], timeout_seconds: float) -> None:
        self._cwd = cwd
        self._env = env
        self._timeout_seconds = timeout_seconds
        self._background: list[Child] = []

    async def run(self, command: str) -> str:
        """Output, stdout and stderr in one, and the exit code; a timeout is part of the text."""
        output = Capture(MAX_OUTPUT_BYTES)
        child = await Child.start(
            ("sh", "-c", command),
            cwd=self._cwd,
            env=self._env,
            on_output=lambda _, data: output.feed(data),
        )
        self._background.append(child)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                code = await child.exit_code()
        except TimeoutError:
            await self._end(child)
            limit = f"{self._timeout_seconds:g} s"
            return f"{output.text()}\n[timed out after {limit}; it and its children were ended]"
        except asyncio.CancelledError:
            await self._end(child)
            raise
        await child.silence(_DRAIN_SECONDS)
        if not child.is_group_alive():
            await self._end(child)
        return f"{output.text()}\n[exit code {code}]"

    async def stop(self) -> None:
        """End all background work."""
        while self._background:
            await self._end(self._background[-1])

    async def _end(self, child: Child) -> None:
        await child.end()
        self._background.remove(child)
