"""Brings the wanted images into the cache: builds those whose inputs have changed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cluster.images.base import Base
from cluster.images.buildah import Buildah
from cluster.images.cache import Cache, outdated
from cluster.images.catalog import Image
from cluster.images.context import image_inputs
from cluster.images.digest import image_tag, tree_digest
from cluster.images.listing import Built

Report = Callable[[str], None]


def tag_of(image: Image, base: Base, context: Path) -> str:
    """Name the content of ``image``, built from ``context``."""
    inputs = tree_digest(context, image_inputs(image, context))
    return image_tag(base.digest, image.arguments, inputs)


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds from one context on one base, for one registry prefix."""

    cache: Cache
    buildah: Buildah
    base: Base
    context: Path
    registry: str
    report: Report

    def bring(self, image: Image) -> Built:
        """Return ``image`` as it has to be now; an unchanged one takes no time."""
        tag = tag_of(image, self.base, self.context)
        built = Built(
            f"{self.registry}/{image.name}:{tag}",
            self.cache.archive(self.registry, image.name, tag),
        )
        if built.archive.exists():
            self.report(f"unchanged: {built.reference}")
        else:
            self._build(image, built)
        built.archive.touch()
        self._drop_outdated(image, built.archive.parent)
        return built

    def _build(self, image: Image, built: Built) -> None:
        started, log = time.monotonic(), self.cache.log(image.name)
        self.report(f"building: {built.reference}")
        self.buildah.build(
            image, self.context, base=self.base.reference, reference=built.reference, log=log
        )
        self.buildah.save(built.reference, built.archive)
        size = built.archive.stat().st_size // 1_000_000
        self.report(f"built: {built.reference} in {time.monotonic() - started:.0f} s, {size} MB")

    @staticmethod
    def _drop_outdated(image: Image, folder: Path) -> None:
        archives = [(path.stat().st_mtime, path) for path in folder.glob(f"{image.name}-*.tar")]
        for path in outdated(archives):
            path.unlink()
