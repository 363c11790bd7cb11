"""The runner for containers: the bundle of a runner image, laid once into the user's cache."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor import __version__
from proctor.local.engine import Engine, EngineError
from proctor.local.files import remove_tree
from proctor.local.planned import PlannedRun

RUNNER_IMAGE = f"proctor/runner:{__version__}"
"""As the documentation builds it; never fetched from anywhere."""

_BUNDLE = "/proctor"


def require_images(runs: Sequence[PlannedRun], engine: Engine) -> None:
    """See that the images of all tasks are here.

    Raises:
        EngineError: With all that are not, and how to get them.
    """
    cells = [cell for run in runs for cell in run.plan.cells.values()]
    images = sorted({cell.image for cell in cells if cell.image is not None})
    missing = [image for image in images if engine.image_id(image) is None]
    if missing:
        raise EngineError(
            "\n".join(
                f"the image {image} is not here: {engine.name} pull {image}" for image in missing
            )
        )


def lay_runner(engine: Engine, image: str, cache: Path) -> Path:
    """The folder of the bundle, made now when this image is new here.

    Raises:
        EngineError: When the image is not here, or is no runner image.
    """
    found = engine.image_id(image)
    if found is None:
        raise EngineError(
            f"the runner image {image} is not here: build it from Proctor's sources "
            f"({engine.name} build -f sandbox-image/runner/Dockerfile -t {RUNNER_IMAGE} .), or "
            "name another with --runner-image"
        )
    folder = cache / found
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=cache))
        try:
            engine.copy_out(image, _BUNDLE, made / "bundle")
            _require_runner(made / "bundle", image)
            os.rename(made / "bundle", folder)
        except OSError as error:
            if not folder.is_dir():  # another process was not faster either
                raise EngineError(f"{folder} cannot be made: {error.strerror}") from None
        finally:
            remove_tree(made)
    return folder


def runner_cache(environment: Mapping[str, str]) -> Path:
    """Where bundles are kept."""
    home = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "proctor" / "runners"


def _require_runner(bundle: Path, image: str) -> None:
    if not (bundle / "bin" / "python3").is_file():
        raise EngineError(f"{image} is no runner image: it has no {_BUNDLE}/bin/python3")
