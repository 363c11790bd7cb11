import pytest

from proctor.api.errors import SpecError
from proctor.api.usage import Usage, UsageDetails
from proctor.wire.fields import MAX_BODY_BYTES, BodyMeter
from proctor.wire.format import ModelRequest, Reading
from proctor.wire.script import Rule, Script, ScriptedAnswer, ScriptedError, ScriptedTool, When
from proctor.wire.script_text import parse_script

ASKED = ModelRequest("claude-x", ("write fizzbuzz", "", "written"), "Be brief.", turn=2)


@pytest.mark.parametrize(
    ("when", "matches"),
    [
        pytest.param(When(), True, id="nothing-said"),
        pytest.param(When(turn=2), True, id="turn"),
        pytest.param(When(turn=1), False, id="other-turn"),
        pytest.param(When(contains="fizz"), True, id="text-of-an-older-message"),
        pytest.param(When(contains="brief"), False, id="system-is-no-message"),
        pytest.param(When(model="claude-*"), True, id="model-pattern"),
        pytest.param(When(model="Claude-*"), False, id="model-case"),
        pytest.param(When(system="brief"), True, id="system"),
        pytest.param(When(system="long"), False, id="other-system"),
        pytest.param(When(turn=2, contains="nowhere"), False, id="all-must-hold"),
    ],
)
def test_a_rule_matches_when_all_that_it_says_holds(when: When, matches: bool) -> None:
    assert when.matches(ASKED) is matches


def test_the_first_rule_that_matches_answers() -> None:
    first, second = ScriptedAnswer("first"), ScriptedAnswer("second")
    script = Script(
        (Rule(When(turn=1), ScriptedAnswer()), Rule(When(), first), Rule(When(), second))
    )
    assert script.answer(ASKED) is first


def test_without_a_match_there_is_no_answer() -> None:
    assert Script(()).answer(ASKED) is None


def test_models_of_a_script_are_those_named_in_full() -> None:
    names = ["a", "b-*", "a", None, "c"]
    script = Script(tuple(Rule(When(model=name), ScriptedAnswer()) for name in names))
    assert script.models() == ("a", "c")


def test_usage_is_estimated_when_the_script_gives_none() -> None:
    answer = ScriptedAnswer("x" * 40, (ScriptedTool("t", {}),))
    assert answer.usage_for(ModelRequest("m", ("y" * 400,), "z" * 40)) == Usage(111, 11)


def test_a_script_is_read_from_yaml() -> None:
    script = parse_script("""
rules:
  - when: {turn: 1, contains: fizz, model: "claude-*", system: brief}
    answer:
      text: hi
      tools: [{name: write, input: {path: a.py}}, {name: ls}]
      usage: {input: 1, output: 2, cacheRead: 3, cacheWrite: 4}
      stopReason: max_tokens
  - error: {status: 529, message: overloaded}
  - error: {status: 500}
""")
    tools = (ScriptedTool("write", {"path": "a.py"}), ScriptedTool("ls"))
    assert script.rules == (
        Rule(
            When(1, "fizz", "claude-*", "brief"),
            ScriptedAnswer("hi", tools, Usage(1, 2, 3, 4), "max_tokens"),
        ),
        Rule(When(), ScriptedError(529, "overloaded")),
        Rule(When(), ScriptedError(500, "scripted error")),
    )


def test_an_answer_may_think_wait_and_be_broken() -> None:
    script = parse_script("""
rules:
  - answer:
      thinking: hm
      usage: {input: 1, output: 5, cacheWrite: 4, cacheWrite1h: 3, reasoning: 2}
      delaySeconds: 1.5
      malformed: not-json
  - error: {status: 429, retryAfterSeconds: 0, delaySeconds: 2}
""")
    answer, error = (rule.then for rule in script.rules)
    assert answer == ScriptedAnswer(
        thinking="hm",
        usage=Usage(1, 5, cache_write=4),
        details=UsageDetails(cache_write_1h=3, reasoning=2),
        delay_seconds=1.5,
        malformed="not-json",
    )
    assert error == ScriptedError(429, "scripted error", retry_after_seconds=0.0, delay_seconds=2.0)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("a: [", ["script"], id="no-yaml"),
        pytest.param("", ["script"], id="empty"),
        pytest.param("rules: []", ["script.rules"], id="no-rule"),
        pytest.param("{}", ["script.rules"], id="rules-missing"),
        pytest.param("rules: 1", ["script.rules"], id="rules-are-a-number"),
        pytest.param("rules: [x]", ["script.rules[0]"], id="a-rule-is-text"),
        pytest.param("rules: [{}]", ["script.rules[0]"], id="neither-answer-nor-error"),
        pytest.param("rules: [{answer: {}, error: {status: 500}}]", ["script.rules[0]"], id="both"),
        pytest.param(
            "rules: [{answer: {}, wenn: {}}]", ["script.rules[0].wenn"], id="unknown-field"
        ),
        pytest.param(
            "rules: [{when: {turn: 0, contains: 3, system: true}, answer: {}}]",
            [
                "script.rules[0].when.contains",
                "script.rules[0].when.system",
                "script.rules[0].when.turn",
            ],
            id="bad-when",
        ),
        pytest.param(
            "rules: [{answer: {stopReason: why, usage: {input: -1, output: 1.5}, tools: [{}, 1]}}]",
            [
                "script.rules[0].answer.stopReason",
                "script.rules[0].answer.tools[0].name",
                "script.rules[0].answer.tools[1]",
                "script.rules[0].answer.usage.input",
                "script.rules[0].answer.usage.output",
            ],
            id="bad-answer",
        ),
        pytest.param(
            "rules: [{answer: {malformed: odd, delaySeconds: -1, usage: {reasoning: 1}}},"
            " {error: {status: 500, retryAfterSeconds: soon, delaySeconds: 4000}}]",
            [
                "script.rules[0].answer.delaySeconds",
                "script.rules[0].answer.malformed",
                "script.rules[0].answer.usage.reasoning",
                "script.rules[1].error.delaySeconds",
                "script.rules[1].error.retryAfterSeconds",
            ],
            id="bad-ways-to-answer",
        ),
        pytest.param("rules: [{error: {}}]", ["script.rules[0].error.status"], id="no-status"),
        pytest.param(
            "rules: [{error: {status: 200}}]", ["script.rules[0].error.status"], id="no-error"
        ),
    ],
)
def test_all_problems_of_a_script_are_named(text: str, problems: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        parse_script(text)
    assert sorted(problem.field for problem in caught.value.problems) == problems


def test_a_body_larger_than_the_limit_is_not_measured() -> None:
    meter = BodyMeter(lambda _: Reading(stop_reason="read"))
    meter.feed(b" " * MAX_BODY_BYTES)
    meter.feed(b"{}")
    meter.feed(b"{}")
    assert meter.reading() == Reading(characters=MAX_BODY_BYTES + 4)
