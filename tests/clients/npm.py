"""Command lines from npm, in a cache by name and version."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

VERSIONS: Mapping[str, str] = {
    "@anthropic-ai/claude-code": "2.1.332",
    "@openai/codex": "0.171.0",
}
"""What each client does on an error is its version's: a new one may need new numbers."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Beside what the test cluster keeps."""
    given = environ.get("PROCTOR_TEST_CLUSTER_CACHE")
    home = Path(environ.get("HOME") or "/root")
    base = Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "proctor-test-cluster"
    return (Path(given) if given else base) / "npm"


def installed(package: str, command: str) -> Path:
    """The command of a package; it is installed at the first use."""
    version = VERSIONS[package]
    folder = cache_folder(os.environ) / f"{package.rpartition('/')[2]}-{version}"
    if not folder.exists():
        _install(f"{package}@{version}", folder)
    return folder / "node_modules" / ".bin" / command


def _install(spec: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".installing-"))
    try:
        options = ["--no-audit", "--no-fund", "--prefix", str(made)]
        result = subprocess.run(
            ["npm", "install", *options, spec], capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr[-2000:]
        if not folder.exists():
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
