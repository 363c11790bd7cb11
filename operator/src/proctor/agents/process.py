"""Child processes of adapters: each in its own session, and gone with all of its group.

asyncio's ``Process.wait`` may wait for pipes that a grandchild holds open; this looks at the exit
itself, so that background work neither hangs a turn nor outlives it.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, cast

STDOUT = 1
STDERR = 2
GRACE_SECONDS = 1.0
"""Between SIGTERM and SIGKILL."""

_DRAIN_SECONDS = 0.2

OnOutput = Callable[[int, bytes], None]


class Child(asyncio.SubprocessProtocol):
    """A running process and its group. Make it with ``start``, leave it with ``end``."""

    _transport: asyncio.SubprocessTransport

    def __init__(self, on_output: OnOutput) -> None:
        self._on_output = on_output
        self._open = {STDOUT, STDERR}
        loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[int] = loop.create_future()
        self._silent: asyncio.Future[None] = loop.create_future()

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        on_output: OnOutput,
        stdin: bytes | None = None,
    ) -> Self:
        """Start ``argv``; its program is looked up in ``env``'s PATH.

        Args:
            argv: Program and arguments.
            cwd: Its current folder.
            env: Its complete environment.
            on_output: Called with the stream (``STDOUT`` or ``STDERR``) and what came.
            stdin: What it reads, then the end; None is ``/dev/null``.

        Raises:
            OSError: When it cannot be started.
        """
        spawning = asyncio.ensure_future(
            asyncio.get_running_loop().subprocess_exec(
                lambda: cls(on_output),
                *argv,
                stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        )
        try:
            _, child = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            # cancelled half-way, asyncio would kill the process and forget its children
            with contextlib.suppress(OSError):
                await (await spawning)[1].end()
            raise
        if stdin is not None:
            child._feed(stdin)
        return child

    async def exit_code(self) -> int:
        """Wait until the process itself is gone; negative for a signal."""
        return await asyncio.shield(self._exited)

    async def silence(self, timeout_seconds: float) -> bool:
        """Wait until nobody holds its output any more; False when the time is over."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._silent), timeout_seconds)
        return self._silent.done()

    def is_group_alive(self) -> bool:
        """Whether any process of its group is left."""
        return self._signal_group(0)

    async def end(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """End the whole group, politely first; afterwards its output is closed."""
        try:
            if self._signal_group(signal.SIGTERM):
                await self._gone(grace_seconds)
        finally:
            self._signal_group(signal.SIGKILL)
        await self.exit_code()
        await self.silence(_DRAIN_SECONDS)
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by asyncio."""
        self._on_output(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called by asyncio."""
        self._open.discard(fd)
        if not self._open and not self._silent.done():
            self._silent.set_result(None)

    def process_exited(self) -> None:
        """Called by asyncio."""
        self._exited.set_result(cast(int, self._transport.get_returncode()))

    def _feed(self, stdin: bytes) -> None:
        writer = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        writer.write(stdin)
        writer.close()

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self._transport.get_pid(), number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def _gone(self, timeout_seconds: float) -> None:
        """Wait until it has ended and nobody holds its output; the dead of its group may remain."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await self.exit_code()
                await asyncio.shield(self._silent)


@contextlib.asynccontextmanager
async def running(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    on_output: OnOutput,
    stdin: bytes | None = None,
) -> AsyncIterator[Child]:
    """A child for the length of a block; its group is gone when the block is left."""
    child = await Child.start(argv, cwd=cwd, env=env, on_output=on_output, stdin=stdin)
    try:
        yield child
    finally:
        await child.end()
