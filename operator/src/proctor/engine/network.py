"""What a run says of its trials' network (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from proctor.api.conditions import Condition, ConditionType, Reason

_STAYS = frozenset({Reason.AGENTS_NOT_CONFINED, Reason.OTHER_POLICIES})
"""What cannot be taken back: an agent may have used it."""


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """What was seen of the network of a run's trials; locally nothing is.

    Args:
        closed: A pod proved that it is closed.
        open: An agent was let into a pod that is open.
        refused: Why a pod was given up before its agent started, or None.
        others: Policies of somebody else that open pods of the run.
    """

    closed: bool = False
    open: bool = False
    refused: str | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkClaim:
    """The condition ``NetworkEnforced`` without its times."""

    enforced: bool
    reason: Reason
    message: str


def network_claim(facts: NetworkFacts, before: Sequence[Condition]) -> NetworkClaim | None:
    """What to say now, given what was said; None: nothing is known yet."""
    known = _known(before)
    claim = _claim(facts)
    if known is not None and known.reason in _STAYS and (claim is None or claim.enforced):
        return known
    return claim or known


def _claim(facts: NetworkFacts) -> NetworkClaim | None:
    if facts.open:
        return NetworkClaim(False, Reason.AGENTS_NOT_CONFINED, _NOT_CONFINED)
    if facts.others and facts.closed:
        message = f"{', '.join(facts.others)}: opens trial pods beside Proctor's own policy"
        return NetworkClaim(False, Reason.OTHER_POLICIES, message)
    if facts.closed:
        return NetworkClaim(True, Reason.CANARY_REFUSED, "")
    if facts.refused is not None:
        return NetworkClaim(False, Reason.NOT_ENFORCED, f"{facts.refused}; {_REMEDY}")
    return None


def _known(before: Sequence[Condition]) -> NetworkClaim | None:
    for one in before:
        if one.type == ConditionType.NETWORK_ENFORCED:
            return NetworkClaim(one.status == "True", Reason(one.reason), one.message)
    return None


_REMEDY = (
    "use a network that enforces NetworkPolicies, or set network.requireEnforcement to false in "
    "the chart's values"
)
_NOT_CONFINED = (
    "trial pods reach what they should not, and network.requireEnforcement is false: agents ran "
    "with an open network"
)
