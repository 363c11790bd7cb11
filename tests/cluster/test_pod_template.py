"""What ``sandbox.podTemplate`` does on a real API server, scheduler and kubelet."""

import json

from cluster.kube import a_command_run, an_evalrun

NODE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
                    ]
                }
            ]
        }
    }
}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": {"team": "a"}},
}
RUNTIME = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "proctor-test"},
    "handler": "runc",
}
FILES = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "files"},
    "data": {"a": "from-the-config-map"},
}


def templated(command, *criteria, **template):
    spec = a_command_run(command, *criteria)
    return {**spec, "sandbox": {**spec["sandbox"], "podTemplate": template}}


def test_pods_are_placed_and_furnished_as_the_run_says(kube):
    kube.apply(FILES, RUNTIME)
    spec = templated(
        "cat /etc/tool/a > seen.txt; touch /space/x && echo wrote >> seen.txt",
        {"type": "file_contains", "path": "seen.txt", "includes": ["from-the-config-map", "wrote"]},
        {"type": "run_command", "command": "cat /etc/tool/a && ! test -e /space"},
        labels={"team": "a"},
        annotations={"acme.example/note": "x"},
        nodeSelector={"kubernetes.io/os": "linux"},
        tolerations=[{"key": "evals", "operator": "Exists"}],
        affinity=NODE,
        topologySpreadConstraints=[SPREAD],
        runtimeClassName="proctor-test",
        schedulerName="default-scheduler",
        imagePullSecrets=[{"name": "not-there"}],
        volumes=[
            {
                "name": "files",
                "configMap": {"name": "files"},
                "mountPath": "/etc/tool",
                "mountIn": "AgentAndChecks",
            },
            {"name": "space", "emptyDir": {}, "mountPath": "/space"},
        ],
    )
    kube.run("placed", {**spec, "gate": {"minScore": 1}})
    try:
        kube.finished("placed")
        (trial,) = kube.trials("placed")
        assert trial["status"]["outcome"] == "Passed", trial["status"]
        assert not trial["status"].get("podChanges")
    finally:
        kube("delete", "runtimeclass", "proctor-test")


def test_a_field_of_an_affinity_that_does_not_exist_is_refused_by_its_name(kube):
    wrong = {"nodeAffinity": {"requiredDuringScheduling": {}}}
    spec = templated("true", {"type": "file_exists", "path": "x"}, affinity=wrong)
    kube.run("typo", spec)
    kube.finished("typo")
    (trial,) = kube.trials("typo")
    assert trial["status"]["reason"].startswith("AdmissionDenied"), trial["status"]
    assert "requiredDuringScheduling" in trial["status"]["reason"]


def test_a_runtime_class_that_does_not_exist_is_named(kube):
    spec = templated("true", {"type": "file_exists", "path": "x"}, runtimeClassName="nowhere")
    kube.run("runtime", spec)
    kube.finished("runtime")
    (trial,) = kube.trials("runtime")
    assert "nowhere" in trial["status"]["reason"], trial["status"]


def test_a_field_outside_the_list_is_refused_by_the_api_server(kube):
    spec = templated("true", {"type": "file_exists", "path": "x"}, hostNetwork=True)
    result = kube.attempt("create", "--filename=-", stdin=json.dumps(an_evalrun("outside", spec)))
    assert result.returncode != 0
    assert "hostNetwork" in result.stderr
