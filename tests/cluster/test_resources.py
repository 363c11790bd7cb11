"""A real API server and the kinds: what it takes, what it refuses, what it explains."""

from pathlib import Path

import pytest
import yaml

from builders_planning import headers

DATA = Path(__file__).parents[1] / "data"
CRDS = Path(__file__).parents[2] / "crds"
GOOD = sorted((DATA / "good").glob("*.yaml"))
BAD = {path: headers(path.read_text()) for path in sorted((DATA / "bad").glob("*.yaml"))}


def refused_by(who):
    return [pytest.param(path, id=path.stem) for path, h in BAD.items() if h["refused-by"] == who]


def described(node, path=""):
    """Every field of a published schema with its description."""
    for name, inner in node.get("properties", {}).items():
        yield f"{path}.{name}", inner.get("description", "")
        yield from described(inner, f"{path}.{name}")
    if "items" in node:
        yield from described(node["items"], f"{path}[]")


def objects(node, path):
    """Every object of a published schema: its path for ``kubectl explain``, its fields' texts."""
    fields = node.get("properties", {})
    if fields:
        yield path, {n: " ".join(f.get("description", "").split()) for n, f in fields.items()}
    for name, inner in fields.items():
        yield from objects(inner, f"{path}.{name}")
    if "items" in node:
        yield from objects(node["items"], path)


def published(kube, kind):
    """The schema of a kind as the API server publishes it, which `kubectl explain` prints."""
    text = kube("get", "--raw", "/openapi/v3/apis/proctor.dev/v1alpha1")
    return yaml.safe_load(text)["components"]["schemas"][f"dev.proctor.v1alpha1.{kind}"]


@pytest.mark.parametrize(
    "mode", [pytest.param("", id="client"), pytest.param("=true", id="server")]
)
def test_both_ways_of_applying_take_the_definitions(kube, mode):
    for path in sorted(CRDS.glob("*.yaml")):
        side = ["--server-side", "--force-conflicts"] if mode else []
        kube("apply", *side, "--dry-run=server", f"--filename={path}")


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in GOOD])
def test_a_good_manifest_is_taken(kube, path):
    # Only the operator may write EvalTrials.
    operator = "system:serviceaccount:proctor-system:proctor-operator"
    who = [f"--as={operator}", "--as-group=system:masters"]
    kube("create", "--dry-run=server", f"--filename={path}", *who)


@pytest.mark.parametrize("path", refused_by("api"))
def test_the_api_server_refuses_and_says_why(kube, path):
    result = kube.attempt("create", "--dry-run=server", f"--filename={path}")
    assert result.returncode != 0
    assert BAD[path]["api-says"] in result.stderr


@pytest.mark.parametrize("path", refused_by("operator"))
def test_the_operator_refuses_with_field_and_remedy(kube, path):
    (document,) = yaml.safe_load_all(path.read_text())
    document["metadata"]["name"] = path.stem
    kube.apply(document)
    status = kube.finished(path.stem, timeout=60)["status"]
    conditions = {one["type"]: one for one in status["conditions"]}
    accepted = conditions["Accepted"]
    assert (accepted["status"], accepted["reason"]) == ("False", "SpecInvalid")
    assert BAD[path]["field"] in accepted["message"]
    assert BAD[path]["remedy"] in accepted["message"]
    assert conditions["Complete"]["reason"] == "Rejected"


@pytest.mark.parametrize("kind", [pytest.param("EvalRun"), pytest.param("EvalTrial")])
def test_every_published_field_is_described(kube, kind):
    silent = [
        path
        for path, text in described(published(kube, kind))
        if not text and not path.startswith(".metadata")
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        pytest.param("EvalRun", "evalrun", id="run"),
        pytest.param("EvalTrial", "evaltrial", id="trial"),
    ],
)
def test_kubectl_explains_every_field_of_the_spec(kube, kind, resource):
    spec = published(kube, kind)["properties"]["spec"]
    for path, fields in objects(spec, f"{resource}.spec"):
        said = " ".join(kube("explain", path).split())
        silent = [name for name, text in fields.items() if not text or text not in said]
        assert (path, silent) == (path, [])


def test_a_started_run_may_only_be_suspended_cancelled_or_slowed(kube):
    document = yaml.safe_load((DATA / "good" / "evalrun-minimal.yaml").read_text())
    document["metadata"] = {"name": "started"}
    document["spec"]["suspend"] = True
    kube.apply(document)
    started = '{"status": {"startTime": "2026-01-01T00:00:00Z"}}'
    kube(
        "patch", "evalrun", "started", "--subresource=status", "--type=merge", f"--patch={started}"
    )
    allowed = '{"spec": {"parallelism": 3, "ttlSecondsAfterFinished": 60, "cancelled": true}}'
    kube("patch", "evalrun", "started", "--type=merge", f"--patch={allowed}")
    for change in ('{"repeats": 2}', '{"agent": {"options": {"a": 1}}}', '{"gate": {}}'):
        patch = f'--patch={{"spec": {change}}}'
        result = kube.attempt("patch", "evalrun", "started", "--type=merge", patch)
        assert "apply it under a new name" in result.stderr
