"""``python -m proctor.controller --config FILE``: the operator."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from proctor.api.errors import UserError
from proctor.controller.kube.connection import find_connection
from proctor.controller.process import serve
from proctor.controller.settings import read_settings


def main() -> int:
    """Run until a signal ends it; 2 when the settings or the cluster cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m proctor.controller", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="settings, as the chart writes")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(
        level=logging.DEBUG if arguments.verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if not arguments.verbose:
        logging.getLogger("kopf").setLevel(logging.WARNING)  # it tells of every event
    try:
        settings, connection = read_settings(arguments.config), find_connection()
    except (OSError, ValueError, UserError) as error:
        print(f"proctor operator: {error}", file=sys.stderr)
        return 2
    asyncio.run(serve(settings, connection))
    return 0


if __name__ == "__main__":
    sys.exit(main())
