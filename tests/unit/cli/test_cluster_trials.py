"""Which trials of a run on a cluster are meant, and what is known of them."""

from datetime import UTC, datetime

import pytest

from proctor.api.errors import UserError
from proctor.api.stored import StoredFolder, StoredTrial
from proctor.cli.trials import choose, trials_of


def a_body(name, task="web/login", repeat=0, **status):
    spec = {"task": task, "variant": "default", "repeat": repeat, "attempt": 2}
    return {"metadata": {"name": name}, "spec": spec, "status": status}


def a_record(name, task="web/login", repeat=0, digest="d" * 64):
    trial = StoredTrial(
        name=name, uid=name, attempt=2, run="r", run_uid="u", task=task, variant="default",
        repeat=repeat,
    )  # fmt: skip
    return StoredFolder(
        kind="record",
        namespace="team",
        namespace_uid="uid",
        digest=digest,
        size_bytes=1,
        created_at=datetime(2026, 1, 31, tzinfo=UTC),
        trial=trial,
    )


def test_a_trial_with_a_record_has_its_digest_and_one_without_says_why():
    bodies = [a_body("a", outcome="Passed"), a_body("b", repeat=1, recordProblem="full")]
    kept, lost = trials_of(bodies, [a_record("a")])
    assert (kept.digest, kept.pod, kept.outcome) == ("d" * 64, "a-2", "Passed")
    assert (lost.digest, lost.problem, lost.title) == (None, "full", "web/login/default/1")


def test_trials_whose_objects_are_gone_are_known_by_their_records():
    (trial,) = trials_of([], [a_record("gone")])
    assert (trial.name, trial.digest) == ("gone", "d" * 64)


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        pytest.param((), ["a", "b", "c"], id="none-means-all"),
        pytest.param(("b",), ["b"], id="object"),
        pytest.param(("web/login",), ["a", "b"], id="task"),
        pytest.param(("web/login/default/1",), ["b"], id="one-repeat"),
        pytest.param(("web/*",), ["a", "b"], id="glob"),
        pytest.param(("a", "c"), ["a", "c"], id="several"),
    ],
)
def test_a_trial_is_named_by_object_task_or_repeat(patterns, names):
    bodies = [a_body("a"), a_body("b", repeat=1), a_body("c", task="other")]
    assert [one.name for one in choose(trials_of(bodies, []), patterns, "r")] == names


def test_a_name_that_fits_nothing_is_said_with_those_that_there_are():
    with pytest.raises(UserError, match="no trial of r is called x; there are web/login/default/0"):
        choose(trials_of([a_body("a")], []), ("x",), "r")
    with pytest.raises(UserError, match="run r has no trials here"):
        choose([], (), "r")
