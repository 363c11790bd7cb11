"""Gives children of the runner the loader variables that the launcher kept from it."""

import os

KEPT = "PROCTOR_KEPT_"

for kept in [name for name in os.environ if name.startswith(KEPT)]:
    os.environ[kept.removeprefix(KEPT)] = os.environ.pop(kept)
