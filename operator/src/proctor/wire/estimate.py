"""Usage of an answer that broke off before it told its figures. Pure, standard library only."""

from dataclasses import replace

from proctor.api.usage import Usage
from proctor.wire.format import ModelRequest, Reading

CHARACTERS_PER_TOKEN = 4
"""English text and code have 3 to 5; source: https://platform.openai.com/tokenizer (2026-11)."""


def estimate(reading: Reading, request: ModelRequest) -> Reading:
    """Fill in what the provider's figures do not say, and mark it; final figures stay.

    Input comes from the text of the request unless the provider told it, output from the text that
    came unless the provider told more. Pictures and sound are not in it: it is a floor.
    """
    if reading.complete:
        return reading
    told = reading.usage or Usage()
    heard = told.input + told.cache_read + told.cache_write
    usage = replace(
        told,
        input=told.input if heard else tokens(request.characters),
        output=max(told.output, tokens(reading.characters)),
    )
    return replace(reading, usage=usage, estimated=True)


def tokens(characters: int) -> int:
    """Tokens of a text of that length, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)
