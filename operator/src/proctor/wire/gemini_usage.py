"""What Gemini's answers say of themselves. Pure, standard library only."""

from collections.abc import Mapping
from typing import Any

from proctor.api.usage import Usage, UsageDetails
from proctor.wire.fields import count, mapping, mappings, text, write_json
from proctor.wire.format import Reading


class GeminiTally:
    """Adds up answers and pieces of answers; usage stands in each, cumulative.

    A stream has no last event: it is over when its bytes are.
    """

    is_over = False

    def __init__(self) -> None:
        self._figures: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._tools: list[str] = []
        self._error: str | None = None
        self.characters = 0

    def is_plain(self, data: str) -> bool:
        """Never: each piece has usage figures."""
        return False

    def add(self, item: Mapping[str, Any]) -> None:
        """Take the next answer or piece."""
        error = mapping(item.get("error"))
        if error:
            self._error = f"{text(error.get('status')) or 'error'}: {text(error.get('message'))}"
        self._figures.update(mapping(item.get("usageMetadata")))
        blocked = text(mapping(item.get("promptFeedback")).get("blockReason"))
        self._stop_reason = blocked or self._stop_reason
        for candidate in mappings(item.get("candidates")):
            self._stop_reason = text(candidate.get("finishReason")) or self._stop_reason
            for part in mappings(mapping(candidate.get("content")).get("parts")):
                self._part(part)

    def _part(self, part: Mapping[str, Any]) -> None:
        self.characters += len(text(part.get("text")))
        call = mapping(part.get("functionCall"))
        if call:
            self._tools.append(text(call.get("name")))
            self.characters += len(write_json(mapping(call.get("args"))))

    def reading(self) -> Reading:
        """What was read so far."""
        usage, details = _usage(self._figures)
        return Reading(
            usage=usage if self._figures else None,
            details=details,
            complete=bool(self._figures and self._stop_reason) and not self._error,
            stop_reason=self._stop_reason,
            tools=tuple(self._tools),
            error=self._error,
            characters=self.characters,
            tier=text(self._figures.get("serviceTier")) or None,
        )


def _usage(figures: Mapping[str, Any]) -> tuple[Usage, UsageDetails]:
    prompt = count(figures.get("promptTokenCount"))
    cached = min(count(figures.get("cachedContentTokenCount")), prompt)
    thoughts = count(figures.get("thoughtsTokenCount"))
    usage = Usage(
        input=prompt - cached + count(figures.get("toolUsePromptTokenCount")),
        output=count(figures.get("candidatesTokenCount")) + thoughts,
        cache_read=cached,
    )
    details = UsageDetails(
        reasoning=thoughts,
        input_image=_of(figures, "promptTokensDetails", "IMAGE"),
        input_audio=_of(figures, "promptTokensDetails", "AUDIO"),
        cached_audio=_of(figures, "cacheTokensDetails", "AUDIO"),
        output_image=_of(figures, "candidatesTokensDetails", "IMAGE"),
        output_audio=_of(figures, "candidatesTokensDetails", "AUDIO"),
    )
    return usage, details


def _of(figures: Mapping[str, Any], name: str, modality: str) -> int:
    parts = mappings(figures.get(name))
    return sum(count(p.get("tokenCount")) for p in parts if p.get("modality") == modality)
