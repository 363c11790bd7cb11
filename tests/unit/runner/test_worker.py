import os
import re
import signal
import time

import pytest

from proctor.api.verdict import Scored, Unscored
from proctor.runner.judgement import Judgement
from proctor.runner.memory import Memory
from proctor.runner.worker import WorkerLimits, judge_in_worker, worker_memory


def limits(**changes):
    given = {"deadline": time.monotonic() + 30, "criterion_seconds": 5.0, **changes}
    return WorkerLimits(**given)


def judging(*deeds):
    """Makes a judge that does the deed of each criterion, then scores it 1."""

    def make():
        def judge(index):
            deeds[index]()
            return Judgement(index, Scored(1.0, f"criterion {index}", {"n": index}), 0.5)

        return judge

    return make


def nothing():
    pass


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def raise_value_error():
    raise ValueError("a bug")


def recurse():
    recurse()


def eat_memory():
    kept = [bytearray(1 << 26) for _ in range(100)]
    del kept


def search_for_ever():
    re.search("(a+)+$", "a" * 60 + "b")


def test_all_criteria_are_judged_in_order():
    judged = judge_in_worker(3, judging(nothing, nothing, nothing), limits())

    assert [one.index for one in judged] == [0, 1, 2]
    assert judged[2] == Judgement(2, Scored(1.0, "criterion 2", {"n": 2}), 0.5)


@pytest.mark.parametrize(
    ("deed", "named", "most"),
    [
        pytest.param(die, "died", {}, id="dies"),
        pytest.param(eat_memory, "MemoryError", {"memory_bytes": 1 << 28}, id="eats-memory"),
        pytest.param(recurse, "RecursionError", {}, id="recurses"),
        pytest.param(search_for_ever, "did not end", {"criterion_seconds": 1.0}, id="never-ends"),
    ],
)
def test_evidence_that_breaks_judging_scores_zero_and_the_next_is_judged(deed, named, most):
    judged = judge_in_worker(3, judging(nothing, deed, nothing), limits(**most))

    assert [one.verdict.score for one in judged] == [1.0, 0.0, 1.0]
    assert named in judged[1].verdict.explanation
    assert "limit" in judged[1].verdict.explanation


def test_bug_in_judging_is_unscored():
    judged = judge_in_worker(2, judging(raise_value_error, nothing), limits())

    assert judged[0].verdict == Unscored("judging failed: ValueError: a bug")
    assert judged[1].verdict.score == 1.0


def test_evidence_that_cannot_even_be_read_is_said_for_every_criterion():
    def make():
        raise OSError("no workspace")

    judged = judge_in_worker(2, make, limits())

    assert [type(one.verdict) for one in judged] == [Unscored, Unscored]


def test_criteria_beyond_the_whole_time_score_zero_with_the_limit_named():
    judged = judge_in_worker(2, judging(nothing, nothing), limits(deadline=time.monotonic() - 1))

    assert [one.verdict.score for one in judged] == [0.0, 0.0]
    assert "time for grading" in judged[0].verdict.explanation


def test_no_child_is_left():
    judge_in_worker(1, judging(search_for_ever), limits(criterion_seconds=0.2))

    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_explanations_of_any_length_and_character_pass_the_pipe():
    def make():
        return lambda index: Judgement(index, Scored(0.5, "\ud800\n" + "x" * 10**6), 0.0)

    (judged,) = judge_in_worker(1, make, limits())

    assert judged.verdict.explanation.startswith("? xxx")
    assert len(judged.verdict.explanation) == 2000


def test_memory_that_ends_while_an_error_unwinds_scores_zero():
    # The interpreter then raises SystemError, which was unscored: an agent's 0 became a null.
    judged = judge_in_worker(3, judging(nothing, recurse, nothing), limits(memory_bytes=1 << 24))

    assert [one.verdict.score for one in judged] == [1.0, 0.0, 1.0]


def test_system_error_of_judging_is_a_limit_of_the_evidence():
    def unwind():
        raise SystemError("error return without exception set")

    judged = judge_in_worker(2, judging(unwind, nothing), limits())

    assert [one.verdict.score for one in judged] == [0.0, 1.0]
    assert "SystemError" in judged[0].verdict.explanation


@pytest.mark.parametrize(
    ("container", "most"),
    [
        pytest.param(None, 1 << 30, id="no-limit"),
        pytest.param(Memory(limit=512 << 20, used=0), 384 << 20, id="small"),
        pytest.param(Memory(limit=8 << 30, used=0), 1 << 30, id="large"),
    ],
)
def test_child_is_given_less_than_its_container_has(container, most):
    """Where the kernel kills whole containers, evidence that eats it all left no verdict."""
    assert worker_memory(container) == most
