"""The interpreter and the part of the standard library that a runner can use."""

import shutil
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

PACKAGES_LEFT_OUT = frozenset(
    {
        "_pyrepl", "curses", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter",
        "turtledemo", "venv", "wsgiref", "xmlrpc",
    }
)  # fmt: skip
MODULES_LEFT_OUT = frozenset(
    {
        "EXTERNALLY-MANAGED", "__phello__", "doctest.py", "mailbox.py", "pdb.py", "pydoc.py",
        "sitecustomize.py", "turtle.py",
    }
)  # fmt: skip
EXTENSIONS_LEFT_OUT = ("_ctypes_test", "_curses", "_dbm", "_test", "_xxtest", "readline", "xx")


def is_left_out(name: str) -> bool:
    """Say whether an entry of the standard library stays behind: tests, terminals, tools."""
    return (
        name == "__pycache__"
        or name in PACKAGES_LEFT_OUT
        or name in MODULES_LEFT_OUT
        or name.startswith("config-")
        or (name.endswith(".so") and name.startswith(EXTENSIONS_LEFT_OUT))
    )


def lay_interpreter(bundle: Path) -> None:
    """Copy the running interpreter to ``libexec/python`` and its library to ``lib/pythonX.Y``."""
    library = Path(sysconfig.get_path("stdlib"))
    executable = bundle / "libexec" / "python"
    executable.parent.mkdir(parents=True)
    shutil.copy(Path(sys.executable).resolve(), executable)
    shutil.copytree(library, bundle / "lib" / library.name, ignore=_left_out)


def _left_out(_folder: str, names: Iterable[str]) -> set[str]:
    return {name for name in names if is_left_out(name)}
