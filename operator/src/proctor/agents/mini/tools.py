"""The tools of ``mini``: read, write, list, shell. What goes wrong goes back to the model."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.agents.contract import Session
from proctor.agents.mini.dialect import ToolSpec
from proctor.agents.mini.shell import Shell

MAX_RESULT_BYTES = 32_768
MAX_ENTRIES = 1000


class ToolError(Exception):
    """The tool could not do it; the message is for the model."""


def _schema(required: tuple[str, ...], **properties: str) -> Mapping[str, Any]:
    fields = {name: {"type": "string", "description": text} for name, text in properties.items()}
    return {"type": "object", "properties": fields, "required": list(required)}


SPECS: Mapping[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        ToolSpec(
            "read",
            "Read a text file of the workspace.",
            _schema(("path",), path="Path below the workspace."),
        ),
        ToolSpec(
            "write",
            "Write a text file of the workspace; folders are made, an old file is replaced.",
            _schema(
                ("path", "content"), path="Path below the workspace.", content="All of its text."
            ),
        ),
        ToolSpec(
            "list",
            "List a folder of the workspace; names of folders end with /.",
            _schema((), path="Path below the workspace; absent: the workspace itself."),
        ),
        ToolSpec(
            "shell",
            "Run a command line with sh in the workspace; gives its output and exit code.",
            _schema(("command",), command="The command line."),
        ),
    )
}


class Tools:
    """Tools over one workspace. ``stop`` ends what shell commands left in the background."""

    def __init__(self, session: Session) -> None:
        self._workspace = session.workspace.resolve()
        self._shell = Shell(
            self._workspace, session.env, float(session.options.get("shellTimeoutSeconds", 120))
        )

    async def run(self, name: str, parameters: Mapping[str, Any]) -> str:
        """Run one tool.

        Raises:
            ToolError: When it does not exist, its parameters are wrong or it failed.
        """
        try:
            match name:
                case "read":
                    return self._read(self._path(parameters))
                case "write":
                    return self._write(self._path(parameters), _text(parameters, "content"))
                case "list":
                    return self._list(self._path({"path": ".", **parameters}))
                case "shell":
                    return await self._shell.run(_text(parameters, "command"))
        except (OSError, ValueError) as error:
            raise ToolError(str(error)) from error
        raise ToolError(f"there is no tool {name!r}")

    async def stop(self) -> None:
        """End what runs in the background."""
        await self._shell.stop()

    def _path(self, parameters: Mapping[str, Any]) -> Path:
        written = _text(parameters, "path")
        path = Path(os.path.realpath(self._workspace / written))
        if not path.is_relative_to(self._workspace):
            raise ToolError(f"{written!r} is outside the workspace")
        return path

    def _read(self, path: Path) -> str:
        if not path.is_file():
            raise ToolError(f"{self._name(path)} is not a file")
        with path.open("rb") as file:
            data = file.read(MAX_RESULT_BYTES + 1)
        text = data[:MAX_RESULT_BYTES].decode("utf-8", errors="replace")
        cut = len(data) > MAX_RESULT_BYTES
        return f"{text}\n[… cut after {MAX_RESULT_BYTES} bytes …]" if cut else text

    def _write(self, path: Path, content: str) -> str:
        if path.exists() and not path.is_file():
            raise ToolError(f"{self._name(path)} is not a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return f"wrote {len(content.encode())} bytes to {self._name(path)}"

    def _list(self, path: Path) -> str:
        if not path.is_dir():
            raise ToolError(f"{self._name(path)} is not a folder")
        names = sorted(
            f"{entry.name}/" if entry.is_dir() else entry.name for entry in path.iterdir()
        )
        more = len(names) - MAX_ENTRIES
        shown = names[:MAX_ENTRIES] + ([f"… and {more} more"] if more > 0 else [])
        return "\n".join(shown) or "(empty)"

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._workspace))


def _text(parameters: Mapping[str, Any], name: str) -> str:
    value = parameters.get(name)
    if not isinstance(value, str):
        raise ToolError(f"parameter {name!r} must be a string")
    return value
