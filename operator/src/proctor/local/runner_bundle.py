"""The runner for containers: the bundle of a runner image, laid once into the user's cache."""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from proctor import __version__
from proctor.local.engine import Engine, EngineError
from proctor.local.files import remove_tree
from proctor.local.planned import PlannedRun
from proctor.local.start import LOCK
from proctor.planning.reserved import RUNNER

RUNNER_IMAGE = f"proctor/runner:{__version__}"
"""As the documentation builds it; never fetched from anywhere."""


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
    try:
        with _alone(cache):
            if not folder.is_dir():
                _lay(engine, image, folder)
    except OSError as error:
        raise EngineError(f"{folder} cannot be made: {error.strerror}") from None
    return folder


def _lay(engine: Engine, image: str, folder: Path) -> None:
    """Make the folder, all of it at once."""
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        engine.copy_out(image, RUNNER, made / "bundle", folder.parent)
        _require_runner(made / "bundle", image)
        os.rename(made / "bundle", folder)
    finally:
        remove_tree(made)


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Within: no other process lays a runner; those that want to, wait."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / LOCK).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def runner_cache(environment: Mapping[str, str]) -> Path:
    """Where bundles are kept."""
    home = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "proctor" / "runners"


def _require_runner(bundle: Path, image: str) -> None:
    if not (bundle / "bin" / "python3").is_file():
        raise EngineError(f"{image} is no runner image: it has no {RUNNER}/bin/python3")
