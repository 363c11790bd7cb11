"""Who is told of calls: metrics and log in a process of its own, nobody in an embedded gateway."""

from typing import Protocol

from proctor.gateway.account import Account
from proctor.gateway.events import CallEnded
from proctor.gateway.ledger import OpenCall
from proctor.gateway.limits import Refusal


class Watch(Protocol):
    """Is told of calls."""

    def started(self, call: OpenCall) -> None:
        """A call goes to its model."""

    def ended(self, call: OpenCall, ended: CallEnded) -> None:
        """A call is over."""

    def refused(self, account: Account, refusal: Refusal) -> None:
        """A call was not allowed."""

    def failed(self, call: OpenCall, error: Exception) -> None:
        """The end of a call could not be written down; it stays open in the ledger."""


class NoWatch:
    """Tells nobody."""

    def started(self, call: OpenCall) -> None:
        """Do nothing."""

    def ended(self, call: OpenCall, ended: CallEnded) -> None:
        """Do nothing."""

    def refused(self, account: Account, refusal: Refusal) -> None:
        """Do nothing."""

    def failed(self, call: OpenCall, error: Exception) -> None:
        """Do nothing."""
