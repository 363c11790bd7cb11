"""Scripted answers: rules that answer a request without a model. Pure, standard library only.

Matching looks at the request alone, so that a client's retry of a request gets the same answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails

STOP_REASONS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal")
"""Named as Anthropic does; the other formats write their own words for them."""

MALFORMED = ("truncated", "unfinished", "not-json", "empty")
"""How an answer may be broken: its connection ends in the middle, it ends in order but too early,
it is no JSON, it has no bytes."""


class Asked(Protocol):
    """What a rule may look at."""

    @property
    def model(self) -> str:
        """The model asked for."""

    @property
    def texts(self) -> tuple[str, ...]:
        """One per message."""

    @property
    def system(self) -> str:
        """System text."""

    @property
    def turn(self) -> int:
        """Assistant messages + 1."""


@dataclass(frozen=True, slots=True)
class ScriptedTool:
    """One tool call that the scripted model asks for."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What the scripted model says.

    Args:
        usage: None: estimated from the lengths of request and answer, a token per 4 characters.
        stop_reason: One of ``STOP_REASONS``; None: ``tool_use`` with tools, else ``end_turn``.
        thinking: What the model thinks before it speaks, where the API shows it.
        details: Parts of ``usage`` that are reported; only ``reasoning`` and ``cache_write_1h``.
        delay_seconds: Wait before the answer begins.
        malformed: One of ``MALFORMED``; None: it is in order.
    """

    text: str = ""
    tools: tuple[ScriptedTool, ...] = ()
    usage: Usage | None = None
    stop_reason: str | None = None
    thinking: str = ""
    details: UsageDetails = NO_DETAILS
    delay_seconds: float = 0.0
    malformed: str | None = None

    @property
    def reasoning(self) -> int:
        """Output tokens of thoughts; never more than there are."""
        thought = self.details.reasoning
        return min(thought, self.usage.output) if self.usage else thought

    def reason(self) -> str:
        """The stop reason, with the default filled in."""
        return self.stop_reason or ("tool_use" if self.tools else "end_turn")

    def usage_for(self, asked: Asked) -> Usage:
        """The usage figures that this answer to ``asked`` reports."""
        if self.usage is not None:
            return self.usage
        said = (
            len(self.text) + len(self.thinking) + sum(len(str(tool.input)) for tool in self.tools)
        )
        heard = len(asked.system) + sum(len(text) for text in asked.texts)
        return Usage(input=heard // 4 + 1, output=said // 4 + 1 + self.details.reasoning)


@dataclass(frozen=True, slots=True)
class ScriptedError:
    """An error that the scripted provider answers with, in the API's own shape.

    Args:
        retry_after_seconds: What it says in ``retry-after``; None: it does not say.
        delay_seconds: Wait before it.
    """

    status: int
    message: str
    retry_after_seconds: float | None = None
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class When:
    """Which requests a rule is for; None means any.

    Args:
        turn: Assistant messages in the request + 1.
        contains: Text in any message that is not of the system.
        model: Shell-style pattern of the model's name.
        system: Text in the system prompt.
    """

    turn: int | None = None
    contains: str | None = None
    model: str | None = None
    system: str | None = None

    def matches(self, asked: Asked) -> bool:
        """Whether all that is set holds."""
        return (
            self.turn in (None, asked.turn)
            and (self.contains is None or any(self.contains in text for text in asked.texts))
            and (self.model is None or fnmatchcase(asked.model, self.model))
            and (self.system is None or self.system in asked.system)
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a script."""

    when: When
    then: ScriptedAnswer | ScriptedError


@dataclass(frozen=True, slots=True)
class Script:
    """Rules in order; the first that matches answers."""

    rules: tuple[Rule, ...]

    def answer(self, asked: Asked) -> ScriptedAnswer | ScriptedError | None:
        """What to answer; None when no rule matches."""
        return next((rule.then for rule in self.rules if rule.when.matches(asked)), None)

    def models(self) -> tuple[str, ...]:
        """Model names that the rules give in full, in order, without repetition."""
        names = (rule.when.model for rule in self.rules)
        return tuple(dict.fromkeys(name for name in names if name and not set("*?[") & set(name)))
