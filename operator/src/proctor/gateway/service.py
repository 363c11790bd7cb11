"""What the gateway is made of; built by the embedded form and by the process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from proctor.gateway.account import Accounts, Mode
from proctor.gateway.admission import Admission
from proctor.gateway.ledger import Ledger
from proctor.gateway.providers import Provider
from proctor.gateway.upstream import Upstream
from proctor.gateway.watch import NoWatch, Watch


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that serve calls.

    Args:
        upstreams: Who answers, by the account's mode.
        providers: In order; the first that serves a request gets it.
        client_idle_seconds: A client that takes no byte of its answer for so long has gone.
    """

    accounts: Accounts
    admission: Admission
    upstreams: Mapping[Mode, Upstream]
    providers: Sequence[Provider] = ()
    watch: Watch = field(default_factory=NoWatch)
    client_idle_seconds: float = 300.0
    now: Callable[[], datetime] = utc_now

    @property
    def ledger(self) -> Ledger:
        """What was used."""
        return self.admission.ledger
