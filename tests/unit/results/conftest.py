import pytest_asyncio

from builders_results import a_results_bench


@pytest_asyncio.fixture
async def bench(tmp_path):
    """A server that serves, beside a fake API server."""
    async with a_results_bench(tmp_path) as bench, bench.serving():
        await bench.ready()
        yield bench


@pytest_asyncio.fixture
async def stopped(tmp_path):
    """The same, before it was started."""
    async with a_results_bench(tmp_path) as bench:
        yield bench
