"""The trial's pod as a document: what each container sees, and what it may."""

import pytest

from builders_controller import COMMAND_TASK, MINI, container, first_pod
from proctor.controller.shape import owner_uid, shape_digest

EVERYTHING = {"agent": MINI, "tasks": [COMMAND_TASK]}
ALL = ["stage", "agent", "checks", "grade"]


def mounts(pod, name):
    """Mount path → (volume, writable)."""
    return {
        mount["mountPath"]: (mount["name"], not mount.get("readOnly", False))
        for mount in container(pod, name)["volumeMounts"]
    }


def volume(pod, name):
    (found,) = [one for one in pod["spec"]["volumes"] if one["name"] == name]
    return found


def names(pod):
    return [one["name"] for one in (*pod["spec"]["initContainers"], *pod["spec"]["containers"])]


def test_containers_run_one_after_the_other_and_grade_is_the_main_one():
    pod = first_pod(**EVERYTHING)
    assert names(pod) == ALL
    assert [one["name"] for one in pod["spec"]["containers"]] == ["grade"]
    assert not any("restartPolicy" in one for one in pod["spec"]["initContainers"])


def test_checks_exist_only_when_a_command_must_run():
    assert names(first_pod()) == ["stage", "agent", "grade"]


def test_our_code_runs_in_our_image_and_the_tasks_in_its_own():
    pod = first_pod(sandbox={"image": "acme/task:7"}, **EVERYTHING)
    images = {name: container(pod, name)["image"] for name in ALL}
    assert images == {
        "stage": "proctor/runner:1",
        "agent": "acme/task:7",
        "checks": "acme/task:7",
        "grade": "proctor/runner:1",
    }


def test_a_task_without_an_image_gets_the_default_one():
    assert container(first_pod(), "agent")["image"] == "proctor/task:1"


def test_the_agent_sees_its_workspace_home_orders_and_key_and_nothing_else():
    assert mounts(first_pod(**EVERYTHING), "agent") == {
        "/proctor": ("runtime", False),
        "/proctor-orders/agent": ("agent-orders", False),
        "/workspace": ("workspace", True),
        "/home/agent": ("home", True),
        "/evidence/agent": ("agent-evidence", True),
        "/tmp": ("agent-tmp", True),
        "/var/run/proctor/agent": ("agent-token", False),
    }


def test_checks_work_on_copies_of_what_is_frozen_and_have_no_key():
    pod = first_pod(sandbox={"persist": ["/opt/tools"]}, **EVERYTHING)
    assert mounts(pod, "checks") == {
        "/proctor": ("runtime", False),
        "/proctor-orders/checks": ("checks-orders", False),
        "/frozen/workspace": ("workspace", False),
        "/frozen/home": ("home", False),
        "/frozen/persist-0": ("persist-0", False),
        "/workspace": ("checks-workspace", True),
        "/home/agent": ("checks-home", True),
        "/opt/tools": ("checks-persist-0", True),
        "/evidence/checks": ("checks-evidence", True),
        "/scratch": ("checks-scratch", True),
        "/tmp": ("checks-tmp", True),
    }


def test_grade_reads_what_is_frozen_and_writes_only_the_record():
    assert mounts(first_pod(**EVERYTHING), "grade") == {
        "/proctor-orders/grade": ("grade-orders", False),
        "/frozen/workspace": ("workspace", False),
        "/evidence/agent": ("agent-evidence", False),
        "/evidence/checks": ("checks-evidence", False),
        "/record": ("record", True),
        "/tmp": ("grade-tmp", True),
        "/var/run/proctor/judge": ("judge-token", False),
    }


def test_hidden_orders_are_never_in_an_object_that_the_agent_mounts():
    pod = first_pod(**EVERYTHING)
    config_maps = {
        name: volume(pod, f"{name}-orders")["configMap"]["name"]
        for name in ("agent", "checks", "grade")
    }
    assert config_maps["agent"] not in (config_maps["checks"], config_maps["grade"])


def test_orders_are_mounted_by_item():
    for name in ("agent", "checks", "grade"):
        (item,) = volume(first_pod(**EVERYTHING), f"{name}-orders")["configMap"]["items"]
        assert item["path"] == "orders.json"


@pytest.mark.parametrize(
    ("token", "audience", "where"),
    [
        pytest.param("agent-token", "proctor-gateway-agent", "agent", id="agent"),
        pytest.param("judge-token", "proctor-gateway-judge", "grade", id="judge"),
    ],
)
def test_a_token_has_one_audience_and_is_mounted_in_one_container(token, audience, where):
    pod = first_pod(**EVERYTHING)
    (source,) = volume(pod, token)["projected"]["sources"]
    assert source["serviceAccountToken"]["audience"] == audience
    holders = [name for name in ALL if any(v == token for v, _ in mounts(pod, name).values())]
    assert holders == [where]


def test_a_token_outlives_every_deadline():
    pod = first_pod(**EVERYTHING, limits={"taskTimeoutSeconds": 900, "gradeTimeoutSeconds": 100})
    (source,) = volume(pod, "agent-token")["projected"]["sources"]
    deadline = pod["spec"]["activeDeadlineSeconds"]
    assert deadline == 600 + 900 + 100 + 300
    assert source["serviceAccountToken"]["expirationSeconds"] == deadline + 600


def test_an_agent_that_asks_no_model_gets_no_key_and_no_gateway():
    pod = first_pod(
        agent={"type": "none"}, tasks=[{"name": "t", "criteria": COMMAND_TASK["criteria"]}]
    )
    assert not any("projected" in one for one in pod["spec"]["volumes"])
    assert not any("--gateway" in container(pod, name)["command"] for name in ALL)


def test_no_token_for_the_api_server_and_a_service_account_of_our_own():
    spec = first_pod()["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["serviceAccountName"] == "proctor-trial"
    assert spec["enableServiceLinks"] is False


@pytest.mark.parametrize("name", ALL)
def test_every_container_is_restricted(name):
    security = container(first_pod(**EVERYTHING), name)["securityContext"]
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}


def test_only_containers_of_our_image_have_a_read_only_root():
    pod = first_pod(**EVERYTHING)
    read_only = {
        name: container(pod, name)["securityContext"]["readOnlyRootFilesystem"] for name in ALL
    }
    assert read_only == {"stage": True, "agent": False, "checks": False, "grade": True}


def test_the_pod_runs_as_a_fixed_user_that_is_not_root():
    assert first_pod()["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 64000,
        "runAsGroup": 64000,
        "fsGroup": 64000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_the_user_can_be_left_to_the_platform():
    pod = first_pod(changes={"trial": {"userId": None}})
    assert pod["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


@pytest.mark.parametrize("name", ALL)
def test_requests_equal_limits(name):
    resources = container(first_pod(**EVERYTHING), name)["resources"]
    assert resources["requests"] == resources["limits"]
    assert set(resources["limits"]) == {"cpu", "memory", "ephemeral-storage"}


def test_our_containers_get_the_agents_cpu_when_it_is_more():
    pod = first_pod(sandbox={"resources": {"cpu": "2", "memory": "8Gi"}})
    limits = container(pod, "grade")["resources"]["limits"]
    assert (limits["cpu"], limits["memory"]) == ("2", "512Mi")
    pod = first_pod(sandbox={"resources": {"cpu": "50m"}})
    assert container(pod, "grade")["resources"]["limits"]["cpu"] == "500m"


def test_checks_get_disk_for_the_copy_as_well():
    disk = {"sandbox": {"resources": {"ephemeralStorage": "1.5Gi"}}}
    pod = first_pod(**EVERYTHING, **disk)
    amounts = {
        name: container(pod, name)["resources"]["limits"]["ephemeral-storage"]
        for name in ("agent", "checks")
    }
    assert amounts == {"agent": "1.5Gi", "checks": "3.0Gi"}


def test_every_empty_folder_has_a_size():
    folders = [one for one in first_pod(**EVERYTHING)["spec"]["volumes"] if "emptyDir" in one]
    assert folders
    assert all(one["emptyDir"]["sizeLimit"] for one in folders)


def test_every_volume_is_mounted_and_every_mount_has_a_volume():
    pod = first_pod(**EVERYTHING, sandbox={"persist": ["/opt/a", "/opt/b"]})
    mounted = {volume for name in ALL for volume, _ in mounts(pod, name).values()}
    assert mounted == {one["name"] for one in pod["spec"]["volumes"]}


def test_the_verdict_travels_as_the_termination_message_file():
    grade = container(first_pod(), "grade")
    assert grade["terminationMessagePolicy"] == "File"
    verdict = grade["command"].index("--verdict")
    assert grade["command"][verdict + 1] == "/dev/termination-log"


def test_grade_is_told_which_trial_and_attempt_it_grades():
    command = container(first_pod(attempt=3), "grade")["command"]
    told = dict(zip(command[4::2], command[5::2], strict=True))
    assert (told["--run"], told["--task"], told["--variant"]) == ("run", "greet", "default")
    assert (told["--repeat"], told["--uid"], told["--attempt"]) == ("0", "trial-uid", "3")


def test_a_dollar_in_a_path_stays_what_it_is():
    pod = first_pod(sandbox={"persist": ["/opt/$(HOME)"]})
    command = container(pod, "agent")["command"]
    assert command[command.index("--persist") + 1] == "/opt/$$(HOME)"


def test_a_pod_is_found_by_labels_and_held_by_a_finalizer():
    metadata = first_pod(attempt=2)["metadata"]
    assert metadata["name"] == "run-abc-2"
    assert metadata["finalizers"] == ["proctor.dev/verdict"]
    assert metadata["labels"] == {
        "app.kubernetes.io/managed-by": "proctor",
        "proctor.dev/run": "run",
        "proctor.dev/run-uid": "run-uid",
        "proctor.dev/trial": "run-abc",
        "proctor.dev/attempt": "2",
        "proctor.dev/egress": "ModelOnly",
        "sidecar.istio.io/inject": "false",
    }
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("EvalTrial", "trial-uid", True)


def test_pull_secrets_are_named_when_there_are_some():
    pod = first_pod(changes={"imagePullSecrets": ["regcred"]})
    assert pod["spec"]["imagePullSecrets"] == [{"name": "regcred"}]
    assert "imagePullSecrets" not in first_pod()["spec"]


def as_stored(pod):
    """What an API server makes of it: defaults, tolerations, a node, canonical amounts."""
    spec = pod["spec"]
    spec |= {"nodeName": "n", "tolerations": [{"operator": "Exists"}]}
    for one in (*spec["initContainers"], *spec["containers"]):
        one["terminationMessagePath"] = "/dev/termination-log"
        one["resources"] = {}
    for one in spec["volumes"]:
        if "emptyDir" in one:
            one["emptyDir"]["sizeLimit"] = "canonical"
    return pod


def test_the_shape_survives_what_an_api_server_adds():
    assert shape_digest(as_stored(first_pod())) == shape_digest(first_pod())


def test_the_shape_does_not_depend_on_the_owners_uid():
    pod = first_pod()
    other = first_pod()
    other["metadata"]["ownerReferences"][0]["uid"] = "other"
    command = container(other, "grade")["command"]
    command[command.index("trial-uid")] = "other"
    assert shape_digest(pod) == shape_digest(other)
    assert (owner_uid(pod), owner_uid({"metadata": {}})) == ("trial-uid", "")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda p: container(p, "grade").update(image="evil"), id="image"),
        pytest.param(lambda p: container(p, "grade")["command"].append("x"), id="command"),
        pytest.param(lambda p: container(p, "agent").update(env=[{"name": "X"}]), id="env"),
        pytest.param(lambda p: p["spec"]["containers"].append({"name": "spy"}), id="container"),
        pytest.param(
            lambda p: p["spec"].update(ephemeralContainers=[{"name": "debug"}]), id="ephemeral"
        ),
        pytest.param(lambda p: p["spec"]["volumes"].pop(), id="volume"),
        pytest.param(
            lambda p: container(p, "agent")["volumeMounts"].append(
                {"name": "grade-orders", "mountPath": "/x"}
            ),
            id="mount",
        ),
        pytest.param(lambda p: p["spec"].update(hostPID=True), id="host"),
        pytest.param(
            lambda p: p["spec"].update(hostAliases=[{"ip": "6.6.6.6", "hostnames": ["gateway"]}]),
            id="another-gateway",
        ),
        pytest.param(lambda p: p["spec"].update(dnsPolicy="Default"), id="another-resolver"),
        pytest.param(lambda p: p["spec"].update(serviceAccountName="admin"), id="account"),
        pytest.param(
            lambda p: container(p, "agent")["securityContext"].update(privileged=True), id="rights"
        ),
    ],
)
def test_the_shape_shows_every_change_that_matters(change):
    pod = first_pod()
    change(pod)
    assert shape_digest(pod) != shape_digest(first_pod())


RESULTS = {"results": {"uploadUrl": "http://results.proctor.svc:8080", "uploadSeconds": 50}}


def test_only_grade_holds_the_results_token_and_knows_the_upload_port():
    pod = first_pod(changes=RESULTS, **EVERYTHING)
    holders = [name for name in names(pod) if "results-token" in str(container(pod, name))]
    assert holders == ["grade"]
    command = container(pod, "grade")["command"]
    assert command[command.index("--results") + 1] == "http://results.proctor.svc:8080"
    assert command[command.index("--upload-seconds") + 1] == "50"
    (source,) = volume(pod, "results-token")["projected"]["sources"]
    assert source["serviceAccountToken"]["audience"] == "proctor-results"


def test_sending_has_time_of_its_own_before_the_backstop():
    with_server = first_pod(changes=RESULTS)["spec"]["activeDeadlineSeconds"]
    assert with_server == first_pod()["spec"]["activeDeadlineSeconds"] + 50


def test_without_a_results_server_nothing_of_it_is_in_the_pod():
    assert "results" not in str(first_pod(**EVERYTHING))


def test_the_records_volume_has_room_for_what_is_kept():
    sandbox = {"artifacts": {"paths": ["**"], "maxMiB": 100}}
    assert volume(first_pod(sandbox=sandbox), "record")["emptyDir"]["sizeLimit"] == "1124Mi"
    assert volume(first_pod(), "record")["emptyDir"]["sizeLimit"] == "1Gi"
