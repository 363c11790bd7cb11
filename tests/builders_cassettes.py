"""Builders for tests of cassettes: recorded calls, seats, accounts that record and replay."""

from typing import Any

from proctor.gateway.cassette import AnsweredCall, AskedCall, Cassette, RecordedCall
from proctor.gateway.seat import Role, Seat


def a_message(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text}


def asked(*texts: str, **fields: Any) -> AskedCall:
    """An Anthropic request whose messages are by the user and the assistant in turn."""
    roles = ("user", "assistant")
    messages = [a_message(text, roles[i % 2]) for i, text in enumerate(texts)]
    body = {"model": "claude-x", "system": "Be brief.", "messages": messages, **fields}
    return AskedCall("anthropic-messages", "generate", body)


def answered(text: str = "Done.") -> AnsweredCall:
    return AnsweredCall(body={"content": [{"type": "text", "text": text}]})


def a_call(number: int, call: AskedCall, answer: AnsweredCall, **fields: Any) -> RecordedCall:
    known: dict[str, Any] = {"trial": "hello/base/0", "role": "agent", "attempt": 1, **fields}
    return RecordedCall(number=number, asked=call, answered=answer, **known)


def a_cassette(*calls: tuple[AskedCall, str], **fields: Any) -> Cassette:
    """Calls with the text of their answers, all of one trial."""
    return Cassette(
        tuple(
            a_call(number, call, answered(text), **fields)
            for number, (call, text) in enumerate(calls, start=1)
        )
    )


def a_seat(
    trial: str = "hello/base/0", uid: str = "uid-1", attempt: int = 1, role: Role = "agent"
) -> Seat:
    return Seat(trial, uid, attempt, role)


def answer_text(call: RecordedCall) -> str:
    text: str = call.answered.body["content"][0]["text"]
    return text
