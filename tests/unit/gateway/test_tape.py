"""Which recorded call answers a request."""

from builders_cassettes import a_call, a_cassette, a_seat, answer_text, answered, asked
from proctor.gateway.cassette import AskedCall, Cassette, RecordedCall
from proctor.gateway.replay_tape import Miss, Tape
from proctor.gateway.seat import Seat

HELLO = asked("Hello")


def said(tape: Tape, call: AskedCall, seat: Seat | None = None) -> str:
    found = tape.find(seat or a_seat(), call)
    assert isinstance(found, RecordedCall), found
    return answer_text(found)


def missed(tape: Tape, call: AskedCall, seat: Seat | None = None) -> str:
    found = tape.find(seat or a_seat(), call)
    assert isinstance(found, Miss)
    return found.why


def test_repeated_requests_are_answered_in_their_order_and_then_by_the_last() -> None:
    tape = Tape(a_cassette((HELLO, "one"), (HELLO, "two")))
    assert [said(tape, HELLO) for _ in range(3)] == ["one", "two", "two"]


def test_a_trial_hears_its_own_answers_whoever_comes_first() -> None:
    calls = [a_call(i, HELLO, answered(f"of {i}"), trial=f"t/v/{i}") for i in range(3)]
    tape = Tape(Cassette(tuple(calls)))
    heard = [said(tape, HELLO, a_seat(f"t/v/{i}", f"uid-{i}")) for i in (2, 0, 1)]
    assert heard == ["of 2", "of 0", "of 1"]


def test_an_unknown_trial_is_given_what_is_not_used_yet() -> None:
    calls = [a_call(i, HELLO, answered(f"of {i}"), trial=f"t/v/{i}") for i in range(2)]
    tape = Tape(Cassette(tuple(calls)))
    assert [said(tape, HELLO, a_seat("new", f"uid-{i}")) for i in range(2)] == ["of 0", "of 1"]


def test_another_attempt_begins_anew() -> None:
    tape = Tape(a_cassette((HELLO, "one"), (HELLO, "two")))
    assert said(tape, HELLO) == "one"
    assert said(tape, HELLO, a_seat(attempt=2)) == "one"


def test_agent_and_judge_are_apart() -> None:
    calls = (
        a_call(1, HELLO, answered("to the agent")),
        a_call(2, HELLO, answered("to the judge"), role="judge"),
    )
    tape = Tape(Cassette(calls))
    assert said(tape, HELLO, a_seat(role="judge")) == "to the judge"
    assert "no call of a judge" in missed(Tape(Cassette(calls[:1])), HELLO, a_seat(role="judge"))


def test_a_miss_names_the_nearest_call_and_the_difference() -> None:
    tape = Tape(
        a_cassette(
            (asked("Write a.py."), "x"),
            (asked("Write a.py.", "I write.", "wrote 12 bytes"), "y"),
            (asked("Something else"), "z"),
        )
    )
    why = missed(tape, asked("Write a.py.", "I write.", "wrote 13 bytes"))
    assert why.startswith("nearest is call 2 (trial hello/base/0): messages[2].content[0].text was")
    assert "'wrote 12 bytes', is 'wrote 13 bytes'" in why


def test_a_miss_names_another_model() -> None:
    tape = Tape(a_cassette((HELLO, "x")))
    why = missed(tape, asked("Hello", model="claude-y"))
    assert "model was 'claude-x', is 'claude-y'" in why


def test_a_miss_names_tools_that_are_new() -> None:
    tape = Tape(a_cassette((HELLO, "x")))
    assert "tools was absent, is" in missed(tape, asked("Hello", tools=[{"name": "read"}]))


def test_a_miss_names_a_conversation_that_went_on() -> None:
    tape = Tape(a_cassette((HELLO, "x")))
    assert "it has 1 messages, this call 3" in missed(tape, asked("Hello", "x", "and?"))


def test_a_miss_is_short_however_long_the_texts() -> None:
    tape = Tape(a_cassette((asked("a" * 100_000 + "x" + "b" * 100_000), "x")))
    assert len(missed(tape, asked("a" * 100_000 + "y" + "b" * 100_000))) < 400


def test_calls_of_lost_attempts_do_not_answer() -> None:
    lost = a_call(1, HELLO, answered("lost"))
    tape = Tape(Cassette((lost, a_call(2, HELLO, answered("kept"), attempt=2))))
    assert said(tape, HELLO) == "kept"


def test_models_are_those_that_were_asked() -> None:
    cassette = a_cassette((HELLO, "x"), (asked("a", model="claude-y"), "y"), (HELLO, "z"))
    assert Tape(cassette).models == ("claude-x", "claude-y")
