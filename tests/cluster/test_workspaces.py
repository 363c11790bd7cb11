"""Where an agent works: a folder that lives in the image, files of a ConfigMap."""

from cluster.kube import a_command_run, the_trial


def in_image(images, path, command, *criteria, **sandbox):
    return a_command_run(
        command,
        *criteria,
        workspace={"image": {"path": path}, "files": [{"path": "TASK", "content": "fix it"}]},
        sandbox={"image": images["testbed"], **sandbox},
    )


def test_a_repository_of_the_image_is_worked_on_where_it_lies(kube, images):
    spec = in_image(
        images,
        "/testbed",
        "pwd > where; sed -i s/41/42/ src/lib.py; git -c user.name=a -c user.email=a@b commit -qam "
        "fixed; git log --oneline | wc -l > commits",
        {"type": "run_command", "command": "/testbed/run.sh", "expectedStdout": "42"},
        {
            "type": "run_command",
            "command": "git status --porcelain --untracked-files=no",
            "expectedStdout": "",
        },
        {"type": "file_contains", "path": "where", "includes": ["/testbed"]},
        {"type": "file_contains", "path": "commits", "includes": ["2"]},
        {"type": "file_contains", "path": "TASK", "includes": ["fix it"]},
    )
    status = the_trial(kube, "testbed", spec)
    assert status["outcome"] == "Passed", status


def test_a_folder_that_the_user_cannot_read_is_a_named_configuration_error(kube, images):
    spec = in_image(images, "/rootbed", "true", {"type": "file_exists", "path": "private"})
    status = the_trial(kube, "unreadable", spec)
    assert status["outcome"] == "InfraFailed"
    assert status["attempts"][0]["reason"] == "WorkspaceNotFilled"
    assert "private: unreadable" in status["reason"]


def test_and_root_reads_it(baseline, images):
    criterion = {"type": "run_command", "command": "cat private", "expectedStdout": "secret"}
    spec = in_image(images, "/rootbed", "true", criterion, user="Image")
    status = the_trial(baseline, "readable", spec)
    assert status["outcome"] == "Passed", status


def test_a_missing_folder_is_named(kube, images):
    spec = in_image(images, "/nowhere", "true", {"type": "file_exists", "path": "x"})
    status = the_trial(kube, "missing", spec)
    assert "the image has no folder /nowhere" in status["reason"]


def test_files_of_a_config_map_lie_in_the_workspace_and_come_a_moment_later(kube):
    spec = a_command_run(
        "cat src/one > copied",
        {"type": "file_contains", "path": "copied", "includes": ["of the map"]},
        workspace={"configMap": {"name": "starter", "path": "src"}},
    )
    kube.run("mapped", spec)
    kube(
        "wait", "evalrun/mapped", "--timeout=60s",
        "--for=jsonpath={.status.conditions[?(@.type=='Accepted')].reason}=SourceNotFound",
    )  # fmt: skip
    kube("create", "configmap", "starter", "--from-literal=one=of the map")
    kube.finished("mapped")
    (trial,) = kube.trials("mapped")
    assert trial["status"]["outcome"] == "Passed", trial["status"]
