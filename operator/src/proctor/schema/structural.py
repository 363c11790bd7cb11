"""Pydantic's JSON Schema → a structural schema, as a CustomResourceDefinition wants it.

References are inlined, null-unions become ``nullable``, constants one-value enums, exclusive bounds
booleans; ``title``, ``discriminator``, null, list and object defaults and
``additionalProperties: false`` are dropped. What cannot be said structurally fails the build.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from proctor.schema.errors import SchemaError

Node = dict[str, Any]

_KEPT = {
    "type",
    "description",
    "default",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "maxProperties",
    "format",
    "required",
}
_DROPPED = {"title", "discriminator", "$defs"}
_READ = {"$ref", "allOf", "anyOf", "const", "items", "properties", "additionalProperties"}
_READ |= {
    "propertyNames",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "uniqueItems",
    "x-kubernetes-list-type",
}

_OPEN: Node = {"x-kubernetes-preserve-unknown-fields": True}

Finish = Callable[[str, Node], Node]
"""Adds to the schema of a model what pydantic cannot say; gets the model's name."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Rewrites schemas that share their definitions."""

    definitions: Mapping[str, Node]
    finish: Finish

    def rewritten(self, node: Mapping[str, Any], path: str) -> Node:
        """The structural form of ``node``; ``path`` names it in errors."""
        if "$ref" in node:
            return self._referred(node, path)
        if "allOf" in node and len(node["allOf"]) == 1:
            return self.rewritten({**node["allOf"][0], **_without(node, "allOf")}, path)
        if "anyOf" in node:
            return self._nullable(node, path)
        unknown = set(node) - _KEPT - _DROPPED - _READ
        if unknown or "allOf" in node:
            raise SchemaError(f"{path}: {sorted(unknown)} cannot be said in a structural schema")
        return self._plain(node, path)

    def _referred(self, node: Mapping[str, Any], path: str) -> Node:
        name = node["$ref"].rpartition("/")[2]
        inner = self.rewritten(self.definitions[name], path)
        return self.finish(name, {**inner, **_tidied(_without(node, "$ref"))})

    def _nullable(self, node: Mapping[str, Any], path: str) -> Node:
        branches = [branch for branch in node["anyOf"] if branch.get("type") != "null"]
        if len(branches) != 1:
            raise SchemaError(f"{path}: a union of {len(branches)} types is not structural")
        inner = self.rewritten({**branches[0], **_without(node, "anyOf")}, path)
        # An enum would have to list null as well: such a field is simply left out.
        return inner if "enum" in inner else {**inner, "nullable": True}

    def _plain(self, node: Mapping[str, Any], path: str) -> Node:
        result = _tidied(node)
        if "const" in node:
            result["enum"] = [node["const"]]
        for bound, name in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if bound in node:
                result |= {name: node[bound], bound: True}
        if node.get("type") == "array":
            result["items"] = self.rewritten(node["items"], f"{path}[]")
            unique = "set" if node.get("uniqueItems") else "atomic"
            result["x-kubernetes-list-type"] = node.get("x-kubernetes-list-type", unique)
        if "properties" in node:
            result["properties"] = {
                name: self.rewritten(value, f"{path}.{name}")
                for name, value in node["properties"].items()
            }
        elif isinstance(extra := node.get("additionalProperties"), dict):
            values = self.rewritten(extra, f"{path}.*")
            result |= values if values == _OPEN else {"additionalProperties": values}
        if _is_open(node):
            result |= _OPEN
        return result


def structural(model: type[BaseModel], finish: Finish) -> Node:
    """The structural schema of a model."""
    schema = model.model_json_schema(by_alias=True)
    structure = Structure(schema.get("$defs", {}), finish)
    name = model.__name__
    return finish(name, structure.rewritten(schema, name))


def _is_open(node: Mapping[str, Any]) -> bool:
    """Whether an object, or a value of any type, keeps fields that no schema names."""
    if "type" not in node and "const" not in node and "enum" not in node:
        return True
    return node.get("type") == "object" and node.get("additionalProperties") is True


def _tidied(node: Mapping[str, Any]) -> Node:
    """The keywords that stay as they are, without defaults that would only be noise."""
    kept = {key: value for key, value in node.items() if key in _KEPT}
    if "default" in kept and (kept["default"] is None or isinstance(kept["default"], list | dict)):
        del kept["default"]
    return kept


def _without(node: Mapping[str, Any], key: str) -> Node:
    return {name: value for name, value in node.items() if name != key}
