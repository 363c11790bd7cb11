"""The chart's files as documents; what Helm makes of them is tested on the cluster."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

import proctor

CHART = Path(__file__).parents[2] / "charts" / "proctor"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
NAMES = ("operator", "gateway", "results", "runner", "task")
IMAGES = {name: f"images.test/{name}:1" for name in NAMES}
INSTALLED = {**VALUES, "images": {**VALUES["images"], **IMAGES}}
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def rules(name):
    """The RBAC rules that a template of this name defines."""
    text = (CHART / "templates" / "_helpers.tpl").read_text()
    found = re.search(rf'define "proctor\.{name}" -}}}}\n(.*?)\{{\{{- end', text, re.DOTALL)
    return {
        (group, resource): tuple(rule["verbs"])
        for rule in yaml.safe_load(found[1])
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_the_operator_may_do_exactly_this():
    assert rules("operatorRules") == {
        ("proctor.dev", "evalruns"): ("get", "list", "watch", "delete"),
        ("proctor.dev", "evaltrials"): ("get", "list", "watch", "create", "patch"),
        ("proctor.dev", "evalruns/status"): ("patch",),
        ("proctor.dev", "evaltrials/status"): ("patch",),
        ("proctor.dev", "evalruns/finalizers"): ("update",),
        ("proctor.dev", "evaltrials/finalizers"): ("update",),
        ("", "pods"): ("get", "list", "watch", "create", "patch", "delete"),
        ("", "configmaps"): ("get", "create"),
        ("", "serviceaccounts"): ("get", "create"),
    }


def test_the_gateway_may_read_trials_and_scripts_and_nothing_else():
    assert rules("gatewayRules") == {
        ("proctor.dev", "evaltrials"): ("get",),
        ("", "configmaps"): ("get",),
    }


def test_the_results_server_may_read_whose_a_record_is_and_what_runs_need():
    assert rules("resultsRules") == {
        ("proctor.dev", "evaltrials"): ("get",),
        ("proctor.dev", "evalruns"): ("list",),
        ("", "namespaces"): ("get",),
    }


def test_the_uninstall_hook_may_let_go_of_pods_and_nothing_else():
    assert rules("uninstallRules") == {("", "pods"): ("list", "patch")}


def test_the_default_values_and_images_fit_their_schema():
    jsonschema.validate(INSTALLED, SCHEMA)


def test_images_have_no_default_that_somebody_else_may_own():
    with pytest.raises(jsonschema.ValidationError, match="required"):
        jsonschema.validate(VALUES, SCHEMA)


def test_the_schema_knows_every_value():
    def walk(values, schema, path):
        for key, value in values.items():
            assert key in schema["properties"], f"{path}{key} is not in values.schema.json"
            part = schema["properties"][key]
            if isinstance(value, dict) and "properties" in part:
                walk(value, part, f"{path}{key}.")

    walk(VALUES, SCHEMA, "")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"replicas": 2}, id="unknown-at-the-top"),
        pytest.param({"operator": {"replicas": 2}}, id="unknown-below"),
        pytest.param({"gateway": {"providers": [{"name": "a"}]}}, id="provider-without-a-url"),
        pytest.param(
            {
                "gateway": {
                    "providers": [
                        {
                            "name": "a",
                            "format": "anthropic-messages",
                            "baseUrl": "https://a",
                            "apiKey": "sk-1",
                        }
                    ]
                }
            },
            id="a-key-in-the-values",
        ),
        pytest.param({"trials": {"userId": 0}}, id="trials-as-root"),
        pytest.param({"trials": {"finishedPods": "Sometimes"}}, id="unknown-word"),
        pytest.param({"watchNamespaces": "team"}, id="a-word-for-a-list"),
    ],
)
def test_the_schema_refuses_what_would_do_nothing_or_harm(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**INSTALLED, **change}, SCHEMA)


def test_objects_of_the_schema_are_closed():
    def walk(part, path):
        if isinstance(part, dict):
            if "properties" in part:
                assert part.get("additionalProperties") is False, path
            for key, value in part.items():
                walk(value, f"{path}/{key}")

    walk(SCHEMA, "")


def test_the_chart_has_the_version_of_the_package():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == proctor.__version__
