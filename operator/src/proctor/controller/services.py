"""The services of a trial's pod: native sidecars of the user's images (pure).

They see nothing of ours: no volume, no token, no orders. They start after ``stage``, in their
order, and the next container starts once their port answers.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from proctor.api.container import EnvVar, Service
from proctor.controller.confinement import HostAlias
from proctor.controller.containers import Sandbox, container
from proctor.controller.literals import literal
from proctor.controller.security import task_security

_HERE = "127.0.0.1"


def services(sandbox: Sandbox) -> Iterator[dict[str, Any]]:
    """One container each, in their order."""
    for service in sandbox.cell.services:
        yield _container(sandbox, service)


def service_names(services: Sequence[Service]) -> tuple[HostAlias, ...]:
    """Their names, for everybody in the pod."""
    return tuple(HostAlias(service.name, (_HERE,)) for service in services)


def _container(sandbox: Sandbox, service: Service) -> dict[str, Any]:
    assert service.resources is not None
    body = {
        **container(
            sandbox, service.name, service.image, service.resources, task_security(sandbox.cell)
        ),
        "restartPolicy": "Always",
        "startupProbe": _probe(service),
    }
    if service.command:
        body["command"] = [literal(word) for word in service.command]
    if service.args:
        body["args"] = [literal(word) for word in service.args]
    if service.env:
        body["env"] = [_variable(one) for one in service.env]
    return body


def _variable(one: EnvVar) -> dict[str, str]:
    """The API server drops an empty value."""
    return {"name": one.name, **({"value": literal(one.value)} if one.value else {})}


def _probe(service: Service) -> dict[str, Any]:
    """Every field is written, so that the pod read back is what was asked for."""
    return {
        "tcpSocket": {"port": service.port},
        "timeoutSeconds": 1,
        "periodSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": service.ready_timeout_seconds,
    }
