"""Tests that a command reports, one a line, with the word that only this command was given.

A file that the agent planted, or a program of its own that prints "passed", does not know the word.
"""

from collections.abc import Iterator, Sequence

from proctor.api.evidence import CommandResult
from proctor.api.verdict import Scored
from proctor.criteria.wording import shown


def passed_tests(expected: Sequence[str], result: CommandResult) -> Scored:
    """The share of expected tests that were reported as passed, and never as failed."""
    if not result.nonce:
        return Scored(0.0, "the evidence does not say which word the command was given")
    passed, failed = set[str](), set[str]()
    for verdict, name in _reports(result):
        (passed if verdict == "passed" else failed).add(name)
    good = [name for name in expected if name in passed and name not in failed]
    bad = [name for name in expected if name not in good]
    if not bad:
        return Scored(1.0, f"all {len(expected)} expected tests passed")
    first = f"{shown(bad[0])} {'failed' if bad[0] in failed else 'was not reported'}"
    cut = " (stdout was cut at its limit)" if result.truncated else ""
    summary = f"{len(good)} of {len(expected)} expected tests passed; {first}{cut}"
    return Scored(len(good) / len(expected), summary)


def _reports(result: CommandResult) -> Iterator[tuple[str, str]]:
    """Verdict and name of each line that begins with the word."""
    for line in result.stdout.decode(errors="replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        verdict, _, name = rest.partition(" ")
        if word == result.nonce and verdict in ("passed", "failed"):
            yield verdict, name.strip()
