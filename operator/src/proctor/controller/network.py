"""What a trial's pod needs of the network before it exists: its policy, and addresses of ours.

Level-based: ``keep`` compares what the watch saw with what should be, in every pass of a run.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from proctor.api.egress import Egress, EgressMode
from proctor.api.egress_pass import EgressPass
from proctor.api.errors import PlatformError
from proctor.controller.cluster import (
    NETWORK_POLICIES,
    SERVICES,
    Body,
    Cluster,
    ClusterError,
    ExistsError,
)
from proctor.controller.confinement import Confinement, HostAlias
from proctor.controller.names import ATTEMPT_LABEL, TRIAL_LABEL
from proctor.controller.policies import (
    POLICY_NAMES,
    correction,
    fetch_policy,
    lets_through,
    reachable,
    selects,
    trial_policy,
)
from proctor.controller.seen import SeenPod
from proctor.controller.seen_policy import SeenPolicy, place_of
from proctor.controller.settings import Endpoint, NetworkSettings
from proctor.controller.watched import Watched

_KNOWN_FOR = timedelta(seconds=5)
"""A Service that is made anew has another address; pods that got the old one run again."""


_DISPUTED_FOR = timedelta(seconds=15)
"""How soon a policy is repaired again that did not stay as it was written."""


class NetworkNotReadyError(PlatformError):
    """Something that trials need of the network is not what it should be; the message says what."""


@dataclass(frozen=True, slots=True)
class Network:
    """Keeps the policies of one cluster's trials, and knows the addresses of our Services."""

    cluster: Cluster
    watched: Watched
    settings: NetworkSettings
    now: Callable[[], datetime]
    known: dict[str, tuple[datetime, tuple[str, ...]]] = field(default_factory=dict)
    disputed: dict[tuple[str, str], datetime] = field(default_factory=dict)

    async def keep(
        self, namespace: str, modes: Iterable[EgressMode], *, fetches: bool = False
    ) -> None:
        """Make or repair the policies of these modes, and of pods that fetch a repository.

        Raises:
            NetworkNotReadyError: A policy does not stay as it is written.
            ClusterError: A request failed.
        """
        held = self.watched.policies.of(place_of(namespace))
        policies = [trial_policy(namespace, mode, self.settings) for mode in sorted(modes)]
        if fetches:
            policies.append(fetch_policy(namespace, self.settings))
        for wanted in policies:
            seen = held.get(wanted["metadata"]["name"])
            if seen is None:
                await self._make(wanted)
            else:
                await self._repair(wanted, seen.spec)

    def others(self, namespace: str, pods: Collection[SeenPod]) -> frozenset[str]:
        """Names of policies that let traffic of one of these through, and are not as we made them.

        Somebody else's, and those of ours that somebody else has the last word on.
        """
        spoiled = {name for place, name in self.disputed if place == namespace}
        return frozenset(self._wide(namespace, pods) | spoiled)

    def _wide(self, namespace: str, pods: Collection[SeenPod]) -> set[str]:
        held = self.watched.policies.of(place_of(namespace))
        specs = {name: seen.spec for name, seen in held.items() if name not in POLICY_NAMES}
        wide = {name: spec for name, spec in specs.items() if lets_through(spec)}
        if not wide:
            return set()
        kinds = {tuple(pod.labels.items() - _own_labels(pod)) for pod in pods}
        return {
            name for name, spec in wide.items() if any(selects(spec, dict(kind)) for kind in kinds)
        }

    async def confinement(self, mode: EgressMode, *, fetches: bool = False) -> Confinement:
        """What a pod of this mode is told, which may fetch a repository.

        Raises:
            NetworkNotReadyError: A Service is not as it should be.
            ClusterError: It cannot be read.
        """
        if mode is EgressMode.OPEN:
            return Confinement()
        found = [await self._alias(one) for one in reachable(mode, self.settings, fetches=fetches)]
        return Confinement(aliases=tuple(found))

    def egress_pass(self, egress: Egress, trial_uid: str, attempt: int, seconds: int) -> str | None:
        """What an attempt shows the egress proxy for so many seconds; None in other modes.

        Raises:
            NetworkNotReadyError: The secret cannot be read.
        """
        if egress.mode is not EgressMode.ALLOW_LIST:
            return None
        return self.signed_pass(egress.hosts, trial_uid, attempt, seconds)

    def signed_pass(
        self, hosts: tuple[str, ...], trial_uid: str, attempt: int, seconds: int
    ) -> str | None:
        """A pass for these hosts that holds for so many seconds; None without a proxy.

        Raises:
            NetworkNotReadyError: The secret cannot be read.
        """
        secret = self.settings.egress_secret_file
        if secret is None:
            return None
        until = int(self.now().timestamp()) + seconds
        try:
            key = secret.read_bytes()
        except OSError as error:
            raise NetworkNotReadyError(f"the egress proxy's secret: {error}") from error
        return EgressPass(trial_uid, attempt, hosts, until).signed(key)

    async def _alias(self, endpoint: Endpoint) -> HostAlias:
        known = self.known.get(endpoint.service)
        if known is None or self.now() >= known[0] + _KNOWN_FOR:
            body = await self.cluster.get(SERVICES, endpoint.namespace, endpoint.service)
            known = self.known[endpoint.service] = (self.now(), _addresses(endpoint, body))
        return HostAlias(endpoint.host, known[1])

    async def _make(self, wanted: Body) -> None:
        try:
            body = await self.cluster.create(NETWORK_POLICIES, wanted)
        except ExistsError as error:
            meta = wanted["metadata"]
            found = await self.cluster.get(NETWORK_POLICIES, meta["namespace"], meta["name"])
            if found is None:
                raise ClusterError(error.status, "Vanished", str(error)) from error
            body = found
        self._put(body)
        await self._repair(wanted, body["spec"])

    async def _repair(self, wanted: Body, spec: Mapping[str, Any]) -> None:
        """Patch a policy; one that did not stay as it was written is left alone for a while."""
        meta = wanted["metadata"]
        place = namespace, name = meta["namespace"], meta["name"]
        patch = correction(spec, wanted["spec"])
        if not patch:
            self.disputed.pop(place, None)
            return
        disputed_at = self.disputed.get(place)
        if disputed_at is None or self.now() >= disputed_at + _DISPUTED_FOR:
            body = await self.cluster.patch(NETWORK_POLICIES, namespace, name, {"spec": patch})
            self._put(body)
            if not correction(body["spec"], wanted["spec"]):
                self.disputed.pop(place, None)
                return
            self.disputed[place] = self.now()
        raise NetworkNotReadyError(
            f"NetworkPolicy {namespace}/{name} does not stay as Proctor writes it: take it out of "
            "the admission rule that changes it"
        )

    def _put(self, body: Body) -> None:
        self.watched.policies.put(SeenPolicy.from_body(body))


def _own_labels(pod: SeenPod) -> set[tuple[str, str]]:
    """Labels that each pod has for itself: nobody selects by them, and pods are many."""
    return {(name, pod.labels[name]) for name in (TRIAL_LABEL, ATTEMPT_LABEL)}


def _addresses(endpoint: Endpoint, body: Body | None) -> tuple[str, ...]:
    """Cluster IPs of a Service that passes each of its ports on as it is."""
    if body is None:
        raise _not_ready(endpoint, "does not exist")
    spec = body["spec"]
    same = {one["port"] for one in spec.get("ports") or () if one.get("targetPort") == one["port"]}
    missing = {endpoint.port, *((endpoint.canary,) if endpoint.canary else ())} - same
    if missing:
        raise _not_ready(endpoint, f"does not pass port {min(missing)} on as it is")
    addresses = tuple(spec.get("clusterIPs") or ())
    if not addresses or "None" in addresses:
        raise _not_ready(endpoint, "has no cluster IP")
    return addresses


def _not_ready(endpoint: Endpoint, what: str) -> NetworkNotReadyError:
    where = f"Service {endpoint.namespace}/{endpoint.service}"
    return NetworkNotReadyError(f"{where} {what}: install the chart again")
