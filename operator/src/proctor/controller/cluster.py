"""The port ``Cluster``: what the controller asks of Kubernetes, and how it fails.

Bodies are plain JSON. ``controller.kube`` implements it over HTTP, ``tests/fakes`` in memory; one
contract suite runs on both.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from proctor.api.base import GROUP, VERSION
from proctor.api.errors import PlatformError

Body = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind:
    """A namespaced kind; ``group`` is empty for the core kinds."""

    group: str
    version: str
    plural: str
    name: str

    @property
    def api_version(self) -> str:
        """As manifests write it."""
        return f"{self.group}/{self.version}" if self.group else self.version


EVAL_RUNS = Kind(GROUP, VERSION, "evalruns", "EvalRun")
EVAL_TRIALS = Kind(GROUP, VERSION, "evaltrials", "EvalTrial")
PODS = Kind("", "v1", "pods", "Pod")
CONFIG_MAPS = Kind("", "v1", "configmaps", "ConfigMap")
EVENTS = Kind("", "v1", "events", "Event")
SERVICE_ACCOUNTS = Kind("", "v1", "serviceaccounts", "ServiceAccount")
SERVICES = Kind("", "v1", "services", "Service")
NETWORK_POLICIES = Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")


class ClusterError(PlatformError):
    """The API server could not be asked, or refused.

    Args:
        status: HTTP status; 0 when there was no answer.
        reason: Kubernetes' word, such as ``Forbidden``; empty when it gave none.
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(message)


class ExistsError(ClusterError):
    """An object of that name exists already (409 AlreadyExists)."""


class PreconditionError(ClusterError):
    """The object is not the one that was meant (409 Conflict: UID or resource version)."""


class MissingError(ClusterError):
    """There is no such object, or its namespace or kind is gone (404)."""


class RefusedError(ClusterError):
    """Admission, quota, authorisation or validation refuses it (403, 422, 400)."""


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[T]):
    """All objects that are followed, as a first or repeated list gave them.

    Args:
        version: Resource version of the list: what is newer is not in it.
    """

    values: tuple[T, ...]
    version: int


@dataclass(frozen=True, slots=True)
class Put(Generic[T]):
    """An object was added or changed."""

    value: T


@dataclass(frozen=True, slots=True)
class Gone(Generic[T]):
    """An object was removed; ``value`` is its last form."""

    value: T


Change = Snapshot[T] | Put[T] | Gone[T]


class Cluster(Protocol):
    """A Kubernetes API. Every method raises ``ClusterError`` or one of its kinds."""

    async def create(self, kind: Kind, body: Body) -> Body:
        """Make an object; its namespace is in its metadata. Returns what the server stored."""

    async def get(self, kind: Kind, namespace: str, name: str) -> Body | None:
        """Read an object; None when there is none."""

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Body, *, status: bool = False
    ) -> Body:
        """Merge ``patch`` into the object, or into its status subresource.

        ``metadata.uid`` in the patch is a precondition.
        """

    async def delete(self, kind: Kind, namespace: str, name: str, *, uid: str) -> None:
        """Delete the object with this UID; gone, or replaced by another one, is success."""

    def follow(
        self,
        kind: Kind,
        namespace: str | None,
        parse: Callable[[Body], T | None],
        *,
        selector: str = "",
    ) -> AsyncGenerator[Change[T], None]:
        """List, then watch for ever, in one namespace or, with None, in all.

        Never ends and never raises ``ClusterError``: it reconnects, and lists again when the
        server forgot where it was. ``parse`` drops the body; what it returns None for is left out.
        """
