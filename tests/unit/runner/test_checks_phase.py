"""The phase ``checks`` from its command line to its evidence, as a real process."""

import pytest

from builders_runner import a_file, a_shell, agent_orders, checks_orders, some_commands
from proctor.api.evidence import Command
from proctor.api.orders import CriterionCommands
from proctor.api.report import EXIT_NOT_STARTED


def test_commands_see_the_workspace_and_what_was_installed_in_home(folders):
    tool = (
        'mkdir -p "$HOME/.local/bin"; printf "#!/bin/sh\\necho tool\\n" > "$HOME/.local/bin/tool"'
    )
    folders.agent(agent_orders(f'{tool}; chmod +x "$HOME/.local/bin/tool"; echo 1 > one'))

    assert folders.checks(checks_orders(some_commands("tool; cat one"))).code == 0
    (result,) = folders.checks_report().results[0]
    assert (result.exit_code, result.stdout) == (0, b"tool\n1\n")


def test_commands_run_in_order_and_keep_what_they_built(folders):
    folders.agent(agent_orders())
    folders.checks(
        checks_orders(some_commands("echo 1 > built"), some_commands("cat built", index=4))
    )

    results = folders.checks_report().results
    assert sorted(results) == [0, 4]
    assert results[4][0].stdout == b"1\n"


@pytest.mark.parametrize(
    ("line", "exit_code", "problem"),
    [
        pytest.param("exit 3", 3, None, id="exit-code"),
        pytest.param("kill -9 $$", -9, None, id="signal"),
        pytest.param("sleep 60", None, "timed out after 1 s", id="timeout"),
    ],
)
def test_result_says_how_a_command_ended(folders, line, exit_code, problem):
    folders.agent(agent_orders())
    folders.checks(checks_orders(some_commands(line, timeout_seconds=1)))

    (result,) = folders.checks_report().results[0]
    assert (result.exit_code, result.problem) == (exit_code, problem)


def test_command_that_does_not_exist_has_no_exit_code(folders):
    folders.agent(agent_orders())
    folders.checks(checks_orders(CriterionCommands(0, (Command(("no-such-program",), 5),))))

    (result,) = folders.checks_report().results[0]
    assert result.exit_code is None
    assert "no-such-program" in result.problem


def test_command_has_its_own_environment_and_hands_over_outputs(folders):
    command = Command(
        ("sh", "-c", 'echo "$WHO" > out/a.txt; ln -s /etc/passwd out/b.txt'),
        5,
        {"WHO": "me"},
        ("out/*.txt", "missing"),
    )
    folders.agent(agent_orders("mkdir out"))
    folders.checks(checks_orders(CriterionCommands(0, (command,))))

    (result,) = folders.checks_report().results[0]
    assert result.outputs == {"out/a.txt": b"me\n"}


def test_streams_are_cut_at_their_limit(folders):
    folders.agent(agent_orders())
    folders.checks(checks_orders(some_commands("head -c 300000 /dev/zero | tr '\\0' x")))

    (result,) = folders.checks_report().results[0]
    assert (len(result.stdout), result.truncated, result.exit_code) == (256 * 1024, True, 0)


def test_background_process_that_keeps_the_stream_does_not_hold_up_the_result(folders):
    folders.agent(agent_orders())
    folders.checks(checks_orders(some_commands("sleep 300 & echo done")))

    (result,) = folders.checks_report().results[0]
    assert (result.stdout, result.exit_code) == (b"done\n", 0)
    assert result.seconds < 10


def test_pre_run_runs_again_on_the_copy(folders):
    prepare = a_shell("echo prepared >> notes")
    folders.agent(agent_orders(pre_run=(prepare,)))
    folders.checks(checks_orders(some_commands("wc -l < notes"), pre_run=(prepare,)))

    (result,) = folders.checks_report().results[0]
    assert result.stdout.strip() == b"2"


def test_pre_run_that_fails_here_leaves_no_results_and_says_why(folders):
    folders.agent(agent_orders())
    folders.checks(checks_orders(some_commands("true"), pre_run=(a_shell("exit 5"),)))

    report = folders.checks_report()
    assert report.results == {}
    assert "exit code 5" in report.setup_failed


def test_commands_beyond_the_time_of_all_checks_are_named_as_not_run(folders):
    folders.agent(agent_orders())
    orders = checks_orders(some_commands("sleep 60", "true"), timeout_seconds=1)

    assert folders.checks(orders).code == 0
    first, second = folders.checks_report().results[0]
    assert "timed out" in first.problem
    assert "used up" in second.problem


def test_post_run_that_fails_changes_nothing(folders):
    folders.agent(agent_orders())
    orders = checks_orders(some_commands("true"), post_run=(a_shell("exit 7", must_succeed=False),))

    assert folders.checks(orders).code == 0
    report = folders.checks_report()
    assert report.post_run[0].exit_code == 7
    assert report.results[0][0].exit_code == 0


def test_reference_files_lie_outside_the_workspace(folders):
    folders.agent(agent_orders())
    orders = checks_orders(
        some_commands('cat "$REFERENCE_DIR/deep/answer"; ls -A'),
        reference=(a_file("deep/answer", "42\n"),),
    )
    folders.checks(orders)

    (result,) = folders.checks_report().results[0]
    assert result.stdout == b"42\n"


def test_orders_that_cannot_be_read_have_an_exit_code_of_their_own(folders):
    folders.agent(agent_orders())

    assert folders.checks(checks_orders(version=2)).code == EXIT_NOT_STARTED


def test_used_place_for_the_copy_is_refused(folders):
    folders.agent(agent_orders())
    folders.copy.mkdir()
    (folders.copy / "left").touch()

    ended = folders.checks(checks_orders())

    assert ended.code == 1
    assert "is used already" in ended.err


def test_a_command_that_reports_tests_gets_a_word_that_no_other_gets(folders):
    folders.agent(agent_orders())
    line = ("sh", "-c", 'echo "$PROCTOR_NONCE"')
    commands = (Command(line, 5, nonce=True), Command(line, 5, nonce=True), Command(line, 5))
    folders.checks(checks_orders(CriterionCommands(0, commands)))

    one, other, none = folders.checks_report().results[0]
    assert one.stdout.decode().strip() == one.nonce != other.nonce
    assert len(one.nonce) == 32
    assert (none.stdout, none.nonce) == (b"\n", "")
