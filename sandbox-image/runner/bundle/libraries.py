"""The shared libraries that the bundle's programs and extension modules load, and the loader."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

LOADER = "ld.so"
RESOLVED = re.compile(r"^\s*(?:\S+ => )?(?P<path>/\S+) \(0x[0-9a-f]+\)$")
MISSING = re.compile(r"^\s*(?P<name>\S+) => not found$")


class MissingLibraryError(Exception):
    """A file of the bundle needs a library that this system does not have."""


def needed_libraries(listing: str) -> tuple[Path, ...]:
    """Read what ``ldd`` prints; the loader is among the paths, the kernel's own object is not.

    Raises:
        MissingLibraryError: A library was not found.
    """
    paths = []
    for line in listing.splitlines():
        if missing := MISSING.match(line):
            raise MissingLibraryError(missing["name"])
        if resolved := RESOLVED.match(line):
            paths.append(Path(resolved["path"]))
    return tuple(paths)


def bundled_name(library: Path) -> str:
    """Name a library in the bundle; the loader's own name differs by architecture."""
    return LOADER if library.name.startswith("ld-linux") else library.name


def lay_libraries(bundle: Path) -> None:
    """Copy to ``lib`` what the interpreter and every extension module below ``bundle`` need.

    Extension modules of packages come with what only a debugger reads; it stays behind.
    """
    for module in bundle.rglob("*.so"):
        subprocess.run(["strip", "--strip-unneeded", module], check=True)
    for program in _programs(bundle):
        for library in _needed_by(program):
            if bundle not in library.parents:
                shutil.copy(library, bundle / "lib" / bundled_name(library))


def _programs(bundle: Path) -> Iterator[Path]:
    yield bundle / "libexec" / "python"
    yield from bundle.rglob("*.so")


def _needed_by(program: Path) -> tuple[Path, ...]:
    listing = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    try:
        return needed_libraries(listing)
    except MissingLibraryError as error:
        raise MissingLibraryError(
            f"{program} needs {error}, which is not installed; install its package before this step"
        ) from None
