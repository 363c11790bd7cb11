"""Asks the model through the gateway, and asks again when that may help."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from proctor.agents.mini.client import Response, post
from proctor.agents.mini.dialect import Dialect, Question, Reply, ReplyError

ATTEMPTS = 3
"""Of one call; the gateway has its own retries towards the provider."""

MAX_WAIT_SECONDS = 30.0
_SHOWN_CHARS = 300


class ModelError(Exception):
    """The model cannot be asked, or refused for good; the message has what it said."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model behind one gateway. ``sleep`` waits between attempts, in seconds."""

    dialect: Dialect
    url: str
    key: str
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def ask(self, question: Question) -> Reply:
        """Ask once, or a few times while the answer is 408, 429, 5xx or the connection breaks.

        Raises:
            ModelError: When attempts are used up, and at once for any other refusal: the
                gateway's budgets do not come back.
        """
        body = json.dumps(self.dialect.body(question)).encode()
        headers = self.dialect.headers(self.key)
        reason = ""
        for attempt in range(1, ATTEMPTS + 1):
            wait_seconds = 0.5 * 2**attempt
            try:
                response = await post(self.url + self.dialect.path, headers, body)
            except OSError as error:
                reason = f"cannot reach the model: {error}"
            else:
                if response.status == 200:
                    return self._reply(response)
                reason = _refusal(response)
                if not _is_passing(response):
                    raise ModelError(reason)
                wait_seconds = _retry_after(response, wait_seconds)
            if attempt < ATTEMPTS:
                await self.sleep(wait_seconds)
        raise ModelError(f"{reason} (after {ATTEMPTS} attempts)")

    def _reply(self, response: Response) -> Reply:
        body = _object(response.body)
        if body is None:
            raise ModelError("the model's answer is not a JSON object")
        try:
            return self.dialect.reply(body)
        except ReplyError as error:
            raise ModelError(str(error)) from error


def _is_passing(response: Response) -> bool:
    if "budget" in _error(response).get("type", ""):
        return False
    return response.status in (408, 429) or response.status >= 500


def _retry_after(response: Response, default_seconds: float) -> float:
    try:
        wanted = float(response.headers.get("retry-after", default_seconds))
    except ValueError:
        return default_seconds
    return min(max(wanted, 0.0), MAX_WAIT_SECONDS)


def _refusal(response: Response) -> str:
    error = _error(response)
    said = error.get("message") or response.body.decode(errors="replace")
    kind = f" {error['type']}" if error.get("type") else ""
    return f"model call refused: HTTP {response.status}{kind}: {said[:_SHOWN_CHARS]}"


def _error(response: Response) -> dict[str, str]:
    """Texts of the error object, which both APIs write alike; empty when there is none."""
    error = (_object(response.body) or {}).get("error")
    if not isinstance(error, dict):
        return {}
    return {name: value for name, value in error.items() if isinstance(value, str)}


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
