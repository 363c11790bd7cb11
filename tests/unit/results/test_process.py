"""The server as a process of its own: killed at any moment, on a volume that is full."""

import asyncio
import json
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager

import aiohttp
import pytest
import pytest_asyncio

from builders_results import a_record, a_results_bench
from proctor.api.results import records_of
from proctor.results.process import Running

SMALL_VOLUME = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small volume")
async def test_a_full_volume_is_said_and_what_was_stored_stays(bench):
    data = bench.folder / "data"
    data.mkdir(exist_ok=True)
    served = Served(bench, ("unshare", "--mount", "sh", "-c", SMALL_VOLUME, str(data)))
    async with served.process():
        assert (await bench.send(a_record()))[0] == 200
        bench.api.add_trial("r-def", attempt=1, uid="trial-2", runUid="run-uid")
        token = bench.api.issue(
            "t2", "proctor-results", pod="r-def-1", account="team:proctor-trial"
        )
        status, body = await bench.send(a_record(uid="trial-2", big_bin=bytes(4 << 20)), token)
        assert (status, "No space left" in body["error"]) == (507, True)
        assert [one["digest"] for one in await bench.listed()] == [a_record().digest]
        assert (await bench.send(a_record(uid="trial-2"), token))[0] == 200
        assert len(await bench.listed()) == 2


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
