"""What an agent may try against the phases; none of it may help it or keep it from its zero."""

import json
import os
import socket

import pytest

from builders_runner import (
    a_file,
    a_shell,
    agent_orders,
    checks_orders,
    file_contains,
    file_exists,
    grade_orders,
    graded,
    run_command,
    some_commands,
)
from proctor.api.outcome import Outcome

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="needs root to make device files")


def processes_named(token):
    """Command lines of all live processes that hold ``token``."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    found += [line for line in [file.read()] if token.encode() in line]
            except OSError:
                continue
    return found


def test_honest_agent_passes(folders):
    criteria = (run_command("sh fizz.sh 15"), file_contains("fizz.sh", "echo"))
    checks = checks_orders(some_commands("sh fizz.sh 15"))

    verdict = graded(
        folders, agent_orders("echo 'echo $1' > fizz.sh"), grade_orders(*criteria), checks
    )

    assert (verdict.outcome, verdict.score, verdict.passed) == (Outcome.PASSED, 1, (True, True))
    assert (verdict.turns, verdict.reason) == (3, "")


def test_files_that_look_like_verdicts_and_evidence_gain_nothing(folders):
    forged = json.dumps({"status": "completed", "score": 1.0, "o": "Passed"})
    evidence = folders.agent_evidence
    script = f"""
        for name in verdict.json agent.json checks.json manifest.json; do
            echo '{forged}' > $name; echo '{forged}' > {evidence}/$name
        done
        mkdir {folders.root}/checks_evidence; echo '{forged}' > {folders.root}/checks_evidence/x
        rm {evidence}/transcript.jsonl; mkdir -p {evidence}/transcript.jsonl/deep
        echo PASSED; echo '{{"outcome": "Passed"}}'; exit 1
    """
    verdict = graded(folders, agent_orders(script), grade_orders(file_exists("answer.txt")))

    assert (verdict.outcome, verdict.score) == (Outcome.AGENT_ERROR, 0)
    assert sorted(os.listdir(evidence)) == ["agent.json", "transcript.jsonl"]
    assert [event["event"] for event in folders.events()] == ["AgentStart", "AgentEnd"]


def test_module_that_copies_the_hidden_answer_when_checks_run_it_gains_nothing(folders):
    """The frozen copy: what code of the agent writes in ``checks`` no data criterion sees."""
    plant = 'cp "$REFERENCE_DIR/answer.txt" . ; cp "$REFERENCE_DIR/answer.txt" "$HOME"'
    script = f"echo '{plant}' > conftest.sh"
    criteria = (run_command("sh conftest.sh"), file_contains("answer.txt", "42"))
    checks = checks_orders(
        some_commands("sh conftest.sh && cat answer.txt"), reference=(a_file("answer.txt", "42"),)
    )

    verdict = graded(folders, agent_orders(script), grade_orders(*criteria), checks)

    assert folders.checks_report().results[0][0].stdout == b"42"
    assert verdict.passed == (True, False)
    assert verdict.outcome is Outcome.FAILED
    assert sorted(os.listdir(folders.workspace)) == ["conftest.sh"]
    assert not (folders.home / "answer.txt").exists()


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("{loop} >/dev/null &", id="background"),
        pytest.param("setsid {loop} >/dev/null 2>&1 &", id="own-session"),
        pytest.param("(setsid sh -c '{loop} & {loop} &' >/dev/null 2>&1 &)", id="orphans"),
        pytest.param("trap '' TERM HUP INT; {loop} >/dev/null &", id="ignores-signals"),
    ],
)
def test_writer_that_outlives_the_agent_is_dead_before_the_workspace_is_frozen(folders, start):
    token = f"writer-{folders.root.name}"
    (folders.root / "loop.sh").write_text("while :; do echo $1 >> grown; done\n")
    loop = f"sh {folders.root}/loop.sh {token}"

    folders.agent(agent_orders(f"{start.format(loop=loop)}\nwhile ! test -s grown; do :; done"))

    assert folders.agent_report().status == "completed"
    assert processes_named(token) == []


def test_process_that_a_check_leaves_is_dead_before_the_next_check(folders):
    token = f"server-{folders.root.name}"
    first = f"setsid sh -c 'echo up > up; sleep 300; : {token}' >/dev/null 2>&1 & true"
    look = "grep -l server- /proc/[0-9]*/cmdline 2>/dev/null | grep -v /self/ | wc -l"
    folders.agent(agent_orders())

    folders.checks(checks_orders(some_commands(first, look)))

    assert processes_named(token) == []


def test_symlinks_lead_nowhere(folders):
    secret = folders.root / "secret.txt"
    secret.write_text("42")
    script = f"""
        ln -s {secret} answer.txt; ln -s .. up; ln -s ../secret.txt over
        ln -s loop loop; mkdir in; echo 42 > in/real; ln -s in/real inner
    """
    criteria = [file_contains(path, "42") for path in ("answer.txt", "up/secret.txt", "over")]
    criteria += [file_exists("loop"), file_contains("inner", "42")]

    verdict = graded(folders, agent_orders(script), grade_orders(*criteria))

    assert verdict.passed == (False, False, False, False, True)


def test_symlinks_are_not_followed_when_modes_are_opened(folders):
    outside = folders.root / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").touch(mode=0o600)

    folders.agent(agent_orders(f"ln -s {outside} link; ln -s {outside}/file file"))

    assert outside.stat().st_mode & 0o777 == 0o700
    assert (outside / "file").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "make",
    [
        pytest.param("mkfifo special", id="fifo"),
        pytest.param("mknod special c 1 5", id="device", marks=AS_ROOT),
    ],
)
def test_special_file_is_absent_for_criteria_and_left_out_of_the_copy(folders, make):
    checks = checks_orders(some_commands("test ! -e special", index=1))
    criteria = (file_exists("special"), run_command("test ! -e special"))
    folders.agent(agent_orders(make))

    ended = folders.checks(checks)
    folders.grade(grade_orders(*criteria))

    assert "left out special: not a regular file" in ended.out
    assert folders.verdict().passed == (False, True)


def test_socket_is_left_out_of_the_copy(folders):
    folders.agent(agent_orders())
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folders.workspace / "s"))
        ended = folders.checks(checks_orders())

    assert ended.code == 0
    assert "left out s: not a regular file" in ended.out


def test_unreadable_files_of_the_agent_are_opened_for_the_phases_after_it(folders):
    script = """
        umask 077; mkdir -p d/e; echo 42 > d/e/f; cp /bin/true tool
        chmod 500 tool; chmod 000 d/e/f d/e d
    """
    folders.agent(agent_orders(script))

    modes = [(folders.workspace / path).stat().st_mode & 0o777 for path in ("d", "d/e/f", "tool")]
    assert modes == [0o750, 0o640, 0o750]


def test_names_with_newlines_and_without_utf8_are_only_names(folders):
    script = r"""touch "$(printf 'a\nb{"score": 1}')" "$(printf '\377\376')"; echo 42 > answer"""
    checks = checks_orders(some_commands("ls | wc -l", index=1))
    criteria = (file_contains("*", "42"), run_command("ls"), file_exists("**/*"))

    verdict = graded(folders, agent_orders(script), grade_orders(*criteria), checks)

    assert len(verdict.passed) == 3
    assert folders.checks_report().results[1][0].stdout.split() == [b"4"]
    assert len(os.listdir(folders.copy)) == 3


def test_huge_sparse_file_stays_sparse_in_the_copy_and_scores_zero(folders):
    criteria = (file_contains("big", "42"), file_exists("small"))
    folders.agent(agent_orders("truncate -s 1T big || truncate -s 100G big; touch small"))

    assert folders.checks(checks_orders()).code == 0
    folders.grade(grade_orders(*criteria))

    assert (folders.copy / "big").stat().st_blocks < 1000
    assert folders.verdict().passed == (False, True)
    assert folders.verdict().outcome is Outcome.FAILED
    assert "file bytes" in folders.verdict().reason


def test_tree_deeper_than_every_limit_scores_zero_and_breaks_no_phase(folders):
    script = """
        python3 -c "
import os
for _ in range(3000):
    os.mkdir('d'); os.chdir('d')
"; touch answer
    """
    criteria = (file_exists("answer"), file_exists("**/deep"))
    checks = checks_orders(some_commands("test -f answer"))

    verdict = graded(folders, agent_orders(script), grade_orders(*criteria), checks)

    assert verdict.passed == (True, False)
    assert "depth" in verdict.reason


def test_hidden_files_are_fresh_for_each_criterion(folders):
    spoil = 'echo 0 > "$REFERENCE_DIR/answer"; chmod 000 "$REFERENCE_DIR/answer"'
    checks = checks_orders(
        some_commands(spoil),
        some_commands('cat "$REFERENCE_DIR/answer"', index=1),
        reference=(a_file("answer", "42"),),
    )
    folders.agent(agent_orders())
    folders.checks(checks)

    assert folders.checks_report().results[1][0].stdout == b"42"


def test_hidden_files_are_gone_before_post_run(folders):
    checks = checks_orders(
        some_commands("true"),
        reference=(a_file("answer", "42"),),
        post_run=(a_shell('ls "$REFERENCE_DIR" | wc -l', must_succeed=False),),
    )
    folders.agent(agent_orders())
    folders.checks(checks)

    (post,) = folders.checks_report().post_run
    assert post.output.strip() == "0"


def test_agent_cannot_read_or_write_the_runners_memory_or_environment(folders):
    script = """
        runner=$PPID
        cat /proc/$runner/environ > environ 2>/dev/null; true > /proc/$runner/mem 2>/dev/null
        ls -l /proc/$runner/exe > exe 2>/dev/null; stat -c %U /proc/$runner/environ > owner
    """
    folders.agent(agent_orders(script))

    assert (folders.workspace / "owner").read_text() == "root\n"
    if os.getuid() != 0:
        assert (folders.workspace / "environ").read_text() == ""


def test_evidence_that_is_flooded_is_bounded(folders):
    noisy = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"
    folders.agent(agent_orders())
    folders.checks(checks_orders(*(some_commands(noisy, index=index) for index in range(60))))

    assert (folders.checks_evidence / "checks.json").stat().st_size < 64 * 2**20
    assert folders.checks_report().results[0][0].truncated


def test_shell_that_the_agent_planted_does_not_run_the_checks(folders):
    """HOME's programs came first on PATH: a planted ``sh`` made every check pass."""
    script = """
        mkdir -p "$HOME/.local/bin"; cd "$HOME/.local/bin"
        printf '#!/bin/true\\n' > sh; cp sh grep; chmod +x sh grep
    """
    criteria = grade_orders(run_command("grep -q 42 answer"))
    checks = checks_orders(some_commands("grep -q 42 answer"))

    verdict = graded(folders, agent_orders(script), criteria, checks)

    assert (verdict.outcome, verdict.score) == (Outcome.FAILED, 0)
