"""The command line: builds images, prints where they are."""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cluster.images.base import bootstrapped_base, named_base
from cluster.images.buildah import Buildah
from cluster.images.builder import Builder
from cluster.images.cache import Cache
from cluster.images.catalog import CATALOG, choose
from cluster.images.context import take_context
from cluster.images.errors import ImagesError
from cluster.images.listing import chart_values, listing
from cluster.images.registries import write_registries

DESCRIPTION = """\
Build Proctor's images into archives for the test cluster, and print where each is, as JSON.

An image is built only when its Dockerfile, the files that it copies, or its base have changed; its
tag is a hash of these.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Build what is asked for; the exit code."""
    arguments = _parse(sys.argv[1:] if argv is None else argv)
    try:
        cache = Cache.from_environ(os.environ)
        with cache.locked():
            print(_build(arguments, cache))
    except ImagesError as error:
        _report(f"error: {error}")
        return 1
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python tests/cluster/images",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = ", ".join(image.name for image in CATALOG)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {names}; default: all")
    parser.add_argument("--registry", default="proctor.test", help="prefix of every image's name")
    parser.add_argument("--values", type=Path, help="file to write the chart's values to")
    parser.add_argument("--base", help="base image; default: a Debian made from its packages")
    parser.add_argument("--driver", default="overlay", help="buildah's storage driver")
    return parser.parse_args(argv)


def _build(arguments: argparse.Namespace, cache: Cache) -> str:
    images = choose(arguments.names)
    write_registries(cache.registries)
    buildah = Buildah(cache.storage, cache.registries, arguments.driver)
    base = (
        named_base(arguments.base, buildah)
        if arguments.base
        else bootstrapped_base(cache.bases, buildah)
    )
    with tempfile.TemporaryDirectory(prefix="context-", dir=cache.root) as folder:
        context = take_context(images, Path(folder))
        builder = Builder(cache, buildah, base, context, arguments.registry, _report)
        built = {image.name: builder.bring(image) for image in images}
    if arguments.values:
        arguments.values.parent.mkdir(parents=True, exist_ok=True)
        arguments.values.write_text(chart_values(built))
        _report(f"values for helm: {arguments.values}")
    return listing(built)


def _report(message: str) -> None:
    print(message, file=sys.stderr)
