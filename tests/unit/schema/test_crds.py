"""What the generated definitions promise, checked on the definitions themselves."""

from typing import Any

import pytest

from proctor.api.evalrun import EvalRunSpec
from proctor.plugins.builtin import builtin_registry
from proctor.schema.crd import custom_resource_definition
from proctor.schema.criteria import criterion_fields
from proctor.schema.kinds import KINDS

ALLOWED = {
    "type",
    "description",
    "default",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "maxProperties",
    "additionalProperties",
    "required",
    "nullable",
    "properties",
    "items",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}
FIELDS = criterion_fields(builtin_registry().catalog())
CRDS = {kind.name: custom_resource_definition(kind, FIELDS) for kind in KINDS}
_AS_IN_KUBERNETES = (
    "affinity.nodeAffinity",
    "affinity.podAffinity",
    "affinity.podAntiAffinity",
    "topologySpreadConstraints[].labelSelector",
)
OPEN = {
    *(
        f"{owner}.sandbox.podTemplate.{field}"
        for owner in ("spec", "spec.tasks[]", "spec.variants[]")
        for field in _AS_IN_KUBERNETES
    ),
    "spec.agent.options",
    "spec.tasks[].agent.options",
    "spec.variants[].agent.options",
    "spec.criteria[]",
    "spec.tasks[].criteria[]",
    "spec.criteria[].jsonSchema",
    "spec.tasks[].criteria[].jsonSchema",
    "spec.criteria[].assertions[].expected",
    "spec.tasks[].criteria[].assertions[].expected",
}


def root(kind):
    return CRDS[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def nodes(node: dict[str, Any], path: str = ""):
    """Every schema in a schema, with its path."""
    yield path, node
    for name, inner in node.get("properties", {}).items():
        yield from nodes(inner, f"{path}.{name}".lstrip("."))
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")


def all_nodes():
    return [(kind, path, node) for kind in CRDS for path, node in nodes(root(kind))]


def test_schemas_are_structural():
    for kind, path, node in all_nodes():
        assert set(node) <= ALLOWED, (kind, path)
        assert "type" in node or node.get("x-kubernetes-preserve-unknown-fields"), (kind, path)


def test_every_field_is_described():
    described = [
        (kind, path)
        for kind, path, node in all_nodes()
        if not path.endswith("]") and path != "metadata" and not node.get("description")
    ]
    assert described == []


def test_everything_that_people_write_is_bounded():
    for kind, path, node in all_nodes():
        if path.startswith("spec") and node.get("type") == "string":
            assert "maxLength" in node or "enum" in node, (kind, path)
        if node.get("type") == "array":
            assert "maxItems" in node, (kind, path)


def test_only_what_plugins_bring_and_the_api_server_checks_is_open():
    assert {
        path for _, path, node in all_nodes() if node.get("x-kubernetes-preserve-unknown-fields")
    } == OPEN


def test_a_status_has_no_defaults():
    assert [
        path for _, path, node in all_nodes() if path.startswith("status") and "default" in node
    ] == []


def test_overlays_have_no_defaults_that_would_hide_a_lower_layer():
    parts = (
        "spec.variants[].",
        "spec.tasks[].agent",
        "spec.tasks[].limits",
        "spec.tasks[].sandbox",
    )
    defaults = [
        path.removesuffix(".executable").removesuffix(".value")
        for _, path, node in all_nodes()
        if path.startswith(parts) and "default" in node
    ]
    assert {path.rpartition(".")[2] for path in defaults} <= {"files[]", "env[]"}


def test_an_exclusive_bound_takes_the_boolean_form():
    money = root("EvalRun")["properties"]["spec"]["properties"]["limits"]["properties"]["maxUsd"]
    assert (money["minimum"], money["exclusiveMinimum"], money["nullable"]) == (0.0, True, True)


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        pytest.param("spec.tasks", ["name"], id="tasks"),
        pytest.param("spec.variants", ["name"], id="variants"),
        pytest.param("spec.agent.env", ["name"], id="variables"),
        pytest.param("spec.agent.secretEnv", ["name"], id="secret-variables"),
        pytest.param("status.conditions", ["type"], id="conditions"),
    ],
)
def test_lists_whose_items_have_names_are_maps(path, keys):
    node = dict(nodes(root("EvalRun")))[path]
    assert node["x-kubernetes-list-type"] == "map"
    assert node["x-kubernetes-list-map-keys"] == keys
    assert set(keys) <= set(node["items"]["required"])


def test_a_started_run_may_change_only_four_fields():
    rules = [rule["rule"] for rule in root("EvalRun")["x-kubernetes-validations"]]
    (rule,) = [rule for rule in rules if "startTime" in rule]
    named = {
        name
        for name in (field.alias for field in EvalRunSpec.model_fields.values())
        if f"has(self.spec.{name})" in rule
    }
    everything = {field.alias for field in EvalRunSpec.model_fields.values()}
    assert everything - named == {
        "suspend",
        "cancelled",
        "parallelism",
        "ttlSecondsAfterFinished",
    }


def test_a_field_that_a_rule_asks_for_is_never_null():
    found = dict(nodes(root("EvalRun")))
    assert "nullable" not in found["spec.tasks[].workspace.files[].content"]
    assert "nullable" not in dict(nodes(root("EvalTrial")))["status.outcome"]


def test_every_rule_tells_what_is_wrong():
    for kind, path, node in all_nodes():
        for rule in node.get("x-kubernetes-validations", []):
            assert rule["message"], (kind, path)


def test_criteria_have_the_fields_of_all_built_in_types():
    item = dict(nodes(root("EvalRun")))["spec.tasks[].criteria[]"]
    assert {"type", "name", "weight", "passThreshold", "path", "command"} <= set(item["properties"])
    assert item["required"] == ["type"]
    command = item["properties"]["command"]
    assert command["description"].startswith("run_command: ")
    assert "default" not in item["properties"]["timeoutSeconds"]


def test_columns_are_those_of_the_design():
    columns = {
        kind: [column["name"] for column in crd["spec"]["versions"][0]["additionalPrinterColumns"]]
        for kind, crd in CRDS.items()
    }
    assert columns["EvalRun"] == [
        "Status",
        "Passed",
        "Total",
        "Score",
        "Cost",
        "Gate",
        "Scripted",
        "Agent",
        "Age",
    ]
    assert columns["EvalTrial"][:7] == [
        "Run",
        "Task",
        "Variant",
        "Repeat",
        "Outcome",
        "Score",
        "Cost",
    ]


def test_columns_point_at_fields_that_exist():
    for kind, crd in CRDS.items():
        known = {path for path, _ in nodes(root(kind))}
        for column in crd["spec"]["versions"][0]["additionalPrinterColumns"]:
            path = column["jsonPath"].lstrip(".")
            assert path in known or path == "metadata.creationTimestamp"


def test_names_are_short_and_in_one_category():
    names = {kind: crd["spec"]["names"] for kind, crd in CRDS.items()}
    assert [name["shortNames"] for name in names.values()] == [["evr"], ["evt"]]
    assert {tuple(name["categories"]) for name in names.values()} == {("proctor",)}
