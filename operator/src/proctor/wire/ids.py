"""Ids and pieces of scripted answers, the same for the same request. Pure."""

import hashlib
from collections.abc import Iterator

from proctor.wire.format import ModelRequest
from proctor.wire.script import ScriptedAnswer

_PIECE_CHARACTERS = 24


def answer_id(prefix: str, request: ModelRequest, answer: ScriptedAnswer, number: int = 0) -> str:
    """An id that differs between turns of a conversation and between the parts of an answer."""
    about = repr((request.model, request.turn, request.texts, answer, number))
    return prefix + hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()[:24]


def pieces(text: str) -> Iterator[str]:
    """Cut a text as a stream would bring it."""
    for start in range(0, len(text), _PIECE_CHARACTERS):
        yield text[start : start + _PIECE_CHARACTERS]
