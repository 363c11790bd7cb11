"""What the port ``Cluster`` promises, on the fake and, over HTTP, on the adapter."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from fakes.cluster import FakeCluster
from fakes.kube_server import KubeServer
from proctor.controller.cluster import (
    CONFIG_MAPS,
    PODS,
    ExistsError,
    Gone,
    MissingError,
    PreconditionError,
    Put,
    RefusedError,
    Snapshot,
)
from proctor.controller.kube.adapter import KubeCluster
from proctor.controller.kube.client import Client
from proctor.controller.kube.connection import Connection


@pytest.fixture
def store():
    """The API server's memory, behind whichever implementation is tested."""
    return FakeCluster()


@pytest.fixture(params=["fake", "kube"])
async def cluster(request, store):
    async with AsyncExitStack() as stack:
        if request.param == "fake":
            yield store
            return
        url = await stack.enter_async_context(KubeServer(store, page=2).serving())
        client = Client(Connection(url), lambda verb, code: None)
        stack.push_async_callback(client.close)
        yield KubeCluster(client, lambda kind: None)


def a_config_map(name="one", namespace="team", **metadata):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "data": {"a": "1", "b": "2"},
    }


def name_of(body):
    return body["metadata"]["name"]


async def test_create_returns_what_the_server_stored(cluster):
    body = await cluster.create(CONFIG_MAPS, a_config_map())
    assert body["metadata"]["uid"]
    assert body["data"] == {"a": "1", "b": "2"}


async def test_a_taken_name_is_an_exists_error(cluster):
    await cluster.create(CONFIG_MAPS, a_config_map())
    with pytest.raises(ExistsError, match="already exists"):
        await cluster.create(CONFIG_MAPS, a_config_map())


async def test_get_of_nothing_is_none(cluster):
    assert await cluster.get(CONFIG_MAPS, "team", "none") is None


async def test_get_reads_what_was_created(cluster):
    created = await cluster.create(CONFIG_MAPS, a_config_map())
    assert await cluster.get(CONFIG_MAPS, "team", "one") == created


async def test_patch_merges_and_null_removes(cluster):
    await cluster.create(CONFIG_MAPS, a_config_map())
    body = await cluster.patch(CONFIG_MAPS, "team", "one", {"data": {"a": None, "c": "3"}})
    assert body["data"] == {"b": "2", "c": "3"}


async def test_patch_of_status_leaves_the_rest_alone(cluster):
    await cluster.create(PODS, {**a_config_map(), "kind": "Pod", "spec": {"nodeName": "n"}})
    patch = {"spec": {"nodeName": "x"}, "status": {"phase": "Running"}}
    body = await cluster.patch(PODS, "team", "one", patch, status=True)
    assert (body["spec"]["nodeName"], body["status"]["phase"]) == ("n", "Running")


async def test_patch_of_another_uid_is_a_precondition_error(cluster):
    await cluster.create(CONFIG_MAPS, a_config_map())
    with pytest.raises(PreconditionError):
        await cluster.patch(CONFIG_MAPS, "team", "one", {"metadata": {"uid": "other"}})


async def test_patch_of_nothing_is_a_missing_error(cluster):
    with pytest.raises(MissingError):
        await cluster.patch(CONFIG_MAPS, "team", "none", {"data": {}})


async def test_delete_removes_the_object_of_that_uid(cluster):
    body = await cluster.create(CONFIG_MAPS, a_config_map())
    await cluster.delete(CONFIG_MAPS, "team", "one", uid=body["metadata"]["uid"])
    assert await cluster.get(CONFIG_MAPS, "team", "one") is None


@pytest.mark.parametrize("name", [pytest.param("one", id="replaced"), pytest.param("x", id="gone")])
async def test_delete_of_another_uid_or_of_nothing_is_success(cluster, name):
    await cluster.create(CONFIG_MAPS, a_config_map())
    await cluster.delete(CONFIG_MAPS, "team", name, uid="other")
    assert await cluster.get(CONFIG_MAPS, "team", "one") is not None


async def test_a_finalizer_keeps_a_deleted_object_until_it_is_taken_off(cluster):
    body = await cluster.create(PODS, {**a_config_map(finalizers=["x/y"]), "spec": {}})
    uid = body["metadata"]["uid"]
    await cluster.delete(PODS, "team", "one", uid=uid)
    deleting = await cluster.get(PODS, "team", "one")
    assert deleting["metadata"]["deletionTimestamp"]
    await cluster.patch(PODS, "team", "one", {"metadata": {"uid": uid, "finalizers": None}})
    assert await cluster.get(PODS, "team", "one") is None


async def test_a_refusal_carries_the_servers_words(cluster, store):
    def refuse(verb, kind, body):
        raise RefusedError(403, "Forbidden", "exceeded quota: pods")

    store.before_write = refuse
    with pytest.raises(RefusedError, match="exceeded quota: pods"):
        await cluster.create(CONFIG_MAPS, a_config_map())


async def test_follow_begins_with_a_snapshot_of_all_pages(cluster):
    for name in ("a", "b", "c", "d", "e"):
        await cluster.create(CONFIG_MAPS, a_config_map(name))
    changes = cluster.follow(CONFIG_MAPS, None, name_of)
    first = await anext(changes)
    assert isinstance(first, Snapshot)
    assert sorted(first.values) == ["a", "b", "c", "d", "e"]
    await changes.aclose()


async def test_follow_tells_of_what_comes_and_goes(cluster):
    changes = cluster.follow(CONFIG_MAPS, "team", name_of)
    await anext(changes)
    coming = asyncio.ensure_future(anext(changes))
    body = await cluster.create(CONFIG_MAPS, a_config_map("new"))
    assert await coming == Put("new")
    going = asyncio.ensure_future(anext(changes))
    await cluster.delete(CONFIG_MAPS, "team", "new", uid=body["metadata"]["uid"])
    assert await going == Gone("new")
    await changes.aclose()


async def test_follow_sees_one_namespace_and_one_selector_only(cluster):
    elsewhere = a_config_map("elsewhere", namespace="other", labels={"a": "1"})
    await cluster.create(CONFIG_MAPS, elsewhere)
    await cluster.create(CONFIG_MAPS, a_config_map("plain"))
    await cluster.create(CONFIG_MAPS, a_config_map("chosen", labels={"a": "1"}))
    changes = cluster.follow(CONFIG_MAPS, "team", name_of, selector="a")
    assert (await anext(changes)).values == ("chosen",)
    await changes.aclose()


async def test_what_cannot_be_parsed_is_left_out(cluster):
    await cluster.create(CONFIG_MAPS, a_config_map())
    changes = cluster.follow(CONFIG_MAPS, None, lambda body: None)
    assert (await anext(changes)).values == ()
    await changes.aclose()
