"""What holds for ``sandbox.egress``: hosts and their mode, agents and their key (pure)."""

from collections.abc import Iterator

from proctor.api.egress import Egress, EgressMode
from proctor.api.errors import Problem
from proctor.planning.defaults import egress_of
from proctor.planning.layers import Settings

_REMEDIES = {
    EgressMode.ALLOW_LIST: "ask for egressProxy.enabled in the chart's values, or use another mode"
}


def egress_problems(egress: Egress, field: str) -> Iterator[Problem]:
    """What is wrong with one layer's egress, wherever the run is carried out."""
    listed = egress.mode is EgressMode.ALLOW_LIST
    if listed and not egress.hosts:
        remedy = "name the hosts, or set mode: ModelOnly"
        yield Problem(f"{field}.hosts", "mode AllowList names no host", remedy)
    if not listed and egress.hosts:
        message = f"mode {egress.mode.value} looks at no hosts"
        yield Problem(f"{field}.hosts", message, "set mode: AllowList, or remove them")
    for index, host in enumerate(egress.hosts):
        if host in egress.hosts[:index]:
            yield Problem(f"{field}.hosts[{index}]", f"{host} is listed twice", "remove one")


def agent_egress_problems(
    settings: Settings, needs_key: bool, offered: frozenset[EgressMode]
) -> Iterator[Problem]:
    """What is wrong with the merged egress of one trial; ``offered`` are modes of the launcher."""
    mode = egress_of(settings.sandbox).mode
    field = settings.field("sandbox.egress.mode")
    if mode is EgressMode.NONE and needs_key:
        message = f"agent {settings.agent_type} asks a model, and mode None gives it no key"
        yield Problem(field, message, "set mode: ModelOnly")
    if mode not in offered:
        message = f"mode {mode.value} is not offered by this cluster"
        yield Problem(field, message, _REMEDIES.get(mode, "use another mode"))
