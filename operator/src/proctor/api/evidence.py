"""What criteria get to see: frozen, bounded, data only. Standard library only."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self


@dataclass(frozen=True, slots=True)
class Command:
    """A command for the container ``checks``.

    Args:
        argv: Program and arguments, already split.
        timeout_seconds: Limit; reached, the result has no exit code.
        env: Added to the environment of the checks.
        outputs: Globs below the workspace, read right after this command.
        nonce: Whether it gets a random word of its own, as ``PROCTOR_NONCE``.
    """

    argv: tuple[str, ...]
    timeout_seconds: int
    env: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    nonce: bool = False

    def to_json(self) -> dict[str, Any]:
        """Write it for the orders."""
        return {
            "argv": list(self.argv),
            "timeout_seconds": self.timeout_seconds,
            "env": dict(self.env),
            "outputs": list(self.outputs),
            "nonce": self.nonce,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote."""
        return cls(
            tuple(body["argv"]),
            int(body["timeout_seconds"]),
            dict(body["env"]),
            tuple(body["outputs"]),
            bool(body["nonce"]),
        )


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended.

    Args:
        exit_code: Negative for a signal; None when it timed out or never started.
        stdout: At most 256 KiB; ``truncated`` says when there was more.
        stderr: Likewise.
        seconds: Wall time.
        truncated: Whether a stream was cut.
        problem: Why there is no exit code (``timed out after 30 s``), or None.
        outputs: Files that ``Command.outputs`` asked for, by path below the workspace.
        nonce: The word that the command got; empty when it got none.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    truncated: bool = False
    problem: str | None = None
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    nonce: str = ""

    def to_json(self) -> dict[str, Any]:
        """Write it for the evidence volume, bytes as base64."""
        return {
            "exit_code": self.exit_code,
            "stdout": base64.b64encode(self.stdout).decode(),
            "stderr": base64.b64encode(self.stderr).decode(),
            "seconds": self.seconds,
            "truncated": self.truncated,
            "problem": self.problem,
            "outputs": {k: base64.b64encode(v).decode() for k, v in self.outputs.items()},
            "nonce": self.nonce,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote; ``KeyError``, ``TypeError``, ``ValueError`` if it is not."""
        exit_code = body["exit_code"]
        return cls(
            exit_code=None if exit_code is None else int(exit_code),
            stdout=base64.b64decode(body["stdout"], validate=True),
            stderr=base64.b64decode(body["stderr"], validate=True),
            seconds=float(body["seconds"]),
            truncated=bool(body["truncated"]),
            problem=body["problem"],
            outputs={
                str(k): base64.b64decode(v, validate=True) for k, v in body["outputs"].items()
            },
            nonce=str(body["nonce"]),
        )


class Evidence(Protocol):
    """What one criterion may look at."""

    def files(self, glob: str) -> Mapping[str, bytes]:
        """Regular files of the frozen workspace that match, by path; a literal path wins.

        Raises:
            EvidenceLimitError: When what matches is larger than the limits.
        """

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a folder of the frozen workspace."""

    def reference(self, glob: str) -> Mapping[str, bytes]:
        """Hidden reference files that match, by path."""

    def commands(self) -> Sequence[CommandResult]:
        """Results of the commands that it asked for, in their order."""


class EvidenceLimitError(Exception):
    """Evidence is beyond its limit; the agent made it, so it scores 0 with the limit named."""
