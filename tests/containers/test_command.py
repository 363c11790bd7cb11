"""`proctor run --container`: errors before anything starts, interruptions, resumption."""

import json
import os
import signal
import subprocess

import pytest

from waiting import until

PASSED = [{"type": "file_exists", "path": "made.txt"}]
HANG = "touch running; while :; do sleep 1; done"


@pytest.fixture
def hanging(proctor, podman):
    """Two trials, one after the other: the second hangs for its eight seconds."""
    manifest = proctor.manifest(
        f"grep -q hang && {{ {HANG}; }}; touch made.txt",
        PASSED,
        limits={"taskTimeoutSeconds": 8},
    )
    body = json.loads(manifest.read_text())
    (task,) = body["spec"]["tasks"]
    body["spec"]["tasks"] = [
        {**task, "name": "first", "prompt": "end"},
        {**task, "name": "second", "prompt": "hang"},
    ]
    manifest.write_text(json.dumps(body))
    with proctor.start(manifest, "-j", 1, "--seed", "in-order", "-o", "out") as process:
        work = proctor.folder / "out/trials/second/default/0/work/workspace"
        until(lambda: (work / "running").exists(), "the second trial does not run")
        assert len(podman.names()) == 1
        yield process
        process.kill()


def outcomes(proctor):
    trials = json.loads((proctor.folder / "out/run.json").read_text())["trials"]
    return {trial["task"]: trial["outcome"] for trial in trials}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_interrupted_it_leaves_no_container_and_a_readable_record(proctor, podman, hanging, number):
    hanging.send_signal(number)
    _, err = hanging.communicate(timeout=60)
    assert hanging.returncode == 130, err
    assert podman.names() == []
    assert outcomes(proctor) == {"first": "Passed", "second": "Cancelled"}


def test_interrupted_twice_it_ends_at_once(proctor, podman, hanging):
    hanging.send_signal(signal.SIGINT)
    assert any("stopping" in line for line in hanging.stderr)
    hanging.send_signal(signal.SIGINT)
    hanging.communicate(timeout=60)
    assert hanging.returncode == 130
    assert podman.names() == []


def test_killed_it_leaves_no_container_and_can_be_resumed(proctor, podman, hanging):
    hanging.kill()
    hanging.communicate(timeout=60)
    until(lambda: not podman.names(), "the container outlives its launcher")

    resumed = proctor.run("--resume", "out")
    assert resumed.returncode == 1, resumed.stderr
    assert "1 of them have a verdict already" in resumed.stderr
    assert outcomes(proctor)["first"] == "Passed"
    assert outcomes(proctor)["second"] in ("TimedOut", "Failed")


def test_a_run_in_containers_is_not_resumed_without(proctor, hanging):
    hanging.send_signal(signal.SIGINT)
    hanging.communicate(timeout=60)
    command = [word for word in proctor.command("--resume", "out") if word != "--container"]
    position = command.index("--runner-image")
    done = subprocess.run(
        [*command[:position], *command[position + 2 :]],
        cwd=proctor.folder,
        env=proctor.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--container" in done.stderr


def test_a_container_whose_keeper_was_killed_too_is_removed_by_the_next_run(
    proctor, podman, hanging
):
    children = ["pgrep", "--parent", str(hanging.pid)]
    (keeper,) = subprocess.run(children, capture_output=True, check=True).stdout.split()
    os.kill(int(keeper), signal.SIGSTOP)  # so that it does not see that its launcher is gone
    hanging.kill()
    os.kill(int(keeper), signal.SIGKILL)
    hanging.communicate(timeout=60)
    assert len(podman.names()) == 1

    done = proctor.run(proctor.manifest("touch made.txt", PASSED), "-o", "second", "-q")
    assert done.returncode == 0, done.stderr
    assert podman.names() == []


def test_an_image_that_is_not_here_is_named_with_the_remedy(proctor):
    manifest = proctor.manifest("true", PASSED, sandbox={"image": "registry.example/a/b:1"})
    done = proctor.run(manifest)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the image registry.example/a/b:1 is not here: podman pull registry.example/a/b:1\n"
    )


def test_a_runner_image_that_is_not_here_is_named_with_the_remedy(proctor):
    done = proctor.run(proctor.manifest("true", PASSED), "--runner-image", "localhost/none:1")
    assert done.returncode == 2
    assert "the runner image localhost/none:1 is not here" in done.stderr


def test_the_same_file_gives_the_same_verdicts_without_containers(proctor):
    criteria = [*PASSED, {"type": "run_command", "command": "grep -q yes made.txt"}]
    manifest = proctor.manifest("echo no > made.txt", criteria)
    inside = proctor.trial(manifest)
    command = [word for word in proctor.command(manifest, "--json") if word != "--container"]
    position = command.index("--runner-image")
    done = subprocess.run(
        [*command[:position], *command[position + 2 :]],
        cwd=proctor.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    (outside,) = json.loads(done.stdout)["trials"]
    for key in ("outcome", "score", "reason"):
        assert inside[key] == outside[key]
