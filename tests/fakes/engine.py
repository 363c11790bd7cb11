"""A container engine in memory. Programs are functions, called by the last word of the command."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.local.engine import Container, ContainerEnd, EngineError

Program = Callable[[Container, Callable[[str], None]], Awaitable[ContainerEnd]]
"""Runs a container; it is given what to print with."""

Image = Mapping[str, bytes]
"""Path → content of its files."""


@dataclass
class FakeEngine:
    images: Mapping[str, Image] = field(default_factory=dict)
    programs: Mapping[str, Program] = field(default_factory=dict)
    existing: dict[str, Path] = field(default_factory=dict)
    ran: list[Container] = field(default_factory=list)
    copied: int = 0
    name: str = "podman"

    def __post_init__(self) -> None:
        self._running: set[asyncio.Task[ContainerEnd]] = set()

    def image_id(self, reference: str) -> str | None:
        return f"id-{reference.replace('/', '-')}" if reference in self.images else None

    def copy_out(self, image: str, path: str, target: Path, owner: Path) -> None:
        found = {
            name.removeprefix(f"{path}/"): content
            for name, content in self.images.get(image, {}).items()
            if name.startswith(f"{path}/")
        }
        if not found:
            raise EngineError(f"{image} has no {path}")
        self.copied += 1
        for name, content in found.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)

    async def run(self, container: Container, log: Path, timeout_seconds: float) -> ContainerEnd:
        self.ran.append(container)
        program = self.programs.get(container.command[-1])
        if container.image not in self.images or program is None:
            return ContainerEnd(None)

        def say(text: str) -> None:
            with log.open("a") as file:
                file.write(f"{text}\n")

        self.existing[container.name] = container.owner
        running = asyncio.ensure_future(program(container, say))
        self._running.add(running)
        try:
            done, _ = await asyncio.wait({running}, timeout=timeout_seconds)
            if not done:
                return ContainerEnd(137, timed_out=True)
            return ContainerEnd(137) if running.cancelled() else running.result()
        finally:
            running.cancel()
            self._running.discard(running)
            self.existing.pop(container.name, None)

    def kill(self) -> None:
        for running in self._running:
            running.cancel()

    def owners(self) -> Mapping[str, Path]:
        return dict(self.existing)

    def remove(self, names: Sequence[str]) -> None:
        for name in names:
            self.existing.pop(name, None)
