"""Checks in the agent's own container: what is hidden comes when nothing of the agent is left."""

import json

import pytest

HIDDEN = {"files": [{"path": "answer", "content": "needle-1"}]}
CAME = {"type": "run_command", "command": 'grep -q needle-1 "$REFERENCE_DIR/answer"'}
IN_PLACE = {"checks": "InPlace"}


def trial_in_place(proctor, command, *criteria, **sandbox):
    manifest = proctor.manifest(
        command, [*criteria, CAME], reference=HIDDEN, sandbox={**IN_PLACE, **sandbox}
    )
    return proctor.trial(manifest, "--allow-image-user")


def passes(trial):
    return (trial["outcome"], trial["score"]) == ("Passed", "1")


def test_checks_see_the_machine_that_the_agent_left_and_the_record_says_so(proctor):
    command = "echo kept > /tmp/of-the-machine; echo x > $HOME/x; echo made > made.txt"
    check = {"type": "run_command", "command": "cat /tmp/of-the-machine $HOME/x made.txt"}
    trial = trial_in_place(proctor, command, {**check, "expectedStdout": "kept\nx\nmade"})
    assert passes(trial), trial
    (record,) = (proctor.folder / "out").glob("trials/*/*/*/record/execution.json")
    assert json.loads(record.read_text())["context"]["isolation"] == "InPlace"


@pytest.mark.parametrize("user", ["NonRoot", "Image"])
def test_an_agent_finds_neither_what_is_hidden_nor_the_secret(proctor, roots, user):
    skipped = "/bin|/dev|/proc|/sys|/proctor"
    find = f"for at in /*; do case $at in {skipped}) ;; *) grep -r needle $at;; esac; done"
    command = f"""
        (echo tried; {find}) > made.txt
        ls -A /var/run/proctor/loop /scratch >> made.txt
        cat /proc/1/environ /proc/1/fd/* >> made.txt 2> /dev/null
        rm /var/run/proctor/handover/loop.sock 2> /dev/null
        true
    """
    made = {"type": "file_contains", "path": "made.txt", "excludes": ["needle-1"]}
    nothing = r"tried\n(.*\n)*/scratch:\n\n/var/run/proctor/loop:\n\Z"
    empty = {"type": "file_matches_regex", "path": "made.txt", "pattern": nothing}
    trial = trial_in_place(proctor, command, made, empty, image=roots, user=user)
    assert passes(trial), (trial, (proctor.work / "frozen/workspace/made.txt").read_text())


def test_what_an_agent_left_in_the_background_is_dead_before_what_is_hidden_comes(proctor):
    spy = "while :; do cat /scratch/*/* >> stolen 2> /dev/null; date > alive; done"
    command = f"""
        trap '' TERM; setsid sh -c "{spy}" < /dev/null > /dev/null 2>&1 &
        until test -s alive; do :; done
    """
    still = {"type": "run_command", "command": "rm alive; sleep 1; ! test -e alive"}
    gone = {"type": "run_command", "command": "! test -s stolen"}
    trial = trial_in_place(proctor, command, still, gone)
    assert passes(trial), trial


def test_checks_change_nothing_of_what_is_graded_as_data(proctor):
    change = {"type": "run_command", "command": 'cp "$REFERENCE_DIR/answer" made.txt'}
    made = {"type": "file_contains", "path": "made.txt", "includes": ["guess"]}
    trial = trial_in_place(proctor, "echo guess > made.txt", change, made)
    assert passes(trial), trial


@pytest.mark.parametrize(
    "sandbox", [pytest.param({}, id="own-user"), pytest.param({"user": "Image"}, id="image-user")]
)
def test_without_an_agent_that_ends_well_nothing_is_handed_over(proctor, sandbox):
    """Its runner is killed for its memory, so nobody asks; the trial is the agent's failure."""
    trial = trial_in_place(proctor, "true", resources={"memory": "12Mi"}, **sandbox)
    assert (trial["outcome"], trial["score"]) == ("AgentError", "0"), trial
