"""The port ``Bills``: what the gateway counted for a run, or an attempt without a verdict."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import aiohttp

from proctor.api.usage import Bill, RunSpending

_TIMEOUT = aiohttp.ClientTimeout(total=5)


class Bills(Protocol):
    """Asks for bills."""

    async def bill(
        self, run_uid: str, trial_uid: str, attempt: int, since: datetime
    ) -> Bill | None:
        """What the attempt, begun at ``since``, used; None when that cannot be found out now."""

    async def spending(self, run_uid: str) -> RunSpending | None:
        """What the run used so far; None when that cannot be found out now."""


class NoBills:
    """There is no gateway to ask."""

    async def bill(
        self, run_uid: str, trial_uid: str, attempt: int, since: datetime
    ) -> Bill | None:
        """Nothing is known."""
        return None

    async def spending(self, run_uid: str) -> RunSpending | None:
        """Nothing is known."""
        return None


class GatewayBills:
    """Asks the gateway, with a token for its audience that the kubelet renews.

    Args:
        url: Base URL of the gateway.
    """

    def __init__(self, url: str, token_file: Path) -> None:
        self._url, self._token_file = url.rstrip("/"), token_file

    async def bill(
        self, run_uid: str, trial_uid: str, attempt: int, since: datetime
    ) -> Bill | None:
        """Best effort: no answer is an unknown cost, never a free one."""
        query = {"run": run_uid, "since": since.isoformat()}
        body = await self._get(f"bills/{trial_uid}/{attempt}", query)
        try:
            return None if body is None else Bill.from_json(body)
        except (ValueError, KeyError, TypeError, ArithmeticError):
            return None

    async def spending(self, run_uid: str) -> RunSpending | None:
        """Best effort, too."""
        body = await self._get(f"runs/{run_uid}")
        try:
            return None if body is None else RunSpending.from_json(body["run"])
        except (ValueError, KeyError, TypeError, ArithmeticError):
            return None

    async def _get(
        self, path: str, query: Mapping[str, str] | None = None
    ) -> dict[str, Any] | None:
        try:
            token = self._token_file.read_text(encoding="ascii").strip()
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                aiohttp.ClientSession(timeout=_TIMEOUT, raise_for_status=True) as session,
                session.get(
                    f"{self._url}/proctor/v1/{path}", headers=headers, params=query
                ) as answer,
            ):
                body = await answer.json()
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            return None
        return body if isinstance(body, dict) else None
