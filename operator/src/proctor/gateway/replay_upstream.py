"""Answers from a cassette, without any model."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from proctor.gateway.cassette import AnsweredCall, AskedCall, what_matters
from proctor.gateway.cassette_events import written
from proctor.gateway.replay_forms import as_asked_for
from proctor.gateway.replay_tape import Miss
from proctor.gateway.upstream import Answer, Forward
from proctor.wire.fields import write_json

_JSON = (("content-type", "application/json"),)
_EVENTS = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_TEXT = (("content-type", "text/plain; charset=utf-8"),)
_FINAL = (*_JSON, ("x-should-retry", "false"))
_NOT_RECORDED = (
    "this call is not in the cassette that is replayed; record it again, or look into the "
    "trial's ledger for the nearest call"
)


class ReplayUpstream:
    """Answers each request as it was answered when it was recorded.

    A request that was not recorded gets an error that no client retries. What is nearest to it
    goes to the ledger alone: the agent must not learn what others were asked.
    """

    @asynccontextmanager
    async def answer(self, forward: Forward) -> AsyncIterator[Answer]:
        """Answer from the tape of the account."""
        account = forward.account
        tape = account.tape if account else None
        if account is None or tape is None:
            yield _missed(forward, "there is no cassette")
            return
        try:
            found = tape.find(account.seat, _asked(forward))
        except RecursionError:
            found = Miss("the request is nested too deeply to be compared")
        if not isinstance(found, Miss):
            yield _given(forward, as_asked_for(forward, found.answered))
        elif forward.operation == "list":
            body = write_json(forward.wire_format.models(tape.models))
            yield Answer(200, _JSON, _chunks([body]))
        else:
            yield _missed(forward, found.why)


def _asked(forward: Forward) -> AskedCall:
    return what_matters(
        forward.wire_format.name,
        forward.operation,
        forward.request,
        forward.body,
        forward.listed,
    )


def _missed(forward: Forward, why: str) -> Answer:
    status = forward.wire_format.refusal_status
    body = forward.wire_format.error(status, _NOT_RECORDED)
    return Answer(status, _FINAL, _chunks([body]), miss=why)


def _given(forward: Forward, answered: AnsweredCall) -> Answer:
    status = answered.status
    if answered.events is not None:
        parts = written(forward.wire_format.name, answered.events)
        return Answer(status, _EVENTS, _chunks(parts))
    if answered.text is not None:
        return Answer(status, _TEXT, _chunks([answered.text.encode()]))
    return Answer(status, _JSON, _chunks([write_json(answered.body)]))


async def _chunks(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
