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


RIGHTS = yaml.safe_load((Path(__file__).parent / "rights.yaml").read_text())


def rules(name):
    """The RBAC rules that a template of this name defines, as ``rights.yaml`` writes them."""
    text = (CHART / "templates" / "_helpers.tpl").read_text()
    found = re.search(rf'define "proctor\.{name}" -}}}}\n(.*?)\{{\{{- end', text, re.DOTALL)
    given: dict[str, set[str]] = {}
    for rule in yaml.safe_load(found[1]):
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                name, *rest = [*resource.split("/"), *rule.get("resourceNames", [])]
                what = "/".join([f"{name}.{group}" if group else name, *rest])
                given.setdefault(what, set()).update(rule["verbs"])
    return {what: sorted(verbs) for what, verbs in given.items()}


@pytest.mark.parametrize("who", ["operator", "gateway", "results", "uninstall"])
def test_each_process_may_do_exactly_what_is_listed(who):
    cluster_wide = {
        "tokenreviews.authentication.k8s.io",
        "subjectaccessreviews.authorization.k8s.io",
    }
    listed = {what: verbs for what, verbs in RIGHTS[who].items() if what not in cluster_wide}
    assert rules(f"{who}Rules") == {what: sorted(verbs) for what, verbs in listed.items()}


def test_nobody_reads_secrets_or_reaches_into_pods():
    everything = {what for rights in RIGHTS.values() for what in rights}
    assert not [what for what in everything if what.startswith(("secrets", "pods/", "*"))]


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
        pytest.param({"network": {"clusterRanges": ["10.0.0.1"]}}, id="an-address-for-a-block"),
        pytest.param({"network": {"dnsPorts": []}}, id="no-port-for-names"),
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


def test_nobody_may_be_root_in_a_trial_unless_the_values_say_so():
    assert VALUES["trials"]["allowImageUser"] is False
