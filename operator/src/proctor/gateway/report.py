"""Tells metrics and log of calls."""

import logging
from typing import Any

from proctor.api.usage import SPENDING_MODES
from proctor.gateway.account import Account
from proctor.gateway.events import CallEnded
from proctor.gateway.ledger import OpenCall
from proctor.gateway.limits import Refusal
from proctor.metrics.gateway import GatewayMetrics, ModelCall
from proctor.pricing import Prices
from proctor.serving.logs import FIELDS

_LOGGER = logging.getLogger("proctor.gateway")
OTHER_MODEL = "other"
"""Label of models without a price: their names are the agent's choice, and without bound."""


class Report:
    """The ``Watch`` of a gateway that is a process of its own."""

    def __init__(self, metrics: GatewayMetrics, prices: Prices) -> None:
        self._metrics = metrics
        self._prices = prices

    def started(self, call: OpenCall) -> None:
        """Count a call in flight."""
        self._metrics.started()

    def ended(self, call: OpenCall, ended: CallEnded) -> None:
        """Count a call and write its line."""
        opened = call.opened
        seconds = (ended.at - opened.at).total_seconds()
        self._metrics.ended(
            ModelCall(
                namespace=call.account.namespace,
                provider=opened.provider,
                model=self._prices.name(opened.model) or OTHER_MODEL,
                status=ended.status,
                seconds=seconds,
                usage=ended.usage,
                spent_usd=ended.cost_usd if opened.mode in SPENDING_MODES else None,
            )
        )
        # The ledger has every call: the log tells of those that somebody has to look at.
        level = logging.WARNING if ended.provider_failure else logging.DEBUG
        _log(level, "model call", call, status=ended.status, seconds=seconds, **_figures(ended))

    def refused(self, account: Account, refusal: Refusal) -> None:
        """Count a refusal."""
        self._metrics.refused(account.namespace, refusal.limit or "other")

    def failed(self, call: OpenCall, error: Exception) -> None:
        """Say that a call could not be booked."""
        self._metrics.lost()
        _log(logging.ERROR, "the ledger cannot be written", call, error=type(error).__name__)


def _figures(ended: CallEnded) -> dict[str, Any]:
    return {
        "tokens": None if ended.usage is None else ended.usage.total,
        "cost_usd": ended.cost_usd,
        "provider_failure": ended.provider_failure,
    }


def _log(level: int, message: str, call: OpenCall, **fields: Any) -> None:
    if not _LOGGER.isEnabledFor(level):
        return
    opened = call.opened
    about = {
        "namespace": call.account.namespace,
        "trial_uid": opened.trial_uid,
        "attempt": opened.attempt,
        "model": opened.model[:200],
        "provider": opened.provider,
    }
    # Not ``log``: it would look for the line of code that calls it, which no line shows.
    extra = {FIELDS: {**about, **fields}}
    name = _LOGGER.name
    _LOGGER.handle(_LOGGER.makeRecord(name, level, "", 0, message, (), None, extra=extra))
