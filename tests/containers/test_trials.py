"""What a trial in a container sees, what it leaves, and how its ends are told."""

import asyncio

from builders_egress import a_pass
from builders_git import a_git_proxy
from git_server import a_repository, certificate, serving

PASSED = [{"type": "file_exists", "path": "made.txt"}]


def test_agent_and_checks_have_the_folders_of_a_pod(proctor):
    command = """
        pwd > made.txt; echo $HOME >> made.txt; id -u >> made.txt
        grep -c . /proc/1/status > /dev/null 2>&1; echo left > $HOME/left
    """
    check = 'test "$(pwd)" = /workspace -a "$(cat $HOME/left)" = left -a "$(id -u)" = 64000'
    criteria = [
        {
            "type": "file_contains",
            "path": "made.txt",
            "includes": ["/workspace\n/home/agent\n64000"],
        },
        {"type": "run_command", "command": check},
    ]
    trial = proctor.trial(proctor.manifest(command, criteria))
    assert (trial["outcome"], trial["score"]) == ("Passed", "1"), trial


def test_hidden_files_are_there_for_the_checks_only(proctor):
    skipped = "/bin|/dev|/proc|/sys|/proctor"
    find = f"for at in /*; do case $at in {skipped}) ;; *) grep -r needle $at;; esac; done"
    criteria = [
        {
            "type": "file_contains",
            "path": "made.txt",
            "includes": ["tried"],
            "excludes": ["needle-1"],
        },
        {"type": "run_command", "command": 'grep -q needle-1 "$REFERENCE_DIR/answer"'},
    ]
    hidden = {"files": [{"path": "answer", "content": "needle-1"}]}
    manifest = proctor.manifest(
        f"(echo tried; {find}) > made.txt; true", criteria, reference=hidden
    )
    assert proctor.trial(manifest)["outcome"] == "Passed"


def test_agent_has_no_rights_and_cannot_change_its_runner(proctor):
    command = """
        grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp:' /proc/self/status > made.txt
        touch /proctor/bin/mine || echo read-only >> made.txt
        mount -t tmpfs none /proctor || echo no-mounts >> made.txt
    """
    criteria = [
        {
            "type": "file_matches_regex",
            "path": "made.txt",
            "pattern": r"CapPrm:\s0+\nCapEff:\s0+\nCapBnd:\s0+\nNoNewPrivs:\s1\nSeccomp:\s2\n"
            r"read-only\nno-mounts",
        }
    ]
    trial = proctor.trial(proctor.manifest(command, criteria))
    assert trial["outcome"] == "Passed", (proctor.work / "frozen/workspace/made.txt").read_text()


def test_checks_change_nothing_of_what_is_graded(proctor):
    criteria = [
        {"type": "run_command", "command": "rm made.txt && ! test -e /frozen/workspace/x"},
        *PASSED,
    ]
    assert proctor.trial(proctor.manifest("touch made.txt", criteria))["outcome"] == "Passed"


def test_what_is_persisted_passes_and_what_else_was_installed_does_not(proctor):
    criteria = [{"type": "run_command", "command": "test -e /opt/tool/x -a ! -e /tmp/y"}]
    manifest = proctor.manifest(
        "echo x > /opt/tool/x; echo y > /tmp/y", criteria, sandbox={"persist": ["/opt/tool"]}
    )
    assert proctor.trial(manifest)["outcome"] == "Passed"


def test_workspace_comes_from_the_image(proctor):
    criteria = [
        {"type": "file_contains", "path": "file.txt", "includes": ["of the image", "changed"]},
        {"type": "run_command", "command": "grep changed /data/file.txt"},
    ]
    manifest = proctor.manifest(
        "echo changed >> file.txt", criteria, workspace={"image": {"path": "/data"}}
    )
    assert proctor.trial(manifest)["outcome"] == "Passed"


def test_a_folder_that_the_image_lacks_is_named(proctor):
    manifest = proctor.manifest("true", PASSED, workspace={"image": {"path": "/nothing"}})
    trial = proctor.trial(manifest)
    assert trial["score"] is None
    assert "WorkspaceNotFilled" in trial["reason"]
    assert "the image has no folder /nothing" in trial["reason"]


def test_a_death_by_memory_is_called_so(proctor):
    # Less than the runner itself needs: its own watch over memory comes too late.
    sandbox = {"resources": {"memory": "12Mi"}}
    trial = proctor.trial(proctor.manifest("touch made.txt", PASSED, sandbox=sandbox))
    assert (trial["outcome"], trial["score"]) == ("AgentError", "0"), trial
    assert "OOMKilled" in trial["reason"]


def test_a_greedy_process_dies_and_the_trial_goes_on(proctor):
    greedy = "sh -c 'x=a; while :; do x=$x$x$x$x; done'; touch made.txt"
    sandbox = {"resources": {"memory": "96Mi"}}
    trial = proctor.trial(proctor.manifest(greedy, PASSED, sandbox=sandbox))
    assert trial["score"] in ("0", "1"), trial


def test_one_that_cannot_start_is_a_configuration_error(proctor):
    sandbox = {"resources": {"memory": "1Ki"}}
    trial = proctor.trial(proctor.manifest("true", PASSED, sandbox=sandbox))
    assert trial["score"] is None
    assert "RunnerCannotStart" in trial["reason"]


async def test_workspace_is_a_repository(proctor, tmp_path, monkeypatch):
    commit = a_repository(tmp_path / "repositories" / "shop", {"src/app.py": "print('shop')\n"})
    criteria = [
        {"type": "file_contains", "path": "src/app.py", "includes": ["shop", "changed"]},
        {"type": "run_command", "command": "test -d .git && grep -q changed src/app.py"},
    ]
    manifest = proctor.manifest(
        "echo '# changed' >> src/app.py",
        criteria,
        workspace={"git": {"url": "https://git.test/shop", "commit": commit}},
    )
    pair = certificate(tmp_path, "git.test")
    with serving(tmp_path / "repositories", pair) as server:
        async with a_git_proxy(server.port) as proxy:
            monkeypatch.setenv("https_proxy", f"http://proctor:{a_pass('git.test')}@{proxy}")
            monkeypatch.setenv("no_proxy", "")
            monkeypatch.setenv("GIT_SSL_CAINFO", str(pair[0]))
            trial = await asyncio.to_thread(proctor.trial, manifest)
    assert (trial["outcome"], trial["score"]) == ("Passed", "1"), trial
