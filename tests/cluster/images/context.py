"""The build context: a copy of what the images are made of, so edits meanwhile do not mix in."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from cluster.images.catalog import REPOSITORY, Image
from cluster.images.dockerfile import copied_paths
from cluster.images.errors import ImagesError

NOT_COPIED = "__pycache__"


def image_inputs(image: Image, root: Path) -> tuple[str, ...]:
    """List the paths below ``root`` that decide the content of ``image``, sorted."""
    copied = copied_paths((root / image.dockerfile).read_text())
    return tuple(sorted({image.dockerfile, *copied}))


def take_context(images: Iterable[Image], target: Path, repository: Path = REPOSITORY) -> Path:
    """Copy the inputs of all ``images`` to ``target``, as they are now, with their times.

    Raises:
        ImagesError: A Dockerfile copies what does not exist.
    """
    for path in {path for image in images for path in image_inputs(image, repository)}:
        source, copy = repository / path, target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns(NOT_COPIED)
            shutil.copytree(source, copy, ignore=ignored, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy2(source, copy)
        else:
            raise ImagesError(f"{source} does not exist, but a Dockerfile copies it; create it")
    return target
