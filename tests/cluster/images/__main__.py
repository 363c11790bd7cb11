"""Entry of ``python tests/cluster/images``: nothing is installed, so it finds its own package."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])

from cluster.images.cli import main  # noqa: E402 - the path has to be known first

sys.exit(main())
