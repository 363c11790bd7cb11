"""The server as a process of its own: killed at any moment, on a volume that is full."""

import asyncio
import json
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from builders_results import a_record, a_results_bench
from proctor.api.results import records_of
from proctor.results.process import Running

SMALL_VOLUME = 'mount -t tmpfs -o size=16m tmpfs "$0" && exec "$@"'


class Served:
    """A bench whose server is a process."""

    def __init__(self, bench, prefix=()):
        self.bench = bench
        self.prefix = prefix

    @asynccontextmanager
    async def process(self):
        bench = self.bench
        config = bench.folder / "results.yaml"
        config.write_text(json.dumps({"folder": str(bench.folder / "data"), **bench.config}))
        options = {
            "--config": config,
            "--host": "127.0.0.1",
            "--upload-port": 0,
            "--read-port": 0,
            "--drain-seconds": 1,
            "--api-server": bench.api.url,
            "--api-token-file": bench.folder / "token",
        }
        process = await asyncio.create_subprocess_exec(
            *self.prefix, sys.executable, "-m", "proctor.results",
            *(str(word) for pair in options.items() for word in pair),
            stderr=PIPE,
        )  # fmt: skip
        try:
            bench.running = await self._ports(process)
            reading = asyncio.create_task(process.stderr.read())
            async with aiohttp.ClientSession() as bench.session:
                await bench.ready()
                yield process
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()
            await reading

    async def _ports(self, process):
        while line := await process.stderr.readline():
            words = json.loads(line)["message"].replace(",", "").split()
            if words[0] == "listening":
                numbers = [int(word) for word in words if word.isdigit()]
                return Running(*numbers)
        raise AssertionError("the server ended before it listened")


@pytest_asyncio.fixture
async def bench(tmp_path):
    (tmp_path / "data").mkdir()
    async with a_results_bench(tmp_path) as bench:
        yield bench


async def test_a_server_that_is_killed_again_and_again_never_has_half_a_record(bench):
    chance = random.Random(7)
    record = a_record(big_bin=chance.randbytes(4 << 20), other_bin=chance.randbytes(1 << 20))
    served = Served(bench)
    for _ in range(3):
        async with served.process() as process:
            sending = asyncio.create_task(_send_until_cut(bench, record))
            await asyncio.wait([sending], timeout=chance.uniform(0, 0.1))
            process.kill()
            await process.wait()
            await sending
    async with served.process():
        if not await bench.listed():
            assert (await bench.send(record))[0] == 200
        (item,) = await bench.listed()
        assert item["digest"] == record.digest
        for path, data in record.parts.items():
            assert await bench.get(f"{records_of('team')}/{record.digest}/parts/{path}") == (
                200,
                data,
            )
    leftovers = [
        path for name in ("spool", "objects/.unfinished")
        for path in (bench.folder / "data" / name).glob("*")
    ]  # fmt: skip
    assert len(leftovers) == 0


async def _send_until_cut(bench, record):
    try:
        await bench.send(record)
    except (aiohttp.ClientError, ConnectionError):
        return


@pytest_asyncio.fixture
async def on_a_small_volume(bench):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small volume")
    data = bench.folder / "data"
    return Served(bench, ("unshare", "--mount", "sh", "-c", SMALL_VOLUME, str(data)))


def a_token(bench, number):
    """Of the attempt of another trial; its record is that of ``trial-<number>``."""
    name = f"r-{number:03x}"
    bench.api.add_trial(name, attempt=1, uid=f"trial-{number}", runUid="run-uid")
    return bench.api.issue(
        f"token-{number}", "proctor-results", pod=f"{name}-1", account="team:proctor-trial"
    )


async def test_a_full_volume_is_said_and_what_was_stored_stays(bench, on_a_small_volume):
    async with on_a_small_volume.process():
        assert (await bench.send(a_record()))[0] == 200
        token = a_token(bench, 2)
        large = a_record(uid="trial-2", big_bin=bytes(20 << 20))
        status, body = await bench.send(large, token)
        assert (status, "results.volume.size" in body["error"]) == (507, True)
        assert [one["digest"] for one in await bench.listed()] == [a_record().digest]
        assert (await bench.send(a_record(uid="trial-2"), token))[0] == 200
        assert len(await bench.listed()) == 2


async def test_a_volume_that_records_have_filled_is_emptied_by_retention(bench, on_a_small_volume):
    # The last byte went to a record once. After that the index could note nothing, so that
    # retention could remove nothing, and the volume stayed full.
    bench.config = {"retention": {"maxAgeDays": 3 / 86_400, "intervalSeconds": 0.5}}
    bench.api.runs["team"] = [{"metadata": {"uid": "run-uid"}, "status": {}}]
    numbers, chance = iter(range(1000)), random.Random(7)
    async with on_a_small_volume.process():
        for size in (400_000, 20_000, 1_000):
            status = 200
            while status == 200:
                number = next(numbers)
                record = a_record(uid=f"trial-{number}", big_bin=chance.randbytes(size))
                status, _ = await bench.send(record, a_token(bench, number))
            assert status == 507
        assert len(await bench.listed()) > 30

        bench.api.runs["team"] = []
        async with asyncio.timeout(20):
            while await bench.listed():  # noqa: ASYNC110 - as a person does
                await asyncio.sleep(0.1)
        assert (await bench.send(record, a_token(bench, number)))[0] == 200


@contextmanager
def filled(folder):
    """The folder's volume, without a byte of room."""
    ballast = Path(folder, "ballast")
    with suppress(OSError):
        ballast.write_bytes(bytes(32 << 20))
    yield
    ballast.unlink()


async def test_room_that_somebody_else_gives_back_is_used(bench, on_a_small_volume):
    async with on_a_small_volume.process() as process:
        with filled(f"/proc/{process.pid}/root{bench.folder}/data"):
            assert (await bench.send(a_record()))[0] == 507
            assert (await bench.get("/readyz"))[0] == 200
        assert (await bench.send(a_record()))[0] == 200


async def test_a_bad_configuration_is_said_before_anything_listens(bench):
    config = bench.folder / "results.yaml"
    config.write_text("folder: relative\nretention: {maxDays: 3}\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proctor.results", "--config", str(config),
        "--api-server", bench.api.url, stderr=PIPE,
    )  # fmt: skip
    _, said = await process.communicate()
    assert process.returncode == 2
    assert b"retention.maxDays" in said
