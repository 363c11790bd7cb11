"""The results server that the chart makes, and where its records lie."""

import json
import subprocess

import pytest
import yaml

from cluster.charts import CHART, IMAGES, helm, of_kind, operator_settings, pod_specs, render
from cluster.conftest import RELEASE, SYSTEM
from proctor.results.config import ResultsConfig


def results_config(values=None):
    (text,) = of_kind(render(values), "ConfigMap")["proctor-results"]["data"].values()
    return ResultsConfig.model_validate(yaml.safe_load(text))


def test_the_results_server_reads_the_configuration_that_the_chart_writes():
    config = results_config()
    assert (config.bucket, config.retention.max_age_days) == (None, 30)
    assert config.store_limits().total_bytes == 8 << 30
    values = {
        "results": {
            "bucket": {"url": "s3://records/p", "config": {"endpoint": "http://minio:9000"}},
            "maxFolderMiB": 2048,
            "retention": {"maxAgeDays": None, "maxTotalMiB": 100_000},
        }
    }
    config = results_config(values)
    assert config.bucket.config == {"endpoint": "http://minio:9000"}
    assert config.limits.max_folder_mib == 2048
    assert (config.retention.max_age_days, config.retention.max_total_mib) == (None, 100_000)


def test_trials_are_told_the_upload_port_and_the_service_has_it():
    settings = operator_settings({"results": {"uploadPort": 9000, "uploadSeconds": 7}})
    assert settings.results.upload_url == "http://proctor-results.system.svc:9000"
    assert settings.results.upload_seconds == 7
    assert settings.trial.max_record_mib == 256
    service = of_kind(render({"results": {"uploadPort": 9000}}), "Service")["proctor-results"]
    ports = {port["name"]: (port["port"], port["targetPort"]) for port in service["spec"]["ports"]}
    assert ports == {"upload": (9000, 9000), "read": (8081, 8081)}


def test_without_a_results_server_nothing_of_it_is_left():
    images = {name: one for name, one in IMAGES["images"].items() if name != "results"}
    values = {"results": {"enabled": False}, "images": images}
    documents = render(values)
    assert not [one for one in documents if "results" in one["metadata"]["name"]]
    settings = operator_settings(values)
    assert (settings.results, settings.trial.max_record_mib) == (None, None)


def test_trials_and_people_never_share_a_port():
    result = helm(["template", "proctor"], {"results": {"readPort": 8080}})
    assert "are the same" in result.stderr


def test_a_database_and_a_bucket_get_their_passwords_from_secrets():
    values = {
        "results": {
            "index": {"secretRef": {"name": "pg", "key": "url"}},
            "bucket": {"url": "s3://b", "secretRef": {"name": "s3"}},
        }
    }
    (container,) = pod_specs(render(values))["StatefulSet", "proctor-results"]["containers"]
    (variable,) = container["env"]
    assert variable["name"] == "PROCTOR_RESULTS_INDEX_URL"
    assert variable["valueFrom"] == {"secretKeyRef": {"name": "pg", "key": "url"}}
    assert container["envFrom"] == [{"secretRef": {"name": "s3"}}]


def results_volumes(values=None):
    """The claims of the results server, and the folder that it has instead."""
    spec = of_kind(render(values), "StatefulSet")["proctor-results"]["spec"]
    claims = spec.get("volumeClaimTemplates", [])
    volumes = spec["template"]["spec"]["volumes"]
    return claims, [one["emptyDir"] for one in volumes if one["name"] == "data"]


def test_records_lie_on_a_volume_that_outlives_the_pod_unless_the_values_say_otherwise():
    (claim,), folders = results_volumes()
    assert folders == []
    assert "storageClassName" not in claim["spec"]
    assert claim["spec"]["resources"] == {"requests": {"storage": "10Gi"}}
    (claim,), _ = results_volumes({"results": {"volume": {"storageClassName": "fast"}}})
    assert claim["spec"]["storageClassName"] == "fast"
    assert results_volumes({"results": {"volume": {"persistent": False}}}) == (
        [],
        [{"sizeLimit": "10Gi"}],
    )


@pytest.mark.parametrize(
    ("results", "is_refused"),
    [
        pytest.param({"volume": {"size": "8Gi"}}, True, id="as-large-as-what-is-kept"),
        pytest.param({"volume": {"size": "500Mi"}}, True, id="smaller"),
        pytest.param({"volume": {"size": "1Ti"}}, False, id="larger"),
        pytest.param({"volume": {"size": "1Gi"}, "bucket": {"url": "s3://b"}}, False, id="bucket"),
        pytest.param(
            {"volume": {"size": "1Gi"}, "retention": {"maxTotalMiB": None}}, False, id="no-limit"
        ),
    ],
)
def test_a_volume_that_is_full_before_old_records_go_is_refused(results, is_refused):
    result = helm(["template", "proctor"], {"results": results})
    assert (result.returncode != 0) is is_refused
    assert ("results.volume.size" in result.stderr) is is_refused


def asked_of_the_cluster(release, results, namespace="system", **more):
    """What Helm says when it looks at what is there, and installs nothing."""
    # CRDs belong to one release only.
    values = {**IMAGES, "crds": {"install": False}, "results": results, **more}
    result = subprocess.run(
        ["helm", "template", release, CHART, "--dry-run=server", "--namespace", namespace,
         "--values=-"],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    return result.stderr if result.returncode else ""


def test_a_cluster_without_a_default_class_of_storage_is_refused_with_the_remedy(system):
    classes = [one for one in system.list("storageclasses") if is_default(one)]
    said = asked_of_the_cluster("other", {})
    assert ("no default StorageClass" in said) is (classes == [])
    assert ("results.volume.persistent=false" in said) is (classes == [])
    assert asked_of_the_cluster("other", {"volume": {"storageClassName": "fast"}}) == ""
    assert asked_of_the_cluster("other", {"volume": {"persistent": False}}) == ""


def is_default(one):
    annotations = one["metadata"].get("annotations", {})
    return annotations.get("storageclass.kubernetes.io/is-default-class") == "true"


def test_what_no_upgrade_can_change_is_refused_before_anything_changes(system):
    as_installed = {"volume": {"persistent": False}}
    said = asked_of_the_cluster(RELEASE, {"volume": {"persistent": True}}, SYSTEM)
    assert "kubectl delete statefulset proctor-results --namespace proctor-system" in said
    ledger = {"ledger": {"persistent": True}}
    said = asked_of_the_cluster(RELEASE, as_installed, SYSTEM, gateway=ledger)
    assert "gateway.ledger.persistent is true" in said
    assert "kubectl delete statefulset proctor-gateway --namespace proctor-system" in said
    assert asked_of_the_cluster(RELEASE, as_installed, SYSTEM) == ""


def notes(results):
    result = helm(["install", "proctor", "--dry-run=client"], {"results": results})
    assert result.returncode == 0, result.stderr
    return result.stdout.partition("NOTES:")[2]


def test_whoever_keeps_records_in_a_pod_only_is_warned():
    warning = "WARNING: all records of trials are lost"
    assert warning in notes({"volume": {"persistent": False}})
    assert warning not in notes({})
    assert warning not in notes({"volume": {"persistent": False}, "bucket": {"url": "s3://b"}})
