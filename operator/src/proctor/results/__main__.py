"""The results server as a process of its own: ``python -m proctor.results --config FILE``."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.api.errors import ProctorError, UserError
from proctor.results.config import ResultsConfig, read_config
from proctor.results.process import Listen, run_results
from proctor.serving.api_server import add_api_server, api_server
from proctor.serving.kube import ApiServer
from proctor.serving.logs import log_to_stderr

_LOGGER = logging.getLogger("proctor.results")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT; 0 then, 2 for a bad configuration, 1 for a failure of ours."""
    options = _parser().parse_args(argv)
    log_to_stderr()
    try:
        config = _config(options.config)
        server = api_server(options, os.environ)
        listen = Listen(options.host, options.upload_port, options.read_port, options.drain_seconds)
        asyncio.run(_run(config, server, listen))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (ProctorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _run(config: ResultsConfig, server: ApiServer, listen: Listen) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with run_results(config, server, listen, os.environ) as running:
        _LOGGER.info(
            "listening for trials on port %d, for people on port %d",
            running.upload_port,
            running.read_port,
        )
        await stop.wait()
        running.is_draining = True
        _LOGGER.info("draining")


def _config(path: Path) -> ResultsConfig:
    try:
        return read_config(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m proctor.results", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="configuration, YAML")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on")
    parser.add_argument("--upload-port", type=int, default=8080, help="for trials; 0: any")
    parser.add_argument("--read-port", type=int, default=8081, help="for people; 0: any")
    parser.add_argument(
        "--drain-seconds", type=float, default=25.0, help="for open requests at the end"
    )
    add_api_server(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
