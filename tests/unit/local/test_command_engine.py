"""What an engine's command is told; that podman obeys is in the contract and `tests/containers`."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.local.abandoned import remove_abandoned
from proctor.local.command_engine import (
    CommandEngine,
    create_words,
    find_engine,
    foreign_folders,
    require_limits,
    require_own_root,
)
from proctor.local.engine import Container, EngineError, Share
from proctor.local.environment import engine_environment
from proctor.local.labels import FOLDER_LABEL, PLACE_LABEL, place_of, this_place


def a_container(tmp_path, **changes):
    fields = {
        "name": "proctor-1",
        "image": "a/b:1",
        "command": ("/proctor/bin/python3", "-m", "proctor.runner"),
        "shares": (),
        "folder": tmp_path,
        "owner": tmp_path,
        "cpus": "0.5",
        "memory_bytes": 64 << 20,
    }
    return Container(**{**fields, **changes})


def words(tmp_path, engine="podman", uid=1000, gid=100, roots_image=False, **changes):
    container = a_container(tmp_path, **changes)
    return create_words(container, engine, uid, gid, roots_image=roots_image)


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_a_container_has_no_network_no_rights_and_no_more_than_its_limits(tmp_path, engine):
    told = words(tmp_path, engine)
    for word in (
        "--pull=never",
        "--network=none",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--memory=67108864",
        "--memory-swap=67108864",
        "--cpus=0.5",
        "--pids-limit=2048",
        "--no-healthcheck",
        "--stop-signal=SIGTERM",
    ):
        assert word in told


def test_program_and_arguments_take_the_place_of_the_images(tmp_path):
    told = words(tmp_path)
    assert told[-4:] == ("--entrypoint=/proctor/bin/python3", "a/b:1", "-m", "proctor.runner")


@pytest.mark.parametrize(
    ("engine", "uid", "user", "keeps_id"),
    [
        pytest.param("podman", 0, "64000:64000", False, id="root"),
        pytest.param("podman", 1000, "1000:100", True, id="podman-without-root"),
        pytest.param("docker", 1000, "1000:100", False, id="docker"),
    ],
)
def test_user_is_never_root_and_files_are_ours(tmp_path, engine, uid, user, keeps_id):
    told = words(tmp_path, engine, uid)
    assert f"--user={user}" in told
    assert ("--userns=keep-id" in told) == keeps_id


@pytest.mark.parametrize(
    ("uid", "group"), [pytest.param(0, 64_000, id="root"), pytest.param(1000, 0, id="without-root")]
)
def test_root_of_an_image_has_the_rights_of_a_pods_and_gains_no_others(tmp_path, uid, group):
    told = words(tmp_path, uid=uid, image_user=True, roots_image=True)
    added = {word.partition("=")[2] for word in told if word.startswith("--cap-add")}
    assert added == {"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"}
    assert {"--cap-drop=ALL", "--security-opt=no-new-privileges", f"--group-add={group}"} <= {*told}
    assert not [word for word in told if word.startswith(("--user=", "--userns"))]


def test_another_user_of_an_image_has_no_rights(tmp_path):
    told = words(tmp_path, uid=0, image_user=True, roots_image=False)
    assert not [word for word in told if word.startswith(("--cap-add", "--user"))]


def test_only_podman_without_root_leaves_what_only_its_namespace_can_remove(tmp_path):
    shares = (Share(tmp_path / "a", "/a"), Share(tmp_path / "b", "/b", writable=True))
    container = a_container(tmp_path, shares=shares, image_user=True)
    assert foreign_folders(container, "podman", 1000) == [str(tmp_path / "b")]
    assert foreign_folders(container, "podman", 0) == []
    assert foreign_folders(replace(container, image_user=False), "podman", 1000) == []


def test_dockers_root_is_this_machines_and_so_only_for_root(tmp_path):
    require_own_root("docker", 0)
    require_own_root("podman", 1000)
    with pytest.raises(EngineError, match="needs podman, or root"):
        require_own_root("docker", 1000)


TELLING_ENGINE = """#!/bin/sh
echo "$@" >> "$0.log"
case $1 in inspect) echo '{"StartedAt": "2026", "ExitCode": EXIT}' ;; esac
"""


@pytest.mark.parametrize(
    ("exit_code", "passes_on", "is_taken_back"),
    [(0, False, True), (0, True, False), (1, True, True)],
)
def test_a_keeper_takes_back_what_a_container_left_unless_the_next_one_goes_on_with_it(
    tmp_path, exit_code, passes_on, is_taken_back
):
    engine = tmp_path / "engine"
    engine.write_text(TELLING_ENGINE.replace("EXIT", str(exit_code)))
    engine.chmod(0o755)
    foreign = json.dumps({"folders": ["/a b", "/-c"], "passesOn": passes_on})
    keeper = [sys.executable, "-P", "-m", "proctor.local.container_keeper", "1", engine, "name"]
    hand = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*keeper, foreign, "image"], cwd=tmp_path, **hand) as process:
        said = process.stdout.read()

    assert json.loads(said) == {"exit": exit_code, "oom": False}
    told = (tmp_path / "engine.log").read_text().splitlines()
    taking_back = ["unshare chown -hRP 0:0 -- /a b /-c"] if is_taken_back else []
    assert told[told.index("rm --force --volumes name") + 1 :] == taking_back


def test_values_of_variables_are_not_on_the_command_line(tmp_path):
    told = words(tmp_path, variables={"PROCTOR_SECRET_TOKEN": "secret"})
    assert "--env=PROCTOR_SECRET_TOKEN" in told
    assert not [word for word in told if "secret" in word]


def test_shares_are_read_only_unless_they_say_so(tmp_path):
    shares = (Share(tmp_path / "a,b", "/a"), Share(tmp_path / "c", "/c", writable=True))
    told = words(tmp_path, shares=shares)
    assert f'--mount=type=bind,"source={tmp_path}/a,b",target=/a,readonly' in told
    assert f"--mount=type=bind,source={tmp_path}/c,target=/c" in told


def test_system_calls_are_those_of_a_pod_with_every_engine(tmp_path):
    (option,) = [word for word in words(tmp_path) if "seccomp=" in word]
    profile = json.loads(Path(option.partition("seccomp=")[2]).read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")
        for name in rule["names"]
    }
    assert not allowed & {
        "unshare",
        "setns",
        "mount",
        "keyctl",
        "add_key",
        "bpf",
        "clone",
        "clone3",
    }


def test_proxies_of_our_environment_are_not_handed_on(tmp_path):
    assert "--http-proxy=false" in words(tmp_path)


def test_proxies_of_dockers_own_configuration_are_not_handed_on(tmp_path):
    told = words(tmp_path, "docker")
    for name in ("HTTP_PROXY", "https_proxy", "ALL_PROXY", "no_proxy"):
        assert f"--env={name}=" in told


@pytest.mark.parametrize(
    ("wanted", "named"),
    [pytest.param(None, "podman or docker", id="any"), pytest.param("docker", "docker", id="one")],
)
def test_an_engine_that_is_not_installed_is_named_with_the_remedy(tmp_path, wanted, named):
    with pytest.raises(EngineError, match=f"needs {named}, which is not on PATH: install it"):
        find_engine(wanted, {"PATH": str(tmp_path)})


def test_an_engine_that_does_not_answer_says_what_is_wrong(tmp_path):
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho Cannot connect to the daemon >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(EngineError, match="docker does not work here: Cannot connect"):
        find_engine(None, {"PATH": str(tmp_path)})


def test_podman_without_root_needs_cgroups_that_keep_limits(tmp_path):
    require_limits("podman", 0, tmp_path)
    require_limits("docker", 1000, tmp_path)
    with pytest.raises(EngineError, match="keeps no limits"):
        require_limits("podman", 1000, tmp_path)
    (tmp_path / "cgroup.controllers").touch()
    require_limits("podman", 1000, tmp_path)


def test_engines_get_what_they_need_and_no_keys():
    environ = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "DOCKER_HOST": "unix:///x.sock",
        "ANTHROPIC_API_KEY": "key",
        "HTTPS_PROXY": "http://me:password@proxy",
    }
    given = engine_environment(environ)
    assert given.keys() >= {"PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST"}
    assert "key" not in given.values()
    assert "HTTPS_PROXY" not in given


ENGINE = """#!{python}
import json, pathlib, sys
file = pathlib.Path(__file__).with_name("containers.json")
held = json.loads(file.read_text())
word, *rest = sys.argv[1:]
if word == "ps":
    filters = [one.removeprefix("label=") for one in rest if one.startswith("label=")]
    def has(labels, wanted):
        name, given, value = wanted.partition("=")
        return name in labels and (not given or labels[name] == value)
    print(*(name for name, labels in held.items() if all(has(labels, one) for one in filters)))
elif word == "create":
    labels = [one.removeprefix("--label=") for one in rest if one.startswith("--label=")]
    held["made"] = dict(one.split("=", 1) for one in labels)
    print("made")
elif word == "inspect":
    print(json.dumps(held[rest[-1]]))
elif word == "cp":
    file.with_name("copying.json").write_text(json.dumps(held))
elif word == "rm":
    held.pop(rest[-1])
file.write_text(json.dumps(held))
"""
"""An engine that holds nothing but labels."""


@pytest.fixture
def containers(tmp_path):
    """What the engine ``docker`` in ``tmp_path`` holds: name → labels."""
    program = tmp_path / "docker"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    path = tmp_path / "containers.json"
    path.write_text("{}")
    return path


def test_only_containers_of_this_user_boot_and_view_of_folders_are_removed(tmp_path, containers):
    """A folder that only another mount namespace has was once "gone", and its containers went."""
    engine = CommandEngine("docker", {"PATH": str(tmp_path)})
    gone = tmp_path / "gone"
    engine.copy_out("a/b:1", "/data", tmp_path / "copy", gone)
    ours = json.loads((tmp_path / "copying.json").read_text())["made"]
    held = {"ours": ours, "others": {FOLDER_LABEL: str(gone), PLACE_LABEL: "another"}}
    held["older"] = {FOLDER_LABEL: str(gone)}
    containers.write_text(json.dumps(held))
    assert engine.owners() == {"ours": gone}
    remove_abandoned(engine)
    assert json.loads(containers.read_text()).keys() == {"others", "older"}


def test_places_differ_by_user_boot_mounts_and_root(tmp_path):
    places = {
        place_of(1000, "boot", 1, (8, 2)),
        place_of(1001, "boot", 1, (8, 2)),
        place_of(1000, "later", 1, (8, 2)),
        place_of(1000, "boot", 2, (8, 2)),
        place_of(1000, "boot", 1, (8, 3)),
    }
    assert len(places) == 5
    assert this_place() == this_place()
