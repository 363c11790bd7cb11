"""The schema of a criterion: common fields, and the union of the built-in types' own.

Its item stays open: a plugin's fields are kept, and the operator refuses them by name if no type
knows them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.api.catalog import CatalogEntry
from proctor.schema.errors import SchemaError
from proctor.schema.structural import Node, Structure

_WIDEST = {"maxLength": max, "maxItems": max, "maximum": max}
_WIDEST |= {"minLength": min, "minItems": min, "minimum": min}


def criterion_fields(catalog: Iterable[CatalogEntry]) -> dict[str, Node]:
    """Fields of all criterion types by name, each description naming its types.

    Raises:
        SchemaError: When two types give one field two types.
    """
    found: dict[str, list[tuple[str, Node]]] = {}
    for entry in catalog:
        if entry.kind == "criterion":
            for name, node in _own_fields(entry).items():
                found.setdefault(name, []).append((entry.type, node))
    return {name: _united(name, uses) for name, uses in sorted(found.items())}


def _own_fields(entry: CatalogEntry) -> Mapping[str, Node]:
    structure = Structure(entry.options.get("$defs", {}), lambda _, node: node)
    node = structure.rewritten(entry.options, entry.type)
    fields: Mapping[str, Node] = node.get("properties", {})
    return fields


def _united(name: str, uses: list[tuple[str, Node]]) -> Node:
    """One schema for a field that several types may have. No default: not all types have it."""
    first = uses[0][1]
    for kind, node in uses[1:]:
        if _shape(node) != _shape(first):
            raise SchemaError(
                f"criterion field {name!r} is one thing in {uses[0][0]} and another in {kind}: "
                "rename one of them"
            )
    united = {key: value for key, value in first.items() if key not in ("default", "description")}
    for key in (*_WIDEST, "pattern"):
        united.pop(key, None)
        values = [node[key] for _, node in uses if key in node]
        if len(values) == len(uses) and (key in _WIDEST or len(set(values)) == 1):
            united[key] = _WIDEST[key](values) if key in _WIDEST else values[0]
    return {"description": _described(uses), **united}


def _shape(node: Node) -> Any:
    """What makes two fields the same thing: their types, without bounds and descriptions."""
    if not isinstance(node, dict):
        return node
    kept = ("type", "properties", "items", "nullable", "enum", "additionalProperties")
    return {
        key: {name: _shape(inner) for name, inner in value.items()}
        if key == "properties"
        else _shape(value)
        for key, value in node.items()
        if key in kept
    }


def _described(uses: list[tuple[str, Node]]) -> str:
    texts: dict[str, list[str]] = {}
    for kind, node in uses:
        texts.setdefault(node.get("description", ""), []).append(kind)
    return " ".join(f"{', '.join(kinds)}: {text}" for text, kinds in texts.items())
