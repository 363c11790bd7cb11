"""The gateway as a process of its own: ``python -m proctor.gateway --config FILE``."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.api.errors import ProctorError, UserError
from proctor.gateway.config import GatewayConfig, read_config
from proctor.gateway.memory import settle
from proctor.gateway.process import Folders, Listen, run_gateway
from proctor.serving.api_server import add_api_server, api_server
from proctor.serving.kube import ApiServer
from proctor.serving.logs import log_to_stderr

_LOGGER = logging.getLogger("proctor.gateway")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT; 0 then, 2 for a bad configuration, 1 for a failure of ours."""
    options = _parser().parse_args(argv)
    log_to_stderr()
    logging.getLogger("proctor").setLevel(logging.DEBUG if options.verbose else logging.INFO)
    try:
        config = _config(options.config)
        server = api_server(options, os.environ)
        listen = Listen(
            host=options.host,
            port=options.port,
            probe_port=options.probe_port,
            canary_port=options.canary_port,
            drain_seconds=options.drain_seconds,
        )
        folders = Folders(options.ledger_dir, options.cassette_dir)
        asyncio.run(_run(config, server, listen, folders))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (ProctorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _run(config: GatewayConfig, server: ApiServer, listen: Listen, folders: Folders) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with run_gateway(config, server, listen, folders, os.environ) as running:
        settle()
        ports = (running.port, running.probe_port, running.canary_port)
        _LOGGER.info("listening on port %d, for probes on %d, as a canary on %d", *ports)
        await stop.wait()
        running.drain()
        _LOGGER.info("draining")


def _config(path: Path) -> GatewayConfig:
    try:
        return read_config(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m proctor.gateway", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="configuration, YAML")
    parser.add_argument("--verbose", action="store_true", help="log every call")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on")
    parser.add_argument("--port", type=int, default=8080, help="port for trials; 0: any")
    parser.add_argument("--probe-port", type=int, default=8081, help="health, metrics; 0: any")
    parser.add_argument(
        "--canary-port", type=int, default=8082, help="port that no trial may reach; 0: any"
    )
    parser.add_argument("--ledger-dir", type=Path, help="folder that the ledger is kept in")
    parser.add_argument("--cassette-dir", type=Path, help="folder with cassettes of namespaces")
    parser.add_argument(
        "--drain-seconds", type=float, default=25.0, help="for open calls at the end"
    )
    add_api_server(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
