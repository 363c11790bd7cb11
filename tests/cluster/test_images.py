"""Any Linux image will do: the runner brings its own interpreter."""

from cluster.kube import a_command_run


def test_a_trial_in_an_image_with_nothing_but_busybox_is_run_and_graded(kube, busybox_image):
    spec = a_command_run(
        "echo hello > out.txt",
        {"type": "file_contains", "path": "out.txt", "includes": ["hello"]},
        {"type": "run_command", "command": "cat out.txt", "expectedStdout": "hello"},
        {"type": "run_command", "command": "! command -v python3 && ! command -v bash"},
        sandbox={"image": busybox_image},
    )
    kube.run("busybox", spec)
    run = kube.finished("busybox")
    (trial,) = kube.trials("busybox")
    assert run["status"]["trials"]["passed"] == 1, trial["status"]


def test_a_trial_in_an_image_of_musl_without_any_shell_is_run_and_graded(kube, images):
    probe = "/bin/probe"
    spec = a_command_run(
        "",
        {"type": "file_contains", "path": "out.txt", "includes": ["hello"]},
        {"type": "run_command", "argv": [probe, "print", "out.txt"], "expectedStdout": "hello"},
        {"type": "run_command", "argv": [probe, "user"], "expectedStdout": "64000"},
        sandbox={"image": images["musl"]},
    )
    spec["agent"]["options"] = {"argv": [probe, "write", "out.txt", "hello"], "prompt": "Env"}
    kube.run("musl", spec)
    run = kube.finished("musl")
    (trial,) = kube.trials("musl")
    assert run["status"]["trials"]["passed"] == 1, trial["status"]
