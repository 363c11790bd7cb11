"""The port ``Bundles``: one suite over its fake, and over the adapter with a results server."""

import shutil
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from builders_planning import a_spec, a_task
from builders_results import ARecord, a_results_bench
from fakes.bundles import FakeBundles
from proctor.api.errors import PlatformError
from proctor.controller.bundles import ResultsBundles
from proctor.planning.bundle import HIDDEN_PART, VISIBLE_PART, packed, unpacked

TASKS = a_spec(tasks=[a_task("a"), a_task("b")]).tasks
UNKNOWN = f"sha256:{'0' * 64}"


class Fake:
    """The fake, with what happens to its server."""

    def __init__(self):
        self.bundles = FakeBundles()
        self.push = self.bundles.push

    async def stop(self):
        self.bundles.failure = "the results server: cannot be reached"

    async def lose_its_volume(self):
        self.bundles.lose()


class Served:
    """The adapter, beside a server that serves."""

    def __init__(self, bench):
        self.bench = bench
        self._serving = None
        (bench.folder / "operator-token").write_text(bench.operator)
        bench.api.namespaces["rivals"] = "rivals-uid"

    async def start(self):
        self._serving = self.bench.serving()
        await self._serving.__aenter__()
        await self.bench.ready()
        self.bundles = self.adapter(self.bench.read_url)

    def adapter(self, url):
        return ResultsBundles(url, self.bench.folder / "operator-token")

    async def push(self, namespace, tasks):
        bundle = packed(tasks)
        sent = ARecord(bundle.parts, bundle.manifest, bundle.digest)
        assert (await self.bench.push(sent, namespace=namespace))[0] == 200
        return f"sha256:{bundle.digest}"

    async def stop(self):
        if self._serving is not None:
            await self._serving.__aexit__(None, None, None)
            self._serving = None

    async def lose_its_volume(self):
        await self.stop()
        shutil.rmtree(self.bench.folder / "data")
        await self.start()


@asynccontextmanager
async def served(folder):
    async with a_results_bench(folder) as bench:
        case = Served(bench)
        await case.start()
        yield case
        await case.stop()


@pytest_asyncio.fixture(params=["fake", "results-server"])
async def case(request, tmp_path):
    if request.param == "fake":
        yield Fake()
        return
    async with served(tmp_path) as case:
        yield case


async def test_what_was_pushed_is_read_with_all_its_tasks(case):
    digest = await case.push("team", TASKS)
    parts = await case.bundles.parts("team", digest)
    assert unpacked(parts[VISIBLE_PART], parts[HIDDEN_PART], "bundle") == TASKS


async def test_what_nobody_pushed_is_missing(case):
    assert await case.bundles.parts("team", UNKNOWN) is None


async def test_a_bundle_of_another_namespace_is_missing(case):
    digest = await case.push("team", TASKS)
    assert await case.bundles.parts("rivals", digest) is None


async def test_a_bundle_whose_volume_is_lost_is_missing(case):
    digest = await case.push("team", TASKS)
    await case.lose_its_volume()
    assert await case.bundles.parts("team", digest) is None


async def test_while_nobody_answers_it_cannot_be_told(case):
    digest = await case.push("team", TASKS)
    await case.stop()
    with pytest.raises(PlatformError, match="the results server: "):
        await case.bundles.parts("team", digest)


@pytest_asyncio.fixture
async def server(tmp_path):
    async with served(tmp_path) as case:
        yield case


async def test_a_server_that_does_not_know_the_operator_is_no_missing_bundle(server, tmp_path):
    (tmp_path / "operator-token").write_text(server.bench.writer)
    with pytest.raises(PlatformError, match="is not the operator"):
        await server.bundles.parts("team", UNKNOWN)


async def test_a_server_without_bundles_is_no_missing_bundle(server):
    """An older server, in the middle of an upgrade, answers 404 to a path that it does not know."""
    older = server.adapter(f"{server.bench.read_url}/older")
    with pytest.raises(PlatformError, match="404"):
        await older.parts("team", UNKNOWN)


async def test_a_namespace_that_the_server_does_not_see_is_no_missing_bundle(server):
    with pytest.raises(PlatformError, match="there is no namespace elsewhere"):
        await server.bundles.parts("elsewhere", UNKNOWN)


async def test_content_that_is_not_what_the_digest_stands_for_is_not_read(server, tmp_path):
    digest = await server.push("team", TASKS)
    for file in (tmp_path / "data" / "objects" / "blobs").rglob("*"):
        if file.is_file() and b'"prompt"' in file.read_bytes():
            file.write_bytes(file.read_bytes().replace(b"hello", b"jello"))
    with pytest.raises(PlatformError, match="stands for"):
        await server.bundles.parts("team", digest)
