"""Layers of agent, limits and sandbox: run, task, variant, command line; merged with lineage.

A later layer wins field by field; ``agent.options`` are merged key by key at any depth,
``agent.env`` and ``agent.secretEnv`` by name; other lists and ``sandbox.egress`` are replaced. An
explicit null takes a field away. A layer that changes ``agent.type`` drops the options of the
layers below: they belong to another agent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from proctor.api.container import EnvVar
from proctor.api.secret_refs import SecretEnvVar, SecretKey
from proctor.api.task import AgentSpec, Limits, Sandbox
from proctor.planning.places import prefixes

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer.

    Args:
        name: What the lineage calls it: ``run``, ``task``, ``variant:NAME`` or ``cli``.
        base: Path of the object that holds it, such as ``spec.tasks[2]``; problems begin with it.
    """

    name: str
    base: str
    agent: AgentSpec | None = None
    limits: Limits | None = None
    sandbox: Sandbox | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Agent, limits and sandbox of one (task, variant).

    Args:
        agent_type: None when no layer names one.
        options: Merged, not checked yet.
        lineage: Dotted path of each field that a layer wrote → that layer's name.
        bases: Name of a layer → path of the object that holds it.
    """

    agent_type: str | None
    model: str | None
    options: Mapping[str, Any]
    env: Mapping[str, str]
    secret_env: Mapping[str, SecretKey]
    limits: Limits
    sandbox: Sandbox
    lineage: Mapping[str, str]
    bases: Mapping[str, str]

    def field(self, path: str) -> str:
        """Where ``path`` (such as ``agent.options.command``) was written, in the document.

        A field that nobody wrote is looked for where its neighbours were written, an agent's
        where its type was.
        """
        for prefix in prefixes(path):
            layer = self._writer("agent.type" if prefix == "agent" else prefix)
            if layer is not None:
                return f"{self.bases.get(layer, 'spec')}.{path}"
        return f"spec.{path}"

    def _writer(self, path: str) -> str | None:
        """The topmost layer that wrote the field or something in it."""
        writers = [
            layer
            for written, layer in self.lineage.items()
            if path and (written == path or written.startswith(f"{path}."))
        ]
        return writers[-1] if writers else None


def merge_layers(layers: Sequence[Layer]) -> Settings:
    """Merge, lowest layer first."""
    merged: dict[str, Any] = {"agent": {}, "limits": {}, "sandbox": {}}
    lineage: dict[str, str] = {}
    for layer in layers:
        written = _written(layer)
        _drop_foreign_options(merged["agent"], written["agent"], lineage)
        _drop_other_egress(merged["sandbox"], written["sandbox"], lineage)
        _merge(merged, written, layer.name, lineage)
    agent = merged["agent"]
    return Settings(
        agent_type=agent.get("type"),
        model=agent.get("model"),
        options=agent.get("options") or {},
        env=agent.get("env") or {},
        secret_env=agent.get("secretEnv") or {},
        limits=Limits.model_validate(merged["limits"]),
        sandbox=Sandbox.model_validate(merged["sandbox"]),
        lineage=lineage,
        bases={layer.name: layer.base for layer in layers},
    )


def _written(layer: Layer) -> dict[str, Any]:
    """What the layer says, by wire name; ``env`` and ``secretEnv`` by variable."""
    agent = _fields(layer.agent)
    if layer.agent is not None and "env" in agent:
        agent["env"] = _by_name(layer.agent.env)
    if layer.agent is not None and "secretEnv" in agent:
        agent["secretEnv"] = _refs_by_name(layer.agent.secret_env)
    return {"agent": agent, "limits": _fields(layer.limits), "sandbox": _fields(layer.sandbox)}


def _fields(model: BaseModel | None) -> dict[str, Any]:
    return {} if model is None else model.model_dump(by_alias=True, exclude_unset=True)


def _by_name(env: Sequence[EnvVar]) -> dict[str, str]:
    return {variable.name: variable.value for variable in env}


def _refs_by_name(env: Sequence[SecretEnvVar]) -> dict[str, SecretKey]:
    return {variable.name: variable.secret_ref for variable in env}


def _drop_foreign_options(
    below: dict[str, Any], above: Mapping[str, Any], lineage: dict[str, str]
) -> None:
    changed = above.get("type") not in (None, below.get("type"))
    if changed and below.get("type") is not None:
        below.pop("options", None)
        for path in [path for path in lineage if path.startswith("agent.options")]:
            del lineage[path]


def _drop_other_egress(
    below: dict[str, Any], above: Mapping[str, Any], lineage: dict[str, str]
) -> None:
    """Hosts belong to the mode beside them."""
    if "egress" in above:
        below.pop("egress", None)
        _forget(lineage, "sandbox.egress")


def _merge(
    below: dict[str, Any],
    above: Mapping[str, Any],
    layer: str,
    lineage: dict[str, str],
    path: str = "",
) -> None:
    for key, value in above.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            if not isinstance(below.get(key), dict):
                below[key] = {}
                _forget(lineage, here)
            _merge(below[key], value, layer, lineage, here)
        else:
            below[key] = value
            _forget(lineage, here)
            lineage[here] = layer


def _forget(lineage: dict[str, str], path: str) -> None:
    """Forget a field and all below it, so that the last writer also comes last."""
    for old in [old for old in lineage if old == path or old.startswith(f"{path}.")]:
        del lineage[old]
