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
