"""Entry of ``python tests/cluster/harness``: nothing is installed, so it finds its own package."""

import sys
from pathlib import Path

sys.path.pop(0)  # this folder, whose modules have common names
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cluster.harness.cli import main

sys.exit(main())
