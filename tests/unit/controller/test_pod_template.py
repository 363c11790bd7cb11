"""``sandbox.podTemplate`` in the pod's document."""

from builders_controller import COMMAND_TASK, MINI, container, first_pod
from proctor.controller.shape import shape_digest

AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a"]}]}
            ]
        }
    }
}
PLACEMENT = {
    "nodeSelector": {"pool": "evals"},
    "tolerations": [{"key": "evals", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": AFFINITY,
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"team": "a"}},
        }
    ],
    "priorityClassName": "evals",
    "runtimeClassName": "gvisor",
    "schedulerName": "volcano",
}
SECRET = {"name": "certs", "secret": {"secretName": "certificates"}, "mountPath": "/certs"}
CLAIM = {"name": "models", "persistentVolumeClaim": {"claimName": "models"}, "mountPath": "/models"}
FILES = {
    "name": "files",
    "configMap": {"name": "files", "items": [{"key": "a", "path": "b/a"}]},
    "mountPath": "/etc/tool",
    "mountIn": "AgentAndChecks",
}
SPACE = {"name": "space", "emptyDir": {"sizeLimit": "5Gi"}, "mountPath": "/space", "subPath": "x"}


def templated(**template):
    return first_pod(agent=MINI, tasks=[COMMAND_TASK], sandbox={"podTemplate": template})


def added_mounts(pod, name):
    return [one for one in container(pod, name)["volumeMounts"] if "template" in one["name"]]


def test_placement_is_passed_on_as_it_is_written():
    spec = templated(**PLACEMENT)["spec"]
    assert {key: spec[key] for key in PLACEMENT} == PLACEMENT


def test_without_a_template_the_pod_says_nothing_of_it():
    assert not PLACEMENT.keys() & first_pod()["spec"].keys()


def test_labels_and_annotations_stand_beside_ours():
    plain, pod = templated(), templated(labels={"team": "a"}, annotations={"note": "x y"})
    assert pod["metadata"]["labels"] == {**plain["metadata"]["labels"], "team": "a"}
    assert pod["metadata"]["annotations"] == {**plain["metadata"]["annotations"], "note": "x y"}


def test_pull_secrets_of_platform_and_run_are_named_once():
    pod = first_pod(
        changes={"imagePullSecrets": ["platform", "shared"]},
        sandbox={"podTemplate": {"imagePullSecrets": [{"name": "mine"}, {"name": "shared"}]}},
    )
    names = [one["name"] for one in pod["spec"]["imagePullSecrets"]]
    assert names == ["platform", "shared", "mine"]


def test_volumes_are_complete_enough_to_be_compared():
    volumes = {
        v["name"]: v for v in templated(volumes=[SECRET, CLAIM, FILES, SPACE])["spec"]["volumes"]
    }
    assert volumes["template-certs"]["secret"] == {
        "secretName": "certificates",
        "defaultMode": 0o440,
    }
    assert volumes["template-models"]["persistentVolumeClaim"] == {
        "claimName": "models",
        "readOnly": True,
    }
    assert volumes["template-files"]["configMap"] == {
        "name": "files",
        "defaultMode": 0o444,
        "items": [{"key": "a", "path": "b/a"}],
    }
    assert volumes["template-space"]["emptyDir"] == {"sizeLimit": "5Gi"}


def test_the_agent_sees_them_and_checks_only_those_that_say_so():
    pod = templated(volumes=[SECRET, CLAIM, FILES, SPACE])
    assert added_mounts(pod, "agent") == [
        {"name": "template-certs", "mountPath": "/certs", "readOnly": True},
        {"name": "template-models", "mountPath": "/models", "readOnly": True},
        {"name": "template-files", "mountPath": "/etc/tool", "readOnly": True},
        {"name": "template-space", "mountPath": "/space", "subPath": "x"},
    ]
    assert added_mounts(pod, "checks") == [
        {"name": "template-files", "mountPath": "/etc/tool", "readOnly": True}
    ]
    assert added_mounts(pod, "stage") == []


def test_grade_gets_secrets_to_take_them_out():
    pod = templated(volumes=[SECRET])
    assert added_mounts(pod, "grade") == [
        {"name": "template-certs", "mountPath": "/proctor-secrets/certs", "readOnly": True}
    ]
    folders = {name: container(pod, name)["env"] for name in ("agent", "grade")}
    assert folders == {
        "agent": [{"name": "PROCTOR_REDACT_FOLDERS", "value": "/certs"}],
        "grade": [{"name": "PROCTOR_REDACT_FOLDERS", "value": "/proctor-secrets/certs"}],
    }


def test_a_claim_is_written_to_only_when_it_says_so():
    claim = {"claimName": "models", "readOnly": False}
    pod = templated(volumes=[{**CLAIM, "persistentVolumeClaim": claim}])
    assert added_mounts(pod, "agent") == [{"name": "template-models", "mountPath": "/models"}]


def test_another_runtime_class_or_volume_is_another_shape():
    shapes = [templated(), templated(runtimeClassName="kata"), templated(volumes=[CLAIM])]
    assert len({shape_digest(pod) for pod in shapes}) == 3
