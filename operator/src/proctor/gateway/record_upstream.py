"""Asks a provider, and keeps what was asked and answered."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from proctor.gateway.cassette import AnsweredCall, what_matters
from proctor.gateway.cassette_events import joined
from proctor.gateway.decoding import Decoder
from proctor.gateway.record_file import Recorder
from proctor.gateway.upstream import Answer, Forward, Upstream
from proctor.wire.sse import EventParser

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""A larger answer is not recorded."""

_TRANSIENT = frozenset({401, 402, 408, 429})
"""Besides 5xx: what the provider answers to our account or load. It is no answer of a model."""


class RecordUpstream:
    """Passes on to another upstream, and writes whole answers to the account's cassette.

    An answer that broke off is not recorded, nor is a failure of the provider.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    @asynccontextmanager
    async def answer(self, forward: Forward) -> AsyncIterator[Answer]:
        """Ask, and record the answer once it is whole."""
        async with self._upstream.answer(forward) as answer:
            recorder = forward.account.recorder if forward.account else None
            if recorder is None or answer.status >= 500 or answer.status in _TRANSIENT:
                yield answer
                return
            taking = _Taking(forward, answer, recorder)
            try:
                yield replace(answer, body=taking.body())
            finally:
                taking.end()


class _Taking:
    """Takes an answer down while it passes by."""

    def __init__(self, forward: Forward, answer: Answer, recorder: Recorder) -> None:
        self._forward = forward
        self._answer = answer
        self._recorder = recorder
        self._decoder = Decoder(answer.header("content-encoding"))
        self._meter = forward.wire_format.meter(answer.is_stream)
        self._taken = bytearray()
        self._is_too_large = False
        self._is_written = False

    async def body(self) -> AsyncIterator[bytes]:
        """The answer's body; written down when it ends."""
        async for chunk in self._answer.body:
            self._feed(chunk)
            yield chunk
        self._write()

    def end(self) -> None:
        """The client wants no more: it may have seen the last event and gone."""
        if self._meter.is_over:
            self._write()

    def _feed(self, chunk: bytes) -> None:
        for piece in self._decoder.feed(chunk):
            self._meter.feed(piece)
            if len(self._taken) + len(piece) > MAX_ANSWER_BYTES:
                self._is_too_large = True
            else:
                self._taken += piece

    def _write(self) -> None:
        if self._is_written:
            return
        self._is_written = True
        if self._is_too_large:
            self._recorder.fail(f"an answer of more than {MAX_ANSWER_BYTES} bytes is left out")
            return
        forward = self._forward
        assert forward.account is not None
        asked = what_matters(
            forward.wire_format.name,
            forward.operation,
            forward.request,
            forward.body,
            forward.listed,
        )
        answered = read_answer(self._answer.status, bytes(self._taken), self._answer.is_stream)
        self._recorder.add(forward.account.seat, asked, answered, _keys(forward))


def read_answer(status: int, body: bytes, is_stream: bool) -> AnsweredCall:
    """An answer as a cassette holds it."""
    if is_stream:
        events = (_json(data, data) for data in EventParser().feed(body + b"\n\n"))
        return AnsweredCall(status, events=joined(events))
    text = body.decode("utf-8", "replace")
    value = _json(text, None)
    if value is None:
        return AnsweredCall(status, text=text)
    return AnsweredCall(status, body=value)


def _json(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def _keys(forward: Forward) -> list[str]:
    """The keys of provider and client: they must not stand in a cassette, whoever wrote them."""
    key = forward.provider.key.read() if forward.provider else None
    sent = (v.rpartition(" ")[2] for n, v in forward.headers if n.lower() in _KEY_HEADERS)
    return [value for value in (key, *sent) if value]


_KEY_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})
