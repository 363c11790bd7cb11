"""ConfigMaps that workspaces name → files of the workspaces (pure).

Whoever plans hands in what the ConfigMaps hold; from then on their files are files like others.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from proctor.api.errors import Problem
from proctor.api.workspace import ConfigMapFiles, Workspace, WorkspaceFile
from proctor.planning.model import RunSource

ConfigMapData = Mapping[str, Mapping[str, bytes]]
"""What ConfigMaps hold: by name, then by key."""


def named_config_maps(source: RunSource) -> Iterator[tuple[str, str]]:
    """Path of each workspace that names a ConfigMap, and the name."""
    for field, workspace in _workspaces(source):
        if workspace is not None and workspace.config_map is not None:
            yield field, workspace.config_map.name


def missing_config_maps(source: RunSource) -> Iterator[Problem]:
    """Those that nobody handed in."""
    for field, name in named_config_maps(source):
        if name not in source.config_maps:
            yield Problem(
                f"{field}.configMap.name",
                f"there is no ConfigMap {name!r}",
                "make it in the run's namespace; for `proctor run`, put it into the same files",
            )


def config_maps_digest(source: RunSource) -> str:
    """SHA-256 over all that the named ConfigMaps hold; empty when none is named."""
    named = {name: source.config_maps.get(name, {}) for _, name in named_config_maps(source)}
    if not named:
        return ""
    texts = {
        name: {key: base64.b64encode(data).decode() for key, data in held.items()}
        for name, held in named.items()
    }
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def with_config_maps(source: RunSource) -> RunSource:
    """The run with files in the place of ConfigMaps; what is missing is left out."""
    if not any(named_config_maps(source)):
        return source
    spec = source.spec
    changed = {
        "tasks": tuple(
            task.model_copy(update={"workspace": _filled(task.workspace, source.config_maps)})
            for task in spec.tasks
        ),
        "variants": tuple(
            variant.model_copy(update={"workspace": _filled(variant.workspace, source.config_maps)})
            for variant in spec.variants
        ),
    }
    return replace(source, spec=spec.model_copy(update=changed))


def _filled(workspace: Workspace | None, held: ConfigMapData) -> Workspace | None:
    if workspace is None or workspace.config_map is None:
        return workspace
    found = held.get(workspace.config_map.name, {})
    below = tuple(_file(workspace.config_map, key, found[key]) for key in sorted(found))
    return workspace.model_copy(update={"files": (*below, *workspace.files)})


def _file(config_map: ConfigMapFiles, key: str, data: bytes) -> WorkspaceFile:
    """A file, not checked for the size of one in a manifest: all of a trial's are, together."""
    return WorkspaceFile.model_construct(
        path=str(PurePosixPath(config_map.path or ".") / key),
        content=None,
        content_base64=base64.b64encode(data).decode(),
        executable=False,
    )


def _workspaces(source: RunSource) -> Iterator[tuple[str, Workspace | None]]:
    for index, task in enumerate(source.spec.tasks):
        yield f"spec.tasks[{index}].workspace", task.workspace
    for index, variant in enumerate(source.spec.variants):
        yield f"spec.variants[{index}].workspace", variant.workspace
