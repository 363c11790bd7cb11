"""The egress proxy as a process of its own: ``python -m proctor.gateway.egress``.

It holds no key and no token of the API server: a process that connects wherever a trial says must
have nothing to give.
"""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path

from proctor.gateway.egress.server import real_world, running_proxy
from proctor.gateway.egress.tunnel import World
from proctor.serving.logs import log_to_stderr

_LOGGER = logging.getLogger("proctor.gateway.egress")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT; 0 then, 1 when the secret or the port cannot be used."""
    options = _parser().parse_args(argv)
    log_to_stderr()
    world = real_world(options.secret_file, options.cluster_range)
    try:
        world.secret()
        asyncio.run(_run(world, options.host, options.port))
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _run(world: World, host: str, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running_proxy(world, host, port) as listening:
        _LOGGER.info("listening on port %d", listening)
        await stop.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m proctor.gateway.egress", description=__doc__)
    parser.add_argument("--secret-file", type=Path, required=True, help="shared with the operator")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on")
    parser.add_argument("--port", type=int, default=3128, help="port to listen on; 0: any")
    parser.add_argument(
        "--cluster-range",
        type=lambda text: str(ip_network(text)),
        action="append",
        default=[],
        metavar="BLOCK",
        help="addresses of the cluster, such as 40.1.0.0/16; private ones are never connected to",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
