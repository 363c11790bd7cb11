"""Answers from a script, without any model."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from proctor.gateway.upstream import Answer, CutError, Forward
from proctor.wire.fields import write_json
from proctor.wire.malformed import CUTS_CONNECTION, malformed
from proctor.wire.script import Script, ScriptedAnswer, ScriptedError

_JSON = (("content-type", "application/json"),)
_EVENTS = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_FINAL = (*_JSON, ("x-should-retry", "false"))


class ScriptedUpstream:
    """Answers by the first rule that matches; without one, with an error that no client retries."""

    @asynccontextmanager
    async def answer(self, forward: Forward) -> AsyncIterator[Answer]:
        """Answer from the script of ``forward``."""
        script = forward.script or Script(())
        if forward.operation == "list":
            yield _once(write_json(forward.wire_format.models(script.models())))
            return
        found = script.answer(forward.request)
        if forward.operation == "count":
            yield _count(forward, found)
            return
        if found is None:
            body = forward.wire_format.error(400, _no_rule(forward, script))
            yield Answer(400, _FINAL, _chunks([body]))
            return
        if found.delay_seconds:
            await asyncio.sleep(found.delay_seconds)
        yield _error(forward, found) if isinstance(found, ScriptedError) else _said(forward, found)


def _count(forward: Forward, found: ScriptedAnswer | ScriptedError | None) -> Answer:
    """What the answer would report as its input, whoever gives it."""
    request = forward.request
    answer = found if isinstance(found, ScriptedAnswer) else ScriptedAnswer()
    usage = answer.usage_for(request)
    heard = usage.input + usage.cache_read + usage.cache_write
    return _once(write_json(forward.wire_format.count(heard)))


def _error(forward: Forward, error: ScriptedError) -> Answer:
    wait = error.retry_after_seconds
    hint = () if wait is None else (("retry-after", f"{wait:g}"),)
    body = forward.wire_format.error(error.status, error.message)
    return Answer(error.status, (*_JSON, *hint), _chunks([body]))


def _said(forward: Forward, answer: ScriptedAnswer) -> Answer:
    wire_format, request = forward.wire_format, forward.request
    events = request.stream and not request.in_array
    parts: Iterable[bytes] = (
        wire_format.answer_stream(request, answer)
        if request.stream
        else [write_json(wire_format.answer(request, answer))]
    )
    if answer.malformed is not None:
        parts = malformed(answer.malformed, parts, events=events)
    cut = answer.malformed == CUTS_CONNECTION
    return Answer(200, _EVENTS if events else _JSON, _chunks(parts, cut=cut))


def _no_rule(forward: Forward, script: Script) -> str:
    request = forward.request
    return (
        f"none of the script's {len(script.rules)} rules matches turn {request.turn} "
        f"of model {request.model!r}; add a rule, or one without `when` at the end"
    )


def _once(body: bytes) -> Answer:
    return Answer(200, _JSON, _chunks([body]))


async def _chunks(parts: Iterable[bytes], *, cut: bool = False) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
    if cut:
        raise CutError("the script cuts its answer")
