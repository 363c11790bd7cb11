"""What a run may ask of its pods, and what it may not."""

import pytest

from builders_planning import a_plan, a_task, problems_of
from proctor.api.secret_refs import SecretUse

DATA = {"name": "data", "emptyDir": {}, "mountPath": "/data"}


def templated(**template):
    return {"sandbox": {"podTemplate": template}}


def a_volume(**changes):
    return {**DATA, **changes}


def test_layers_are_merged_as_other_fields_of_the_sandbox():
    plan = a_plan(
        sandbox={"podTemplate": {"labels": {"team": "a", "x": "1"}, "schedulerName": "s"}},
        tasks=[a_task(sandbox={"podTemplate": {"labels": {"team": "b"}, "volumes": [DATA]}})],
    )
    (cell,) = plan.cells.values()
    assert cell.pod.labels == {"team": "b", "x": "1"}
    assert (cell.pod.scheduler_name, cell.pod.volumes[0].mount_path) == ("s", "/data")
    lineage = cell.orders.grade.lineage
    assert lineage["sandbox.podTemplate.labels.team"] == "task"
    assert lineage["sandbox.podTemplate.schedulerName"] == "run"


def test_a_secret_that_is_mounted_is_named():
    secret = a_volume(emptyDir=None, secret={"secretName": "certificates"})
    plan = a_plan(**templated(volumes=[secret]))
    assert plan.secrets == (SecretUse(name="certificates", mount_path="/data"),)


@pytest.mark.parametrize(
    ("template", "field", "said"),
    [
        pytest.param({"labels": {"proctor.dev/run": "x"}}, "labels", "Proctor's own", id="ours"),
        pytest.param(
            {"labels": {"app.kubernetes.io/managed-by": "x"}},
            "labels",
            "Proctor's own",
            id="ours-too",
        ),
        pytest.param(
            {"annotations": {"linkerd.io/inject": "enabled"}},
            "annotations",
            "set by Proctor",
            id="injector",
        ),
        pytest.param(
            {"labels": {"azure.workload.identity/use": "true"}}, "labels", "a cloud", id="cloud"
        ),
        pytest.param(
            {"annotations": {"k8s.v1.cni.cncf.io/networks": "host"}},
            "annotations",
            "another network",
            id="network",
        ),
        pytest.param(
            {"annotations": {"container.apparmor.security.beta.kubernetes.io/agent": "unconfined"}},
            "annotations",
            "loosen",
            id="apparmor",
        ),
        pytest.param({"labels": {"not a key": "x"}}, "labels", "no key", id="key"),
        pytest.param({"labels": {"a": "not a value!"}}, "labels.a", "no value", id="value"),
        pytest.param(
            {"nodeSelector": {"a": "not a value!"}}, "nodeSelector.a", "no value", id="selector"
        ),
        pytest.param(
            {"priorityClassName": "system-node-critical"},
            "priorityClassName",
            "the cluster's own",
            id="priority",
        ),
        pytest.param(
            {"volumes": [a_volume(emptyDir=None)]}, "volumes[0]", "0 sources", id="no-source"
        ),
        pytest.param(
            {"volumes": [a_volume(configMap={"name": "a"})]}, "volumes[0]", "2 sources", id="two"
        ),
        pytest.param(
            {"volumes": [DATA, a_volume(mountPath="/other")]},
            "volumes[1].name",
            "there twice",
            id="name-twice",
        ),
        pytest.param(
            {"volumes": [DATA, a_volume(name="b", mountPath="/data/b")]},
            "volumes[1].mountPath",
            "overlaps /data",
            id="overlap",
        ),
        pytest.param(
            {"volumes": [a_volume(mountPath="/workspace/data")]},
            "volumes[0].mountPath",
            "overlaps /workspace",
            id="workspace",
        ),
        pytest.param(
            {"volumes": [a_volume(mountPath="/var/run/proctor/agent")]},
            "volumes[0].mountPath",
            "overlaps /var/run/proctor",
            id="token",
        ),
        pytest.param(
            {"volumes": [a_volume(mountPath="/etc")]}, "volumes[0].mountPath", "hide", id="etc"
        ),
        pytest.param(
            {"volumes": [a_volume(mountPath="/data/../proc")]},
            "volumes[0].mountPath",
            "hide",
            id="way-up",
        ),
        pytest.param(
            {"volumes": [a_volume(subPath="a/../../b")]}, "volumes[0]", "leads out", id="sub-path"
        ),
    ],
)
def test_what_would_give_its_author_more_is_refused(template, field, said):
    (problem,) = problems_of(**templated(**template))
    assert problem.field == f"spec.sandbox.podTemplate.{field}"
    assert said in problem.message
    assert problem.remedy


def test_a_volume_may_not_cover_what_passes_on():
    sandbox = {"persist": ["/opt/tools"], "podTemplate": {"volumes": [a_volume(mountPath="/opt")]}}
    (problem,) = problems_of(sandbox=sandbox)
    assert "overlaps sandbox.persist '/opt/tools'" in problem.message


@pytest.mark.parametrize(
    "field",
    ["serviceAccountName", "nodeName", "hostNetwork", "containers", "securityContext", "hostUsers"],
)
def test_the_list_is_closed(field):
    (problem,) = problems_of(**templated(**{field: "x"}))
    assert f"unknown field {field!r}" in problem.message


def test_a_volume_of_the_host_is_no_volume():
    (problem,) = problems_of(**templated(volumes=[a_volume(hostPath={"path": "/"})]))
    assert "unknown field 'hostPath'" in problem.message
