"""`sandbox.user: Image`: images made for root, and what root still cannot do."""

from cluster.kube import a_command_run, the_trial


def as_root(images, command, *criteria, **sandbox):
    return a_command_run(
        command, *criteria, sandbox={"image": images["testbed"], "user": "Image", **sandbox}
    )


def test_a_task_may_need_root_and_is_graded_by_somebody_who_is_not(baseline, images):
    command = (
        "id -u > who; umask 077; mkdir d; echo 42 > d/f; chown -R 1000:1000 d; "
        "echo tool > $HOME/tool; chmod 600 $HOME/tool"
    )
    spec = as_root(
        images,
        command,
        {"type": "file_contains", "path": "who", "includes": ["0"]},
        {"type": "file_contains", "path": "d/f", "includes": ["42"]},
        {"type": "run_command", "command": "id -u", "expectedStdout": "0"},
        {"type": "run_command", "command": "cat $HOME/tool d/f", "expectedStdout": "tool\n42"},
    )
    status = the_trial(baseline, "root", spec)
    assert status["outcome"] == "Passed", status
    assert baseline.get("evalrun", "root")["status"]["user"] == "Image"


def test_root_neither_reads_nor_ends_the_runner(baseline, images):
    spy = (
        "for f in environ mem maps exe fd/0 fd/3; do cat /proc/1/$f >> seen 2>/dev/null; done; "
        "mount -o remount,rw /proctor 2>/dev/null && echo m >> seen; "
        "touch /proctor/x 2>/dev/null && echo w >> seen; kill -9 1; kill -TERM 1; "
        "cat /var/run/secrets/kubernetes.io/serviceaccount/token >> seen 2>/dev/null; echo alive"
    )
    spec = as_root(images, f"{spy} > done", {"type": "run_command", "command": "test ! -s seen"})
    status = the_trial(baseline, "spy", spec)
    assert status["outcome"] == "Passed", status


def test_a_namespace_that_forbids_root_says_so(kube, images):
    spec = as_root(images, "true", {"type": "file_exists", "path": "x"})
    status = the_trial(kube, "forbidden", spec)
    assert status["outcome"] == "InfraFailed"
    assert "AdmissionDenied" in status["reason"]
    assert "restricted" in status["reason"]
