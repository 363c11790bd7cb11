import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders_criteria import a_result, evidence, problems, verdict_of
from proctor.api.evidence import Command
from proctor.api.verdict import Scored, Unscored
from proctor.criteria.run_command import RunCommand


def judged(result, **options):
    return verdict_of("run_command", evidence(result), command="make test", **options)


def test_a_command_line_runs_in_the_shell_of_the_image():
    criterion = RunCommand(command="pytest -q | tail", timeout_seconds=7)
    assert criterion.commands() == (Command(("sh", "-c", "pytest -q | tail"), 7),)


def test_an_argument_list_needs_no_shell():
    assert RunCommand(argv=("/bin/true", "a b")).commands()[0].argv == ("/bin/true", "a b")


@pytest.mark.parametrize(
    ("result", "options", "score", "explanation"),
    [
        pytest.param(a_result(0), {}, 1.0, "exit code 0", id="zero"),
        pytest.param(a_result(3), {"expectedExitCode": 3}, 1.0, "exit code 3", id="expected-code"),
        pytest.param(
            a_result(1, "1 passed\n", "warning\nE: no module x\n\n"),
            {},
            0.0,
            "exit code 1, expected 0; stderr: E: no module x",
            id="last-line-of-stderr",
        ),
        pytest.param(
            a_result(1, "2 failed\n"),
            {},
            0.0,
            "exit code 1, expected 0; stdout: 2 failed",
            id="stdout-when-stderr-is-empty",
        ),
        pytest.param(
            a_result(0), {"expectedExitCode": 2}, 0.0, "exit code 0, expected 2", id="zero-is-wrong"
        ),
        pytest.param(a_result(-9), {}, 0.0, "killed by SIGKILL", id="signal"),
        pytest.param(a_result(-77), {}, 0.0, "killed by signal 77", id="unnamed-signal"),
        pytest.param(
            a_result(None, problem="timed out after 30 s"),
            {},
            0.0,
            "timed out after 30 s",
            id="timeout",
        ),
        pytest.param(a_result(None), {}, 0.0, "the command did not end", id="no-exit-code"),
    ],
)
def test_the_exit_code_decides(result, options, score, explanation):
    assert judged(result, **options) == Scored(score, explanation)


@pytest.mark.parametrize(
    ("stdout", "match", "expected", "score"),
    [
        pytest.param("  42\n", "exact", "42", 1.0, id="exact-ignores-blanks-at-the-ends"),
        pytest.param("42!", "exact", "42", 0.0, id="exact-is-all-of-it"),
        pytest.param("", "exact", "", 1.0, id="exactly-nothing"),
        pytest.param("all 3 tests passed", "contains", " 3 tests\n", 1.0, id="contains"),
        pytest.param("all tests passed", "contains", "3 tests", 0.0, id="contains-not"),
        pytest.param("a\n  b: 12\n", "regex", r"b: \d+$", 1.0, id="regex-is-searched"),
        pytest.param("b: x", "regex", r"b: \d+", 0.0, id="regex-not-found"),
    ],
)
def test_stdout_is_compared(stdout, match, expected, score):
    verdict = judged(a_result(0, stdout), expectedStdout=expected, stdoutMatch=match)
    assert verdict.score == score


def test_a_wrong_stdout_is_shown_beside_what_was_expected():
    verdict = judged(a_result(0, "41\n"), expectedStdout="42")
    assert verdict.explanation == 'stdout is "41", expected to be "42"'


def test_blanks_that_make_a_stdout_wrong_are_shown():
    verdict = judged(a_result(0, "a  b\n"), expectedStdout="a b")
    assert verdict.explanation == 'stdout is "a  b", expected to be "a b"'


def test_a_cut_stdout_is_never_exactly_as_expected_and_says_so():
    verdict = judged(a_result(0, "42", truncated=True), expectedStdout="42")
    assert (verdict.score, "cut at its limit" in verdict.explanation) == (0.0, True)


def test_a_right_stdout_does_not_excuse_a_wrong_exit_code():
    assert judged(a_result(1, "42"), expectedStdout="42").score == 0.0


@pytest.mark.parametrize(
    ("stdout", "score"),
    [
        pytest.param("0.75\nnoise", 0.75, id="first-line"),
        pytest.param(" 1 \r\n", 1.0, id="blanks"),
        pytest.param("7", 1.0, id="cut-from-above"),
        pytest.param("-3", 0.0, id="cut-from-below"),
        pytest.param("nan", 0.0, id="nan"),
        pytest.param("inf", 0.0, id="infinite"),
        pytest.param("1e999", 0.0, id="overflow"),
        pytest.param("good", 0.0, id="a-word"),
        pytest.param("", 0.0, id="empty"),
        pytest.param("\n0.5", 0.0, id="empty-first-line"),
    ],
)
def test_the_first_line_of_stdout_is_the_score(stdout, score):
    assert judged(a_result(0, stdout), scoreFromStdout=True).score == score


def test_a_printed_score_counts_only_with_the_expected_exit_code():
    assert judged(a_result(1, "1.0"), scoreFromStdout=True).score == 0.0


@settings(deadline=None)
@given(st.binary(max_size=40), st.integers(-70, 255), st.booleans())
def test_no_output_breaks_the_check(stdout, exit_code, from_stdout):
    result = a_result(exit_code, stdout.decode(errors="replace"), truncated=from_stdout)
    verdict = judged(result, scoreFromStdout=from_stdout)
    assert isinstance(verdict, Scored)
    assert math.isfinite(verdict.score)


def test_a_result_that_we_owe_is_unscored():
    assert isinstance(verdict_of("run_command", evidence(), command="true"), Unscored)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({}, "neither command nor argv", id="nothing"),
        pytest.param({"command": "a", "argv": ["a"]}, "both command and argv", id="both"),
        pytest.param({"argv": []}, "argv", id="empty-argv"),
        pytest.param({"command": "a\x00b"}, "command", id="nul"),
        pytest.param({"command": "a", "timeoutSeconds": 0}, "timeoutSeconds", id="no-time"),
        pytest.param({"command": "a", "expectedExitCode": 256}, "expectedExitCode", id="code"),
        pytest.param(
            {"command": "a", "expectedStdout": "(", "stdoutMatch": "regex"},
            "c.expectedStdout: '(' is not a regular expression",
            id="bad-regex",
        ),
        pytest.param({"command": "a", "stdoutMatch": "regex"}, "nothing to compare", id="no-text"),
        pytest.param(
            {"command": "a", "stdoutMatch": "contains", "expectedStdout": " "},
            "any output contains",
            id="blank",
        ),
        pytest.param(
            {"command": "a", "expectedStdout": "1", "scoreFromStdout": True},
            "not looked at",
            id="two-ways-to-score",
        ),
        pytest.param({"command": "a", "timeout": 3}, "unknown field 'timeout'", id="unknown"),
    ],
)
def test_what_cannot_work_is_refused_at_load(options, said):
    (problem,) = problems("run_command", **options)
    assert said in problem


WORD = "0f" * 16
TESTS = {"expectedTests": ["test_a", "test_b[1 2]"]}


def reported(*lines, exit_code=0, **fields):
    stdout = "".join(f"{line}\n" for line in lines)
    return judged(a_result(exit_code, stdout, nonce=WORD, **fields), **TESTS)


def test_a_command_that_reports_tests_gets_a_word_of_its_own():
    assert RunCommand(command="x", expected_tests=("a",)).commands()[0].nonce
    assert not RunCommand(command="x").commands()[0].nonce


def test_the_score_is_the_share_of_expected_tests_that_passed():
    both = (f"{WORD} passed test_a", f"noise\n{WORD} passed test_b[1 2]")
    assert reported(*both, exit_code=1) == Scored(1.0, "all 2 expected tests passed")
    half = reported(both[0], f"{WORD} failed test_b[1 2]")
    assert half.score == 0.5
    assert '"test_b[1 2]" failed' in half.explanation


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("passed test_a", id="without-the-word"),
        pytest.param(f"{'0e' * 16} passed test_a", id="with-another-word"),
        pytest.param(f"{WORD} skipped test_a", id="skipped"),
        pytest.param(f"{WORD} passed test_a test_b[1 2]", id="another-name"),
        pytest.param("", id="nothing"),
    ],
)
def test_planted_or_missing_output_counts_for_nothing(line):
    assert reported(line).score == 0.0


def test_a_test_that_passed_and_failed_has_failed():
    lines = (f"{WORD} passed test_a", f"{WORD} failed test_a", f"{WORD} passed test_a")
    assert reported(*lines).score == 0.0


def test_reports_of_a_command_that_was_killed_count_for_nothing():
    assert reported(f"{WORD} passed test_a", exit_code=-9).score == 0.0


def test_evidence_without_the_word_is_not_believed():
    assert judged(a_result(0, " passed test_a\n"), **TESTS).score == 0.0


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"expectedStdout": "x"}, id="with-expected-stdout"),
        pytest.param({"scoreFromStdout": True}, id="with-a-printed-score"),
        pytest.param({"expectedTests": ["a", "a"]}, id="a-test-twice"),
    ],
)
def test_tests_are_read_in_one_way_only(options):
    assert problems("run_command", command="x", **{**TESTS, **options})
