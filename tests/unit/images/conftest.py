"""The package that lays the runner's bundle runs in image builds, so nothing installs it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "sandbox-image" / "runner"))
