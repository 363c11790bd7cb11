"""The cassette of a run that is recorded or replayed, wherever it stands."""

from pathlib import Path

from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import ModelsMode
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.record_file import may_be_replaced
from proctor.local.overrides import COMMAND_LINE
from proctor.local.script import ConfigMaps
from proctor.planning.cassette_rules import local_problems
from proctor.planning.model import RunSource

_FIELD = "spec.models.cassette"


def replayed_text(source: RunSource, config_maps: ConfigMaps) -> str | None:
    """The text of the cassette that answers; None when none does.

    Raises:
        SpecError: When it cannot be found or read, or is none.
    """
    models = source.spec.models
    problems = [source.places.locate(one) for one in local_problems(models)]
    if problems:
        raise SpecError(problems)
    if models is None or models.mode is not ModelsMode.REPLAY or models.cassette is None:
        return None
    named = models.cassette.config_map
    at = f"{_FIELD}.configMap" if named else f"{_FIELD}.file"
    try:
        if named is None:
            text = _read(_path(source))
        else:
            text = _of_config_map(config_maps, named.name, named.key)
        parse_cassette(text, at)
    except SpecError as error:
        raise SpecError([source.places.locate(one) for one in error.problems]) from None
    return text


def check_recording(source: RunSource) -> None:
    """See that a recording replaces nothing but another one.

    Raises:
        SpecError: When something else is there.
    """
    path = recorded_path(source, Path())
    models = source.spec.models
    if path is None or models is None or models.cassette is None:
        return
    try:
        if may_be_replaced(path):
            return
        why = "is there, and no cassette"
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
    problem = Problem(f"{_FIELD}.file", f"{path} {why}", "name another file")
    raise SpecError([source.places.locate(problem)])


def recorded_path(source: RunSource, folder: Path) -> Path | None:
    """Where a run is recorded: at the path that it names, else in its own folder; None: nowhere."""
    models = source.spec.models
    if models is None or models.mode is not ModelsMode.RECORD:
        return None
    if models.cassette is None or models.cassette.file is None:
        return folder / "cassette.yaml"
    return _path(source)


def _path(source: RunSource) -> Path:
    """A path is relative to the file that it stands in, or to the folder of the command line."""
    models = source.spec.models
    assert models is not None
    assert models.cassette is not None
    file = source.places.place(f"{_FIELD}.file").file
    beside = Path() if file in (None, COMMAND_LINE) else Path(file).parent
    return beside / (models.cassette.file or "")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problem = Problem(
            f"{_FIELD}.file", f"{path} cannot be read: {why}", "record it with --record FILE"
        )
        raise SpecError([problem]) from None


def _of_config_map(config_maps: ConfigMaps, name: str, key: str) -> str:
    text = config_maps.get(name, {}).get(key)
    if text is None:
        message = f"no file holds a ConfigMap {name!r} with the key {key!r}"
        remedy = "put it into the same file, or use --replay FILE"
        raise SpecError([Problem(f"{_FIELD}.configMap", message, remedy)])
    return text
