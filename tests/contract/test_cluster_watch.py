"""What the adapter does when connections break; the fake has none."""

import asyncio
import json

import pytest

from fakes.cluster import FakeCluster
from fakes.kube_server import KubeServer
from proctor.controller.cluster import CONFIG_MAPS, ClusterError, Put, Snapshot
from proctor.controller.kube.adapter import KubeCluster
from proctor.controller.kube.client import Client
from proctor.controller.kube.connection import Connection


@pytest.fixture
async def server():
    server = KubeServer(FakeCluster())
    async with server.serving():
        yield server


@pytest.fixture
async def requests():
    return []


@pytest.fixture
async def cluster(server, requests):
    client = Client(Connection(server.url), lambda verb, code: requests.append((verb, code)))
    yield KubeCluster(client, lambda kind: None)
    await client.close()


def body_of(name):
    return {"metadata": {"name": name, "namespace": "team"}, "data": {}}


def name_of(body):
    return body["metadata"]["name"]


async def test_a_watch_that_breaks_goes_on_where_it_was(server, cluster):
    changes = cluster.follow(CONFIG_MAPS, None, name_of)
    await anext(changes)
    await server.cluster.create(CONFIG_MAPS, body_of("one"))
    assert await anext(changes) == Put("one")
    following = asyncio.ensure_future(anext(changes))
    server.drop()
    await server.cluster.create(CONFIG_MAPS, body_of("two"))
    assert await following == Put("two")
    assert server.lists == 1
    await changes.aclose()


async def test_an_expired_watch_lists_again(server, cluster):
    changes = cluster.follow(CONFIG_MAPS, None, name_of)
    await anext(changes)
    again = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    await server.cluster.create(CONFIG_MAPS, body_of("one"))
    assert await again == Put("one")
    relisted = asyncio.ensure_future(anext(changes))
    server.expire()
    assert await relisted == Snapshot(("one",), server.cluster.version)
    await changes.aclose()


async def test_an_event_longer_than_a_network_buffer_arrives_whole(server, cluster):
    changes = cluster.follow(CONFIG_MAPS, None, lambda body: len(body["data"]["long"]))
    await anext(changes)
    await server.cluster.create(CONFIG_MAPS, {**body_of("one"), "data": {"long": "x" * 300_000}})
    assert await anext(changes) == Put(300_000)
    await changes.aclose()


async def test_a_busy_server_is_asked_again(server, cluster, requests):
    server.busy = 1
    assert await cluster.get(CONFIG_MAPS, "team", "none") is None
    assert requests == [("GET", "503"), ("GET", "404")]


async def test_a_server_that_cannot_be_reached_is_a_cluster_error(requests):
    client = Client(
        Connection("http://127.0.0.1:9"), lambda verb, code: requests.append((verb, code))
    )
    with pytest.raises(ClusterError, match="GET /api/v1"):
        await KubeCluster(client, lambda kind: None).get(CONFIG_MAPS, "team", "one")
    assert requests[-1] == ("GET", "error")
    await client.close()


async def test_watches_have_an_age(server, cluster):
    changes = cluster.follow(CONFIG_MAPS, "team", name_of)
    await anext(changes)
    assert cluster.watch_ages()["configmaps/team"] < 60
    await changes.aclose()
    assert cluster.watch_ages() == {}


async def test_bodies_are_sent_as_plain_json(server, cluster):
    created = await cluster.create(CONFIG_MAPS, body_of("one"))
    assert json.loads(json.dumps(created)) == await cluster.get(CONFIG_MAPS, "team", "one")
