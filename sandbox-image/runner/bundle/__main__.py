"""Entry of ``python -m bundle STEP FOLDER``: one step of the image build each."""

import sys
from collections.abc import Callable
from pathlib import Path

from bundle.bytecode import compile_beside_sources, replace_sources
from bundle.interpreter import lay_interpreter
from bundle.libraries import lay_libraries

INSTALLED_AT = Path("/proctor")
PACKAGES = INSTALLED_AT / "lib" / "python3" / "dist-packages"


def _replace(bundle: Path) -> None:
    replace_sources(bundle, bundle)


def _compile(packages: Path) -> None:
    compile_beside_sources(packages, PACKAGES)


STEPS: dict[str, Callable[[Path], None]] = {
    "interpreter": lay_interpreter,
    "libraries": lay_libraries,
    "replace-sources": _replace,
    "compile": _compile,
}


def main(arguments: list[str]) -> None:
    """Run the step that the first argument names on the folder that the second one names."""
    if len(arguments) != 2 or arguments[0] not in STEPS:
        raise SystemExit(f"usage: python -m bundle {{{','.join(STEPS)}}} FOLDER, got {arguments}")
    step, folder = arguments
    STEPS[step](Path(folder).absolute())


main(sys.argv[1:])
