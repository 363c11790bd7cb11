"""Cassettes as text: a stream of YAML documents that a person can read and compare. Pure.

The first document names the format, each other one is a call. A call that goes on with a
conversation holds only the messages that are new (``continues``); one that shares everything but
its messages with another call does not repeat it (``like``). So a cassette reads like what was
said, and stays small.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from proctor.api.errors import Problem, SpecError
from proctor.gateway.cassette import VERSION, AnsweredCall, AskedCall, Cassette, RecordedCall
from proctor.gateway.seat import Role
from proctor.wire.formats import FORMATS

END = "---\n"
"""After every document, so that one that a killed process left unfinished is known by its lack."""

_WIDTH = 100
_ROLES: Mapping[str, Role] = {"agent": "agent", "judge": "judge"}
_OPERATIONS = ("generate", "count", "list")
_FORMS = ("body", "events", "text")


class _Dumper(yaml.CSafeDumper):
    """Writes texts of several lines as they are, and never an alias."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text_node(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)


def head_text(recording: str) -> str:
    """The first document.

    Args:
        recording: Which run is recorded, so that a process that begins anew goes on with it.
    """
    return _dump({"cassette": VERSION, "recording": recording}) + END


def call_text(call: RecordedCall, base: RecordedCall | None) -> str:
    """The document of a call.

    Args:
        call: The call.
        base: An earlier one that says part of what this one says; None: there is none.
    """
    reference, request = _request(call.asked, base)
    body: dict[str, Any] = {
        "call": call.number,
        "trial": call.trial or None,
        "attempt": call.attempt if call.attempt != 1 else None,
        "role": call.role,
        "format": call.asked.wire_format,
        "operation": call.asked.operation if call.asked.operation != "generate" else None,
        **reference,
    }
    present = {name: value for name, value in body.items() if value is not None}
    whole = {**present, "request": request, "response": _response(call.answered)}
    return _dump(whole) + END


def _request(
    asked: AskedCall, base: RecordedCall | None
) -> tuple[Mapping[str, int], Mapping[str, Any]]:
    name = asked.list_name
    if base is None or name is None:
        return {}, asked.body
    if continues(asked, base.asked):
        new = asked.messages[len(base.asked.messages) :]
        return {"continues": base.number}, {name: new}
    return {"like": base.number}, {name: asked.messages}


def continues(asked: AskedCall, earlier: AskedCall) -> bool:
    """Whether a request goes on with a conversation."""
    before = earlier.messages
    same = like(asked, earlier)
    return same and bool(before) and asked.messages[: len(before)] == before


def like(asked: AskedCall, earlier: AskedCall) -> bool:
    """Whether two requests differ only in their messages."""
    return (asked.wire_format, asked.operation, asked.list_name, asked.head) == (
        earlier.wire_format,
        earlier.operation,
        earlier.list_name,
        earlier.head,
    )


def _response(answered: AnsweredCall) -> Mapping[str, Any]:
    body: dict[str, Any] = {} if answered.status == 200 else {"status": answered.status}
    if answered.events is not None:
        body["events"] = list(answered.events)
    elif answered.text is not None:
        body["text"] = answered.text
    else:
        body["body"] = answered.body
    return body


def _dump(body: Mapping[str, Any]) -> str:
    return yaml.dump(body, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def parse_cassette(text: str, field: str = "cassette") -> Cassette:
    """Read a cassette.

    Args:
        text: YAML documents.
        field: Where it stands, for the problems.

    Raises:
        SpecError: With the first problem.
    """
    try:
        documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise SpecError([Problem(field, f"is not YAML: {error}")]) from None
    if not documents or not isinstance(documents[0], dict) or "cassette" not in documents[0]:
        remedy = "record one with `proctor run --record FILE`"
        raise SpecError([Problem(field, "is no cassette: it does not begin with one", remedy)])
    if documents[0]["cassette"] != VERSION:
        message = f"is of version {documents[0]['cassette']!r}; this reads {VERSION}"
        raise SpecError([Problem(field, message, "record it again")])
    return Cassette(tuple(_calls(documents[1:], field)))


def _calls(documents: Sequence[Any], field: str) -> Iterator[RecordedCall]:
    known: dict[int, RecordedCall] = {}
    for index, document in enumerate(documents):
        if document is None:
            continue
        try:
            call = _call(document, known)
        except (KeyError, TypeError, ValueError) as error:
            at = f"{field}[{index + 1}]"
            problem = Problem(at, f"is no recorded call: {_why(error)}", "record it again")
            raise SpecError([problem]) from None
        known[call.number] = call
        yield call


def _why(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _call(document: Any, known: Mapping[int, RecordedCall]) -> RecordedCall:
    if not isinstance(document, dict):
        raise TypeError("it is not an object")
    wire_format, operation = document["format"], document.get("operation", "generate")
    if wire_format not in FORMATS:
        raise ValueError(f"format {wire_format!r} is unknown")
    if operation not in _OPERATIONS:
        raise ValueError(f"operation {operation!r} is unknown")
    return RecordedCall(
        number=int(document["call"]),
        trial=str(document.get("trial", "")),
        role=_ROLES[document.get("role", "agent")],
        attempt=int(document.get("attempt", 1)),
        asked=AskedCall(wire_format, operation, _asked_body(document, known)),
        answered=_answered(document["response"]),
    )


def _asked_body(document: Mapping[str, Any], known: Mapping[int, RecordedCall]) -> dict[str, Any]:
    request = document["request"]
    if not isinstance(request, dict):
        raise TypeError("request is not an object")
    number = document.get("continues", document.get("like"))
    if number is None:
        return request
    if number not in known:
        raise ValueError(f"it refers to call {number!r}, which is not before it")
    base = known[number].asked
    name = base.list_name
    if name is None or not isinstance(request.get(name), list):
        raise ValueError("request has no list of messages")
    before = base.messages if "continues" in document else []
    return {**base.head, **request, name: [*before, *request[name]]}


def _answered(response: Any) -> AnsweredCall:
    if not isinstance(response, dict):
        raise TypeError("response is not an object")
    given = [name for name in _FORMS if name in response]
    if len(given) != 1:
        raise ValueError(f"response needs exactly one of {', '.join(_FORMS)}")
    status, value = int(response.get("status", 200)), response[given[0]]
    if given[0] == "events":
        if not isinstance(value, list):
            raise TypeError("response.events is not a list")
        return AnsweredCall(status, events=tuple(value))
    return AnsweredCall(status, **{given[0]: value})
