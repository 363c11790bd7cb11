"""What Gemini's answers say of themselves. Pure, standard library only."""

from collections.abc import Mapping
from typing import Any

from proctor.api.usage import Usage, UsageDetails
from proctor.wire.fields import (
    count,
    figures,
    is_count,
    mapping,
    mappings,
    present,
    text,
    write_json,
)
from proctor.wire.format import Figures, Reading
from proctor.wire.seen import Seen


class GeminiTally(Seen):
    """Adds up answers and pieces of answers; usage stands in each, cumulative.

    A stream has no last event: it is over when its bytes are.
    """

    is_over = False

    def is_plain(self, data: str) -> bool:
        """Never: each piece has usage figures."""
        return False

    def add(self, item: Mapping[str, Any]) -> None:
        """Take the next answer or piece."""
        error = mapping(item.get("error"))
        if error:
            self.error = f"{text(error.get('status')) or 'error'}: {text(error.get('message'))}"
        self.told.update(present(item.get("usageMetadata")))
        blocked = text(mapping(item.get("promptFeedback")).get("blockReason"))
        self.stop_reason = blocked or self.stop_reason
        for candidate in mappings(item.get("candidates")):
            self.stop_reason = text(candidate.get("finishReason")) or self.stop_reason
            for part in mappings(mapping(candidate.get("content")).get("parts")):
                self._part(part)

    def _part(self, part: Mapping[str, Any]) -> None:
        self.characters += len(text(part.get("text")))
        call = mapping(part.get("functionCall"))
        if call:
            self.tools.append(text(call.get("name")))
            self.characters += len(write_json(mapping(call.get("args"))))

    def reading(self) -> Reading:
        """What was read so far."""
        self.tier = text(self.told.get("serviceTier")) or None
        return self.read(_figures(self.told), is_over=self.stop_reason is not None)


def _figures(told: Mapping[str, Any]) -> Figures:
    prompt = count(told.get("promptTokenCount"))
    cached = min(count(told.get("cachedContentTokenCount")), prompt)
    thoughts = count(told.get("thoughtsTokenCount"))
    used_tools = count(told.get("toolUsePromptTokenCount"))
    written = _written(told, prompt + used_tools + thoughts)
    usage = Usage(
        input=prompt - cached + used_tools,
        output=count(written) + thoughts,
        cache_read=cached,
    )
    details = UsageDetails(
        reasoning=thoughts,
        input_image=_of(told, "promptTokensDetails", "IMAGE"),
        input_audio=_of(told, "promptTokensDetails", "AUDIO"),
        cached_audio=_of(told, "cacheTokensDetails", "AUDIO"),
        output_image=_of(told, "candidatesTokensDetails", "IMAGE"),
        output_audio=_of(told, "candidatesTokensDetails", "AUDIO"),
    )
    return figures(usage, details, told.get("promptTokenCount"), written)


def _written(told: Mapping[str, Any], others: int) -> object:
    """Tokens of the candidates; Google leaves a figure of 0 out, and then the total tells it."""
    total = told.get("totalTokenCount")
    if told.get("candidatesTokenCount") is None and is_count(total):
        return max(0, total - others)
    return told.get("candidatesTokenCount")


def _of(told: Mapping[str, Any], name: str, modality: str) -> int:
    parts = mappings(told.get(name))
    return sum(count(p.get("tokenCount")) for p in parts if p.get("modality") == modality)
