"""The reference page of a kind: one table for each object, from the same models."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proctor.api.base import API_VERSION
from proctor.api.catalog import CatalogEntry
from proctor.api.conditions import CONDITIONS
from proctor.schema.kinds import Kind

_BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "pattern": "`{}`",
}

Node = Mapping[str, Any]


def reference_page(kind: Kind, catalog: Iterable[CatalogEntry]) -> str:
    """The page in Markdown; conditions and criterion types stand on the page of the EvalRun."""
    lines = [f"# {kind.name}", "", kind.about, "", f"`{API_VERSION}`, short name `{kind.short}`."]
    for title, model in (("spec", kind.spec), ("status", kind.status)):
        schema = _with_plain_inlined(model.model_json_schema(by_alias=True))
        lines += ["", f"## {title}", "", *_table(schema)]
        for name, node in schema.get("$defs", {}).items():
            if "properties" in node:
                lines += ["", f"### {name}", "", *_intro(node), *_table(node)]
    if kind.name == "EvalRun":
        lines += ["", "## Conditions", *_conditions(), *_types(tuple(catalog))]
    return "\n".join(lines)


def _with_plain_inlined(schema: Node) -> Node:
    """The schema with references only to objects: an enum or a plain value needs no section."""
    plain = {
        f"#/$defs/{name}": node
        for name, node in schema.get("$defs", {}).items()
        if "properties" not in node
    }

    def inlined(node: Any) -> Any:
        if isinstance(node, dict):
            around = {key: inlined(value) for key, value in node.items() if key != "$ref"}
            reference = node.get("$ref")
            if reference in plain:
                return {**plain[reference], **around}
            return around if reference is None else {"$ref": reference, **around}
        return [inlined(item) for item in node] if isinstance(node, list) else node

    result: Node = inlined(schema)
    return result


def _intro(node: Node) -> list[str]:
    text = " ".join(str(node.get("description", "")).split())
    return [text, ""] if text else []


def _table(node: Node) -> Iterator[str]:
    properties = node.get("properties", {})
    if not properties:
        yield "It has no fields."
        return
    yield "| Field | Type | Bounds | Default | Description |"
    yield "|---|---|---|---|---|"
    for name, field in properties.items():
        shown = f"`{name}`" + (" (required)" if name in node.get("required", []) else "")
        cells = (shown, _type(field), _bounds(field), _default(field), _text(field))
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _inner(field: Node) -> Node:
    """The field without null: absence is said by the description."""
    branches = [branch for branch in field.get("anyOf", []) if branch.get("type") != "null"]
    return {**field, **branches[0]} if branches else field


def _type(field: Node) -> str:
    inner = _inner(field)
    if "$ref" in inner:
        name = inner["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in inner:
        return ", ".join(f"`{value}`" for value in inner["enum"])
    if "const" in inner:
        return f"`{inner['const']}`"
    if inner.get("type") == "array":
        return f"list of {_type(inner['items'])}"
    return str(inner.get("type", "any"))


def _bounds(field: Node) -> str:
    inner = _inner(field)
    parts = [text.format(inner[key]) for key, text in _BOUNDS.items() if key in inner]
    items = inner.get("items", {})
    parts += [f"each {text.format(items[key])}" for key, text in _BOUNDS.items() if key in items]
    return ", ".join(parts)


def _default(field: Node) -> str:
    default = field.get("default")
    if default is None or default in ([], {}) or isinstance(default, dict):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _text(field: Node) -> str:
    return " ".join(str(_inner(field).get("description", "")).split())


def _conditions() -> Iterator[str]:
    for kind, meaning in CONDITIONS.items():
        yield from ("", f"### {kind}", "")
        yield f"* **True**: {meaning.true}"
        yield f"* **False**: {meaning.false}"
        yield f"* **Unknown**: {meaning.unknown}"
        yield f"* **Absent**: {meaning.absent}"
        yield from ("", "| Reason | Meaning |", "|---|---|")
        for reason, text in meaning.reasons.items():
            yield f"| `{reason}` | {text} |"


def _types(catalog: tuple[CatalogEntry, ...]) -> Iterator[str]:
    for kind, title in (("criterion", "Criterion types"), ("agent", "Agent types")):
        yield from ("", f"## {title}")
        for entry in catalog:
            if entry.kind == kind:
                yield from ("", f"### `{entry.type}`", "")
                options = _with_plain_inlined(entry.options)
                yield from (*_intro(options), *_table(options))
                for name, node in options.get("$defs", {}).items():
                    if "properties" in node:
                        yield from ("", f"#### {name}", "", *_intro(node), *_table(node))
