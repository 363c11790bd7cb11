"""`sandbox.checks: InPlace`: who sees the hidden orders, and when."""

from builders_controller import COMMAND_TASK, MINI, container, first_pod

SPEC = {"agent": MINI, "tasks": [COMMAND_TASK], "sandbox": {"checks": "InPlace"}}


def mounts(pod, name):
    """Mount path → (volume, writable)."""
    return {
        mount["mountPath"]: (mount["name"], not mount.get("readOnly", False))
        for mount in container(pod, name)["volumeMounts"]
    }


def test_loop_lives_beside_the_agent_and_there_is_no_container_for_checks():
    pod = first_pod(**SPEC)
    containers = pod["spec"]["initContainers"]
    assert [one["name"] for one in containers] == ["stage", "loop", "agent"]
    loop = container(pod, "loop")
    assert loop["restartPolicy"] == "Always"
    assert loop["image"] == "proctor/runner:1"
    assert loop["securityContext"]["readOnlyRootFilesystem"] is True


def test_loop_has_its_port_before_any_service_could_take_it():
    services = [{"name": "db", "image": "postgres:16", "port": 5432}]
    pod = first_pod(**{**SPEC, "sandbox": {"checks": "InPlace", "services": services}})
    names = [one["name"] for one in pod["spec"]["initContainers"]]
    assert names == ["stage", "loop", "db", "agent"]


def test_hidden_orders_are_mounted_in_loop_alone():
    pod = first_pod(**SPEC)
    assert mounts(pod, "loop") == {
        "/proctor-orders/checks": ("checks-orders", False),
        "/frozen/workspace": ("workspace", False),
        "/kept": ("loop-kept", True),
        "/var/run/proctor/loop": ("handshake", True),
    }
    assert not {"checks-orders", "loop-kept"} & {v for v, _ in mounts(pod, "agent").values()}


def test_the_agent_has_a_place_for_the_secret_and_one_for_hidden_files():
    pod = first_pod(**SPEC)
    command = container(pod, "agent")["command"]
    assert command[command.index("--handshake") + 1] == "/var/run/proctor/loop"
    assert mounts(pod, "agent")["/var/run/proctor/loop"] == ("handshake", True)
    assert mounts(pod, "agent")["/scratch"] == ("checks-scratch", True)
    port = container(pod, "loop")["command"][-1]
    assert command[command.index("--loop-port") + 1] == port


def test_grade_reads_the_workspace_that_loop_set_aside():
    pod = first_pod(**SPEC)
    command = container(pod, "grade")["command"]
    assert command[command.index("--kept") + 1] == "/kept"
    assert command[command.index("--checks-evidence") + 1] == "/evidence/agent"
    assert mounts(pod, "grade")["/kept"] == ("loop-kept", False)


def test_every_volume_is_mounted_and_every_mount_has_a_volume():
    pod = first_pod(**SPEC)
    containers = (*pod["spec"]["initContainers"], *pod["spec"]["containers"])
    mounted = {volume for one in containers for volume, _ in mounts(pod, one["name"]).values()}
    assert mounted == {one["name"] for one in pod["spec"]["volumes"]}


def test_without_commands_nothing_is_different():
    pod = first_pod(sandbox={"checks": "InPlace"})
    assert [one["name"] for one in pod["spec"]["initContainers"]] == ["stage", "agent"]
    assert "--kept" not in container(pod, "grade")["command"]
