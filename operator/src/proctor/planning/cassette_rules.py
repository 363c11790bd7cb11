"""What holds for cassettes: which mode needs one, and where it may stand (pure)."""

from collections.abc import Iterator

from proctor.api.errors import Problem
from proctor.api.evalrun import Cassette, Models, ModelsMode

_FIELD = "spec.models.cassette"
_PLACES = "give exactly one of configMap, volume and file"
_USING = (ModelsMode.RECORD, ModelsMode.REPLAY)


def cassette_problems(models: Models) -> Iterator[Problem]:
    """What is wrong wherever the run is carried out."""
    cassette = models.cassette
    if models.mode not in _USING:
        if cassette is not None:
            message = f"mode {models.mode.value} uses no cassette"
            yield Problem(_FIELD, message, "set mode: Record or Replay, or remove the cassette")
        return
    if cassette is None:
        if models.mode is ModelsMode.REPLAY:
            yield Problem(_FIELD, "mode Replay needs a cassette", _PLACES)
        return
    if len(_given(cassette)) != 1:
        yield Problem(_FIELD, "a cassette stands in exactly one place", _PLACES)
    if models.mode is ModelsMode.RECORD and cassette.config_map is not None:
        remedy = "record to a file or volume, and make a ConfigMap of it"
        yield Problem(f"{_FIELD}.configMap", "nothing is recorded to a ConfigMap", remedy)
    if cassette.volume is not None and ".." in cassette.volume.path.split("/"):
        yield Problem(f"{_FIELD}.volume.path", "has `..` in it", "write a path below the folder")


def cluster_problems(models: Models | None) -> Iterator[Problem]:
    """What a cluster cannot do."""
    if models is None or models.mode not in _USING:
        return
    cassette = models.cassette
    if cassette is not None and cassette.file is not None:
        remedy = "put it into a ConfigMap (configMap), or onto the gateway's volume (volume)"
        yield Problem(f"{_FIELD}.file", "a cluster reads no file of your machine", remedy)
    elif models.mode is ModelsMode.RECORD and (cassette is None or cassette.volume is None):
        yield Problem(_FIELD, "mode Record needs a place", "give cassette.volume.path")


def local_problems(models: Models | None) -> Iterator[Problem]:
    """What ``proctor run`` cannot do."""
    if models is not None and models.cassette is not None and models.cassette.volume is not None:
        remedy = "use --record FILE or --replay FILE, or cassette.file"
        yield Problem(f"{_FIELD}.volume", "the gateway's volume is in a cluster", remedy)


def _given(cassette: Cassette) -> list[str]:
    places = {"configMap": cassette.config_map, "volume": cassette.volume, "file": cassette.file}
    return [name for name, value in places.items() if value is not None]
