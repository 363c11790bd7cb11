"""Builders for tests of adapters."""

import asyncio
import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builders_criteria import REGISTRY
from fakes.model_server import Answer
from proctor.agents.contract import Session, TurnLimits
from proctor.api.events import Event, TextChunk

LIMITS = TurnLimits(timeout_seconds=30)


def a_session(folder: Path, type_: str = "command", **fields: Any) -> Session:
    """A session with an empty workspace and HOME in ``folder``; other fields are options."""
    workspace, home = folder / "workspace", folder / "home"
    workspace.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    given = {name: fields.pop(name) for name in ("gateway_url", "model") if name in fields}
    options, problems = REGISTRY.agent_options(type_, fields, "options")
    assert problems == ()
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return Session(workspace, home, env, api_key="key", options=options, **given)


class Seen(list[Event]):
    """Events as they came; call it to emit."""

    def __init__(self) -> None:
        super().__init__()
        self.first_text = asyncio.Event()

    def __call__(self, event: Event) -> None:
        self.append(event)
        if isinstance(event, TextChunk):
            self.first_text.set()

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self]

    def of(self, kind: type) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]


def is_running(pid: int) -> bool:
    """Whether a process lives; one that is dead and waits to be collected does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def is_gone(pid: int) -> bool:
    """Whether a process that was killed is dead within a few seconds: the kernel takes its time."""
    for _ in range(300):
        if not is_running(pid):
            return True
        await asyncio.sleep(0.01)
    return False


def processes_in(folder: Path) -> list[int]:
    """Pids of the processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
    return [pid for pid in found if is_running(pid)]


def messages_answer(
    text: str = "", *calls: tuple[str, Mapping[str, Any]], stop: str | None = None, **how: Any
) -> Answer:
    """An Anthropic Messages answer: text, then tool calls by name and input."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "tool_use", "id": f"call-{index}", "name": name, "input": parameters}
        for index, (name, parameters) in enumerate(calls)
    ]
    body = {
        "role": "assistant",
        "content": blocks,
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3},
    }
    return Answer(body, **how)


def chat_answer(text: str = "", *calls: tuple[str, str], **how: Any) -> Answer:
    """A Chat Completions answer: text and tool calls by name and arguments (JSON text)."""
    tools = [
        {
            "id": f"call-{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    message = {
        "role": "assistant",
        "content": text or None,
        **({"tool_calls": tools} if tools else {}),
    }
    body = {
        "choices": [{"message": message, "finish_reason": "tool_calls" if tools else "stop"}],
        "usage": {
            "prompt_tokens": 13,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 3},
        },
    }
    return Answer(body, **how)


def an_error(status: int, kind: str = "api_error", message: str = "no", **headers: str) -> Answer:
    """An error in the shape that both APIs share."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer({"error": {"type": kind, "message": message}}, status, named)
