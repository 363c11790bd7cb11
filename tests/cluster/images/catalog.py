"""Which images there are, and what each is built from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cluster.images.errors import ImagesError

REPOSITORY = Path(__file__).resolve().parents[3]
CONTROL_PLANE = "operator/Dockerfile"


@dataclass(frozen=True, slots=True)
class Image:
    """One image: its short name, its Dockerfile below the repository, its build arguments."""

    name: str
    dockerfile: str
    arguments: Mapping[str, str] = field(default_factory=dict)


CATALOG = (
    Image("operator", CONTROL_PLANE, {"EXTRA": "operator", "MODULE": "proctor.controller"}),
    Image("gateway", CONTROL_PLANE, {"EXTRA": "gateway,otlp", "MODULE": "proctor.gateway"}),
    Image("results", CONTROL_PLANE, {"EXTRA": "results", "MODULE": "proctor.results"}),
    Image("runner", "sandbox-image/runner/Dockerfile"),
    Image("default", "sandbox-image/default/Dockerfile"),
    Image("busybox", "tests/cluster/images/busybox/Dockerfile"),
    Image("musl", "tests/cluster/images/musl/Dockerfile"),
    Image("testbed", "tests/cluster/images/testbed/Dockerfile"),
)


def choose(names: Sequence[str], catalog: Sequence[Image] = CATALOG) -> tuple[Image, ...]:
    """Pick images by name, in the catalog's order; no names at all mean every image.

    Raises:
        ImagesError: A name is not in the catalog.
    """
    known = [image.name for image in catalog]
    if unknown := [name for name in names if name not in known]:
        raise ImagesError(f"no image is called {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(image for image in catalog if not names or image.name in names)
