"""Usage figures as OpenAI's APIs write them, under other names in each. Pure.

All input tokens are one figure; those read from the cache or written to it are a part of it.
"""

from collections.abc import Mapping
from typing import Any

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.wire.fields import count, figures, mapping
from proctor.wire.format import Figures


def openai_figures(told: Mapping[str, Any], heard_name: str, said_name: str) -> Figures:
    """Read them.

    Args:
        told: The object ``usage`` of an answer.
        heard_name: Of the count of input tokens; its parts are at that name with ``_details``.
        said_name: Of the count of output tokens, likewise.
    """
    heard, said = told.get(heard_name), told.get(said_name)
    parts, said_parts = _details(told, heard_name), _details(told, said_name)
    prompt = count(heard)
    read = min(count(parts.get("cached_tokens")), prompt)
    written = min(count(parts.get("cache_write_tokens")), prompt - read)
    usage = Usage(prompt - read - written, count(said), cache_read=read, cache_write=written)
    details = _parts(parts, said_parts, usage) if parts or said_parts else NO_DETAILS
    return figures(usage, details, heard, said)


def _details(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return mapping(told.get(f"{name}_details"))


def _parts(heard: Mapping[str, Any], said: Mapping[str, Any], usage: Usage) -> UsageDetails:
    prompt = usage.total - usage.output
    return UsageDetails(
        reasoning=min(count(said.get("reasoning_tokens")), usage.output),
        input_image=min(count(heard.get("image_tokens")), prompt),
        input_audio=min(count(heard.get("audio_tokens")), prompt),
        output_image=min(count(said.get("image_tokens")), usage.output),
        output_audio=min(count(said.get("audio_tokens")), usage.output),
    )
