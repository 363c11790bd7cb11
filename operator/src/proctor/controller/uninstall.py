"""``python -m proctor.controller.uninstall``: let go of every trial's pod when the chart goes.

Without an operator nobody would take the finalizers off, and their pods, and a namespace that is
deleted, would stay Terminating for ever. The chart runs this after everything else is gone.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing

from proctor.api.errors import UserError
from proctor.controller.cluster import PODS, Cluster, MissingError, PreconditionError, Snapshot
from proctor.controller.kube.adapter import KubeCluster
from proctor.controller.kube.client import Client
from proctor.controller.kube.connection import find_connection
from proctor.controller.names import FINALIZER, SELECTOR
from proctor.controller.seen import SeenPod

_QUIET_ROUNDS = 3
_ROUND_SECONDS = 3.0


async def release_pods(cluster: Cluster, scopes: Sequence[str | None], seconds: float) -> int:
    """Take our finalizer off all pods until none had it for a while; how many had it.

    Args:
        cluster: Where they are.
        scopes: Namespaces, or None for all of them.
        seconds: Between two rounds: the operator may still be ending.
    """
    released, quiet = 0, 0
    while quiet < _QUIET_ROUNDS:
        held = [pod for scope in scopes for pod in await _held(cluster, scope)]
        quiet = 0 if held else quiet + 1
        for pod in held:
            released += await _release(cluster, pod)
        await asyncio.sleep(seconds)
    return released


async def _held(cluster: Cluster, scope: str | None) -> list[SeenPod]:
    changes = cluster.follow(PODS, scope, SeenPod.from_body, selector=SELECTOR)
    async with aclosing(changes):
        first = await anext(changes)
    pods = first.values if isinstance(first, Snapshot) else ()
    return [pod for pod in pods if FINALIZER in pod.finalizers]


async def _release(cluster: Cluster, pod: SeenPod) -> bool:
    identity = pod.identity
    others = [name for name in pod.finalizers if name != FINALIZER]
    patch = {"metadata": {"uid": identity.uid, "finalizers": others or None}}
    try:
        await cluster.patch(PODS, identity.namespace, identity.name, patch)
    except (MissingError, PreconditionError):
        return False
    return True


async def _main(namespaces: Sequence[str]) -> None:
    client = Client(find_connection(), lambda verb, code: None)
    try:
        cluster = KubeCluster(client, lambda kind: None)
        released = await release_pods(cluster, tuple(namespaces) or (None,), _ROUND_SECONDS)
        print(f"let go of {released} pods")
    finally:
        await client.close()


if __name__ == "__main__":
    try:
        asyncio.run(_main(sys.argv[1:]))
    except UserError as failure:
        sys.exit(f"proctor: {failure}")
