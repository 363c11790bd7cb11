"""JSON Schema of a whole manifest, for editors: completion, descriptions, each type's fields."""

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.api.base import API_VERSION, GROUP, VERSION
from proctor.api.catalog import CatalogEntry
from proctor.schema.kinds import Kind

Node = dict[str, Any]

_METADATA: Node = {
    "type": "object",
    "description": "Name, namespace, labels and annotations.",
    "properties": {
        "name": {"type": "string", "maxLength": 40, "description": "Name of the run."},
        "generateName": {
            "type": "string",
            "maxLength": 35,
            "description": "Beginning of the name; the API server adds five characters.",
        },
        "namespace": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def manifest_schema(kind: Kind, catalog: Iterable[CatalogEntry]) -> Node:
    """The schema of a manifest of this kind; ``catalog`` is that of the built-ins."""
    spec = kind.spec.model_json_schema(by_alias=True, ref_template="#/$defs/{model}")
    definitions: dict[str, Node] = dict(spec.pop("$defs", {}))
    entries = tuple(catalog)
    if "CriterionSpec" in definitions:
        definitions["CriterionSpec"] = _criterion(
            definitions["CriterionSpec"], entries, definitions
        )
    if "AgentSpec" in definitions:
        definitions["AgentSpec"] = _agent(definitions["AgentSpec"], entries)
    if "tasksFrom" in spec["properties"]:
        spec["anyOf"] = [{"required": ["tasks"]}, {"required": ["tasksFrom"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://{GROUP}/schemas/{VERSION}/{kind.name.lower()}.json",
        "title": kind.name,
        "description": kind.about,
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": kind.name},
            "metadata": _METADATA,
            "spec": spec,
            "status": {"type": "object", "description": "Written by the operator."},
        },
        "$defs": dict(sorted(definitions.items())),
    }


def _criterion(common: Node, entries: Iterable[CatalogEntry], definitions: dict[str, Node]) -> Node:
    """The common fields, and for each known type its own: nothing else is allowed there."""
    cases = list[Node]()
    types = list[str]()
    for entry in entries:
        if entry.kind == "criterion":
            definitions |= {
                name: _renamed(value) for name, value in entry.options.get("$defs", {}).items()
            }
            types.append(entry.type)
            cases.append(_case(entry, common))
    kind = {**common["properties"]["type"], "examples": types}
    return {
        **common,
        "properties": {**common["properties"], "type": kind},
        "allOf": cases,
    }


def _case(entry: CatalogEntry, common: Mapping[str, Any]) -> Node:
    own = {name: _renamed(value) for name, value in entry.options.get("properties", {}).items()}
    return {
        "if": {"properties": {"type": {"const": entry.type}}, "required": ["type"]},
        "then": {
            "description": entry.options.get("description", ""),
            "properties": {**dict.fromkeys(common["properties"], True), **own},
            "required": entry.options.get("required", []),
            "additionalProperties": False,
        },
    }


def _agent(agent: Node, entries: Iterable[CatalogEntry]) -> Node:
    types = [entry.type for entry in entries if entry.kind == "agent"]
    kind = {**agent["properties"]["type"], "examples": types}
    return {**agent, "properties": {**agent["properties"], "type": kind}}


def _renamed(node: Any) -> Any:
    """A copy without titles, which editors would show in place of descriptions."""
    if isinstance(node, dict):
        return {
            key: _renamed(value)
            for key, value in node.items()
            if key != "title" or not isinstance(value, str)
        }
    return [_renamed(item) for item in node] if isinstance(node, list) else node
