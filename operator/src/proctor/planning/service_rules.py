"""What holds for the services of a sandbox (pure)."""

from collections.abc import Iterator, Sequence

from proctor.api.container import Service
from proctor.api.errors import Problem

_CONTAINERS = ("stage", "fill", "loop", "agent", "checks", "grade")
"""Of every trial's pod."""

LOOP_PORT = 61_117
"""Of Proctor's own container in the pod, whose network all its containers share."""


def service_problems(services: Sequence[Service], field: str) -> Iterator[Problem]:
    """Names and ports that cannot stand beside each other; ``field`` is the list's path."""
    for index, service in enumerate(services):
        before = services[:index]
        here = f"{field}[{index}]"
        if service.name in _CONTAINERS or service.name == "localhost":
            yield Problem(
                f"{here}.name", f"{service.name!r} is a name of Proctor's own", "choose another"
            )
        if service.name in [one.name for one in before]:
            yield Problem(
                f"{here}.name", f"two services are called {service.name!r}", "rename one of them"
            )
        if service.port == LOOP_PORT:
            yield Problem(
                f"{here}.port", f"{service.port} is a port of Proctor's own", "choose another"
            )
        same = [one.name for one in before if one.port == service.port]
        if same:
            yield Problem(
                f"{here}.port",
                f"{service.port} is the port of {same[0]!r}, and both share the pod's network",
                "give each service a port of its own",
            )
        names = [variable.name for variable in service.env]
        for position, name in enumerate(names):
            if name in names[:position]:
                yield Problem(
                    f"{here}.env[{position}].name", f"{name} occurs twice", "remove one of them"
                )


def local_problems(services: Sequence[Service], field: str) -> Iterator[Problem]:
    """What ``proctor run`` cannot do, with containers or without."""
    if services:
        yield Problem(
            field,
            f"{services[0].name!r} is a service, and there are none here",
            "apply the run to a cluster, or start the server in preRun",
        )
