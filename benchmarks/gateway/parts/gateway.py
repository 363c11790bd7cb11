"""Proctor's gateway in front of the fake provider, as in a cluster: prices, ledger, metrics, log.

Prints its port and a key.
"""

import asyncio
import json
import logging
import sys
import tempfile
from pathlib import Path

from proctor.gateway.account import Account
from proctor.gateway.embed import LocalGateway
from proctor.gateway.memory import settle
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.report import Report
from proctor.metrics.gateway import GatewayMetrics
from proctor.pricing import Prices
from proctor.serving.logs import log_to_stderr
from proctor.wire.formats import OPENAI_CHAT


async def main(upstream: str) -> None:
    log_to_stderr()
    logging.getLogger("proctor").setLevel(logging.INFO)
    provider = Provider("fake", (OPENAI_CHAT,), f"{upstream}/v1", FixedKey("sk-fake"))
    watch = Report(GatewayMetrics(), Prices())
    with tempfile.TemporaryDirectory() as folder:
        async with LocalGateway([provider], ledger_dir=Path(folder), watch=watch) as gateway:
            key = gateway.admit(Account("trial", 1)).agent
            Prices().is_priced("")
            settle()
            port = int(gateway.url.rpartition(":")[2])
            sys.stdout.write(json.dumps({"port": port, "key": key}) + "\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
