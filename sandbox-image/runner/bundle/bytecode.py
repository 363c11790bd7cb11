"""Compiled modules that never look at their source again, so a copy stays valid.

A copy of the bundle has new timestamps and often a read-only place: modules that check their
source's time would be compiled again at every start.
"""

import compileall
import py_compile
from pathlib import Path


class CompileError(Exception):
    """A module of the bundle does not compile."""


def compile_beside_sources(tree: Path, installed_at: Path) -> None:
    """Compile ``tree`` into its ``__pycache__`` folders; tracebacks name ``installed_at``."""
    _compile(tree, installed_at, legacy=False)


def replace_sources(tree: Path, installed_at: Path) -> None:
    """Put a compiled module in the place of each source: half the size, and faster to find."""
    _compile(tree, installed_at, legacy=True)
    for source in tree.rglob("*.py"):
        source.unlink()


def _compile(tree: Path, installed_at: Path, *, legacy: bool) -> None:
    done = compileall.compile_dir(
        tree,
        maxlevels=20,
        quiet=1,
        force=True,
        legacy=legacy,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        stripdir=str(tree),
        prependdir=str(installed_at),
    )
    if not done:
        raise CompileError(f"{tree}: modules do not compile, see above; leave them out or fix them")
