"""A recorded answer in the form that the client asks for: streamed or in one body. Pure."""

from typing import Any

from proctor.gateway.cassette import AnsweredCall
from proctor.gateway.cassette_said import said
from proctor.gateway.cassette_whole import whole
from proctor.gateway.upstream import Forward
from proctor.wire.fields import json_object
from proctor.wire.sse import EventParser


def as_asked_for(forward: Forward, answered: AnsweredCall) -> AnsweredCall:
    """The answer, written anew when it was recorded in the other form; as it is when it cannot."""
    request = forward.request
    if answered.status >= 400 or answered.text is not None or forward.operation != "generate":
        return answered
    if request.stream and request.in_array:
        return _as_array(forward, answered)
    if request.stream:
        return _streamed(forward, answered)
    return _in_one(forward, answered)


def _as_array(forward: Forward, answered: AnsweredCall) -> AnsweredCall:
    if answered.events is not None:
        return AnsweredCall(answered.status, body=list(answered.events))
    is_array = isinstance(answered.body, list)
    return answered if is_array else AnsweredCall(answered.status, body=[answered.body])


def _streamed(forward: Forward, answered: AnsweredCall) -> AnsweredCall:
    if answered.events is not None:
        return answered
    if isinstance(answered.body, list):
        return AnsweredCall(answered.status, events=tuple(answered.body))
    answer = said(forward.wire_format, answered.body)
    if answer is None:
        return answered
    stream = b"".join(forward.wire_format.answer_stream(forward.request, answer))
    events = tuple(json_object(data) or data for data in EventParser().feed(stream))
    return AnsweredCall(answered.status, events=events)


def _in_one(forward: Forward, answered: AnsweredCall) -> AnsweredCall:
    events: Any = answered.events
    if events is None and isinstance(answered.body, list):
        events = answered.body
    body = None if events is None else whole(forward.wire_format.name, events)
    return answered if body is None else AnsweredCall(answered.status, body=body)
