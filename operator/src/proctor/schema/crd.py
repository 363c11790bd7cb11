"""A kind → its CustomResourceDefinition."""

from collections.abc import Mapping
from typing import Any

from proctor.api.base import GROUP, VERSION
from proctor.schema.columns import COLUMNS
from proctor.schema.kinds import Kind
from proctor.schema.rules import ROOT_RULES, with_rules
from proctor.schema.structural import Node, structural


def custom_resource_definition(kind: Kind, criterion_fields: Mapping[str, Node]) -> Node:
    """The definition of a kind; ``criterion_fields`` are those of the built-in criteria."""
    singular = kind.name.lower()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": singular,
                "shortNames": [kind.short],
                "categories": ["proctor"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": list(COLUMNS[kind.name]),
                    "schema": {"openAPIV3Schema": root_schema(kind, criterion_fields)},
                }
            ],
        },
    }


def root_schema(kind: Kind, criterion_fields: Mapping[str, Node]) -> Node:
    """The structural schema of a whole object of this kind."""

    def finish(model: str, node: Node) -> Node:
        if model == "CriterionSpec":
            node = {**node, "properties": {**node["properties"], **criterion_fields}}
        return with_rules(model, node)

    return {
        "description": kind.about,
        "type": "object",
        "required": ["spec"],
        "x-kubernetes-validations": [rule.to_json() for rule in ROOT_RULES[kind.name]],
        "properties": {
            "apiVersion": {"description": f"{GROUP}/{VERSION}.", "type": "string"},
            "kind": {"description": f"{kind.name}.", "type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(kind.spec, finish),
            "status": without_defaults(structural(kind.status, finish)),
        },
    }


def without_defaults(node: Any) -> Any:
    """A schema without defaults: the operator writes a status, the API server adds nothing."""
    if isinstance(node, dict):
        return {
            key: without_defaults(value)
            for key, value in node.items()
            if key != "default" or isinstance(value, dict)
        }
    return [without_defaults(item) for item in node] if isinstance(node, list) else node
