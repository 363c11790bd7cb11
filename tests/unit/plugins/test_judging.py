from typing import ClassVar

import pytest

from builders_criteria import REGISTRY, a_result, evidence
from fakes.evidence import FakeEvidence
from proctor.api.catalog import Traits
from proctor.api.verdict import Scored, Unscored
from proctor.criteria.contract import Criterion
from proctor.plugins.judging import judge
from proctor.plugins.registrar import RegisteredCriterion


class Curious(Criterion):
    """Declares nothing."""

    type: ClassVar[str] = "curious"


class Open(Criterion):
    """Declares everything."""

    type: ClassVar[str] = "open"
    traits: ClassVar[Traits] = Traits(reads=frozenset({"files", "reference"}), checks=True)


READS = [
    pytest.param(lambda seen: seen.files("*"), id="files"),
    pytest.param(lambda seen: seen.is_directory("a"), id="folders"),
    pytest.param(lambda seen: seen.reference("*"), id="reference"),
    pytest.param(lambda seen: seen.commands(), id="commands"),
]


def test_a_criterion_judges_the_options_of_the_orders():
    verdict = judge(REGISTRY.check("file_exists"), {"path": "a.py"}, evidence(a__py=""))
    assert verdict == Scored(1.0, "a.py found")


def test_evidence_beyond_its_limit_is_the_agents_zero_and_the_limit_is_named():
    verdict = judge(
        REGISTRY.check("file_contains"), {"path": "a"}, FakeEvidence({"a": b"1234"}, limit_bytes=3)
    )
    assert verdict == Scored(0.0, "evidence is beyond its limit: a has 4 bytes, more than 3")


def test_what_a_check_raises_is_ours_and_has_no_score():
    def broken(criterion, evidence):
        raise ZeroDivisionError("division by zero")

    verdict = judge(RegisteredCriterion(Curious, broken), {}, evidence())
    assert verdict == Unscored("criterion curious failed: ZeroDivisionError: division by zero")


def test_options_that_do_not_fit_the_model_are_ours_too():
    verdict = judge(REGISTRY.check("file_exists"), {}, evidence())
    assert isinstance(verdict, Unscored)


@pytest.mark.parametrize("read", READS)
def test_an_undeclared_read_is_refused(read):
    def peeking(criterion, seen):
        read(seen)
        return Scored(1.0)

    verdict = judge(RegisteredCriterion(Curious, peeking), {}, evidence())
    assert isinstance(verdict, Unscored)
    assert "traits do not declare" in verdict.reason


@pytest.mark.parametrize("read", READS)
def test_a_declared_read_is_allowed(read):
    def reading(criterion, seen):
        read(seen)
        return Scored(1.0)

    seen = evidence(a_result(), a="")
    assert judge(RegisteredCriterion(Open, reading), {}, seen) == Scored(1.0)
