"""The prompt that an agent is given: the task's, changed by the variant; nothing is added."""

from collections.abc import Iterator

from proctor.api.errors import Problem
from proctor.api.task import PromptOverlay


def overlaid_prompt(prompt: str | None, overlay: PromptOverlay | None) -> str | None:
    """The task's prompt as the variant changes it; None when there is none at all."""
    if overlay is None:
        return prompt
    if overlay.text is not None:
        return overlay.text
    if prompt is None:
        return None
    parts = [overlay.prefix, prompt, overlay.suffix]
    return "\n\n".join(part for part in parts if part)


def overlay_problems(overlay: PromptOverlay | None, field: str) -> Iterator[Problem]:
    """An overlay that replaces and changes at once."""
    if overlay is None or overlay.text is None:
        return
    if overlay.prefix is not None or overlay.suffix is not None:
        yield Problem(
            field,
            "text replaces the prompt, so prefix and suffix have nothing to change",
            "give either text, or prefix and suffix",
        )
