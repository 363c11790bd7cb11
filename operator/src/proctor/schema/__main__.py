"""`python -m proctor.schema`: write everything that is generated; `--check` only compares."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.plugins.builtin import builtin_registry
from proctor.schema.generated import generated_files


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files below the root, or say which of them are out of date.

    Returns:
        0, or 1 when ``--check`` finds a file that differs.
    """
    parser = argparse.ArgumentParser(prog="python -m proctor.schema", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(), help="root of the repository")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on differences")
    options = parser.parse_args(arguments)
    files = generated_files(builtin_registry().catalog())
    if options.check:
        return _check(options.root, files)
    for path, text in files.items():
        target = options.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


def _check(root: Path, files: dict[str, str]) -> int:
    stale = [path for path, text in files.items() if not _equals(root / path, text)]
    for path in stale:
        print(f"{path} is out of date: run `make generate`", file=sys.stderr)
    return 1 if stale else 0


def _equals(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
