"""``evalrun.json`` in a run's folder: what was asked for, so that the folder alone resumes it."""

import base64
import json
from pathlib import Path

from proctor.api.errors import SpecError, UserError
from proctor.local.files import write_json
from proctor.local.overrides import layer_of
from proctor.local.places import RunPlaces
from proctor.local.planned import PlannedRun, config_maps_body, layer_body
from proctor.planning.manifest import parse_spec
from proctor.planning.model import RunSource

_VERSION = 1


def write_source(places: RunPlaces, run: PlannedRun) -> None:
    """Write what was asked for."""
    source = run.source
    body = {
        "schemaVersion": _VERSION,
        "name": source.name,
        "seed": source.seed,
        "spec": source.spec.model_dump(mode="json", by_alias=True, exclude_unset=True),
        "overrides": None if source.overrides is None else layer_body(source.overrides),
        **config_maps_body(source),
        "script": run.script,
        "cassette": run.cassette,
    }
    write_json(places.source_file, body, 0o600)


def read_source(folder: Path) -> tuple[RunSource, str | None, str | None]:
    """The run, the text of its script and that of the cassette that it replays.

    Raises:
        UserError: When the folder is not one of a run, or of a newer Proctor.
    """
    path = RunPlaces(folder).source_file
    try:
        body = json.loads(path.read_bytes())
        overrides = None if body["overrides"] is None else layer_of(body["overrides"])
        source = RunSource(
            name=body["name"],
            spec=parse_spec(body["spec"]),
            seed=body["seed"],
            overrides=overrides,
            config_maps={
                name: {key: base64.b64decode(text) for key, text in held.items()}
                for name, held in body.get("configMaps", {}).items()
            },
        )
        return source, body["script"], body.get("cassette")
    except FileNotFoundError:
        raise UserError(f"{folder} is not the folder of a run: it has no {path.name}") from None
    except (OSError, ValueError, KeyError, TypeError, SpecError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
