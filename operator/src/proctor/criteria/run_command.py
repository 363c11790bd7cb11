"""``run_command``: a command ends as expected."""

import math
import signal
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from proctor.api.catalog import Traits
from proctor.api.evidence import Command, CommandResult, Evidence
from proctor.api.validation import refusal, require_one
from proctor.api.verdict import Scored, Unscored, Verdict
from proctor.criteria.contract import Criterion
from proctor.criteria.fields import compiled
from proctor.criteria.reported_tests import passed_tests
from proctor.criteria.wording import last_line, shortened, shown

Word = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=8192)]
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$", min_length=1, max_length=8192)]
StdoutMatch = Literal["exact", "contains", "regex"]


class RunCommand(Criterion):
    """A command, run in a copy of the frozen workspace after the agent is gone."""

    type: ClassVar[str] = "run_command"
    traits: ClassVar[Traits] = Traits(checks=True)

    command: Annotated[
        Line | None,
        Field(description="Command line, run by the image's `sh -c` in the workspace."),
    ] = None
    argv: Annotated[
        tuple[Word, ...] | None,
        Field(
            min_length=1,
            max_length=256,
            description="Program and arguments, for images without a shell; instead of command.",
        ),
    ] = None
    timeout_seconds: Annotated[
        int, Field(ge=1, le=3600, description="Limit in seconds; reached, the score is 0.")
    ] = 30
    expected_exit_code: Annotated[
        int, Field(ge=0, le=255, description="Exit code that counts as success.")
    ] = 0
    stdout_match: Annotated[
        StdoutMatch,
        Field(
            description="How expectedStdout is compared: exact and contains ignore blanks at both "
            "ends; regex is a Python regular expression that is searched for."
        ),
    ] = "exact"
    expected_stdout: Annotated[
        Annotated[str, StringConstraints(max_length=65_536)] | None,
        Field(description="What stdout must be, contain or match. Absent: anything."),
    ] = None
    score_from_stdout: Annotated[
        bool,
        Field(description="Take the score from the first line of stdout: a number, cut to [0, 1]."),
    ] = False

    expected_tests: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f]+$", max_length=512)], ...],
        Field(
            max_length=1000,
            description="Tests that the command must report as passed, each by a line of stdout "
            "`$PROCTOR_NONCE passed ID` (or failed); the score is their share. Other lines do not "
            "count, nor does the exit code.",
        ),
    ] = ()

    @model_validator(mode="after")
    def _one_command(self) -> Self:
        require_one(command=self.command, argv=self.argv)
        return self

    @field_validator("expected_stdout")
    @classmethod
    def _can_be_found(cls, expected: str | None, info: ValidationInfo) -> str | None:
        match = info.data.get("stdout_match")
        if expected is not None and match == "regex":
            compiled(expected)
        if expected is not None and match == "contains" and not expected.strip():
            raise refusal(
                f"any output contains {expected!r}",
                "write the text that stdout must contain",
            )
        return expected

    @model_validator(mode="after")
    def _stdout_is_compared(self) -> Self:
        if self.expected_stdout is None and self.stdout_match != "exact":
            raise refusal(
                f"stdoutMatch is {self.stdout_match!r}, but there is nothing to compare with",
                "add expectedStdout or remove stdoutMatch",
            )
        if self.expected_stdout is not None and self.score_from_stdout:
            raise refusal(
                "expectedStdout is not looked at with scoreFromStdout", "remove one of them"
            )
        return self

    @model_validator(mode="after")
    def _tests_are_counted(self) -> Self:
        if self.expected_tests and (self.score_from_stdout or self.expected_stdout is not None):
            raise refusal("expectedTests reads stdout in a way of its own", "remove the others")
        if len(set(self.expected_tests)) != len(self.expected_tests):
            raise refusal("expectedTests names a test twice", "name each test once")
        return self

    def commands(self) -> Sequence[Command]:
        """The one command; a command line becomes the argument list of the image's shell."""
        argv = self.argv if self.argv is not None else ("sh", "-c", self.command or "")
        return (Command(argv, self.timeout_seconds, nonce=bool(self.expected_tests)),)


def check_run_command(criterion: RunCommand, evidence: Evidence, /) -> Verdict:
    """Score 1 or 0 by exit code and stdout, the number that stdout begins with, or tests.

    Returns:
        ``Scored`` 0 also for a command that timed out, never started or died by a signal;
        ``Unscored`` when its result is missing.
    """
    results = evidence.commands()
    if len(results) != 1:
        return Unscored(f"{len(results)} command results were captured, expected one")
    (result,) = results
    failure = _failure(criterion, result)
    if failure is not None:
        return Scored(0.0, f"{failure}{_last_words(result)}")
    if criterion.expected_tests:
        return passed_tests(criterion.expected_tests, result)
    if criterion.score_from_stdout:
        return _printed_score(result)
    if criterion.expected_stdout is None:
        return Scored(1.0, f"exit code {result.exit_code}")
    return _compared(criterion.expected_stdout, criterion.stdout_match, result)


def _failure(criterion: RunCommand, result: CommandResult) -> str | None:
    if result.exit_code is None:
        return result.problem or "the command did not end"
    if result.exit_code < 0:
        return f"killed by {_signal_name(-result.exit_code)}"
    if not criterion.expected_tests and result.exit_code != criterion.expected_exit_code:
        return f"exit code {result.exit_code}, expected {criterion.expected_exit_code}"
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(result: CommandResult) -> str:
    for name, data in (("stderr", result.stderr), ("stdout", result.stdout)):
        line = last_line(data)
        if line:
            return f"; {name}: {line}"
    return ""


def _printed_score(result: CommandResult) -> Scored:
    first = result.stdout.decode(errors="replace").partition("\n")[0].strip()
    if not first:
        return Scored(0.0, "the first line of stdout is empty, expected a number")
    try:
        number = float(first)
    except ValueError:
        return Scored(0.0, f"the first line of stdout is {shown(first)}, expected a number")
    if not math.isfinite(number):
        return Scored(0.0, f"the first line of stdout is {shown(first)}, expected a finite number")
    score = min(max(number, 0.0), 1.0)
    cut = f", cut from {shortened(first)}" if score != number else ""
    return Scored(score, f"score {score:g} from stdout{cut}")


def _compared(expected: str, match: StdoutMatch, result: CommandResult) -> Scored:
    stdout = result.stdout.decode(errors="replace")
    if match == "regex":
        same, verb = compiled(expected).search(stdout) is not None, "to match"
    elif match == "contains":
        same, verb = expected.strip() in stdout.strip(), "to contain"
    else:
        same, verb = not result.truncated and stdout.strip() == expected.strip(), "to be"
    if same:
        return Scored(1.0, f"exit code {result.exit_code}, stdout as expected")
    cut = " (stdout was cut at its limit)" if result.truncated else ""
    return Scored(0.0, f"stdout is {shown(stdout.strip())}, expected {verb} {shown(expected)}{cut}")
