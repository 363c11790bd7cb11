"""A script's YAML text to a ``Script``, with every problem named at once. Pure."""

from collections.abc import Mapping
from typing import Any

import yaml

from proctor.api.errors import Problem, SpecError
from proctor.api.usage import Usage, UsageDetails
from proctor.wire.script import (
    MALFORMED,
    STOP_REASONS,
    Rule,
    Script,
    ScriptedAnswer,
    ScriptedError,
    ScriptedTool,
    When,
)

_USAGE = {
    "input": "input",
    "output": "output",
    "cacheRead": "cache_read",
    "cacheWrite": "cache_write",
}
_DETAILS = {"cacheWrite1h": "cache_write_1h", "reasoning": "reasoning"}
_ANSWER = ("text", "tools", "thinking", "usage", "stopReason", "delaySeconds", "malformed")
_ERROR = ("status", "message", "retryAfterSeconds", "delaySeconds")
_MAX_SECONDS = 3600
_NOTHING: Mapping[str, Any] = {}
_KINDS: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "an object",
    list: "a list",
}


def parse_script(text: str, field: str = "script") -> Script:
    """Read a script.

    Args:
        text: YAML.
        field: Where it stands, for the problems.

    Raises:
        SpecError: With all problems.
    """
    reader = _Reader()
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SpecError([Problem(field, f"is not YAML: {error}")]) from None
    script = reader.script(document, field)
    if reader.problems:
        raise SpecError(reader.problems)
    return script


class _Reader:
    """Collects problems while it reads; what it returns counts only when there are none."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def script(self, document: Any, at: str) -> Script:
        body = self._object(document, at, ("rules",))
        rules = self._value(body, "rules", list, at, required=True) or []
        if body.get("rules") == []:
            self._problem(f"{at}.rules", "has no rule", "add a rule with an answer")
        return Script(tuple(self._rule(rule, f"{at}.rules[{i}]") for i, rule in enumerate(rules)))

    def _rule(self, value: Any, at: str) -> Rule:
        body = self._object(value, at, ("when", "answer", "error"))
        if isinstance(value, dict) and ("answer" in body) == ("error" in body):
            self._problem(at, "needs exactly one of answer and error", "keep one of them")
        when = self._when(body.get("when", {}), f"{at}.when")
        if "error" in body:
            return Rule(when, self._error(body["error"], f"{at}.error"))
        return Rule(when, self._answer(body.get("answer", {}), f"{at}.answer"))

    def _when(self, value: Any, at: str) -> When:
        body = self._object(value, at, ("turn", "contains", "model", "system"))
        turn = self._value(body, "turn", int, at)
        if turn is not None and turn < 1:
            self._problem(f"{at}.turn", f"is {turn}", "count from 1")
        texts = {key: self._value(body, key, str, at) for key in ("contains", "model", "system")}
        return When(turn=turn, **texts)

    def _answer(self, value: Any, at: str) -> ScriptedAnswer:
        body = self._object(value, at, _ANSWER)
        tools = self._value(body, "tools", list, at) or []
        usage, details = self._usage(body.get("usage"), f"{at}.usage")
        return ScriptedAnswer(
            text=self._value(body, "text", str, at) or "",
            tools=tuple(self._tool(tool, f"{at}.tools[{i}]") for i, tool in enumerate(tools)),
            thinking=self._value(body, "thinking", str, at) or "",
            usage=usage,
            details=details,
            stop_reason=self._one_of(body, "stopReason", STOP_REASONS, at),
            delay_seconds=self._seconds(body, "delaySeconds", at) or 0.0,
            malformed=self._one_of(body, "malformed", MALFORMED, at),
        )

    def _tool(self, value: Any, at: str) -> ScriptedTool:
        body = self._object(value, at, ("name", "input"))
        name = self._value(body, "name", str, at, required=True)
        return ScriptedTool(name or "", self._value(body, "input", dict, at) or {})

    def _usage(self, value: Any, at: str) -> tuple[Usage | None, UsageDetails]:
        if value is None:
            return None, UsageDetails()
        body = self._object(value, at, (*_USAGE, *_DETAILS))
        counts = {key: self._value(body, key, int, at) or 0 for key in (*_USAGE, *_DETAILS)}
        for key, number in counts.items():
            if number < 0:
                self._problem(f"{at}.{key}", f"is {number}", "write 0 or more")
        for part, whole in (("cacheWrite1h", "cacheWrite"), ("reasoning", "output")):
            if counts[part] > counts[whole]:
                self._problem(f"{at}.{part}", f"is more than {whole}", "it is a part of it")
        usage = Usage(**{name: counts[key] for key, name in _USAGE.items()})
        return usage, UsageDetails(**{name: counts[key] for key, name in _DETAILS.items()})

    def _error(self, value: Any, at: str) -> ScriptedError:
        body = self._object(value, at, _ERROR)
        status = self._value(body, "status", int, at, required=True)
        if status is not None and not 400 <= status <= 599:
            self._problem(f"{at}.status", f"is {status}", "an error's status is 400 to 599")
        return ScriptedError(
            status=status or 500,
            message=self._value(body, "message", str, at) or "scripted error",
            retry_after_seconds=self._seconds(body, "retryAfterSeconds", at),
            delay_seconds=self._seconds(body, "delaySeconds", at) or 0.0,
        )

    def _seconds(self, body: Mapping[str, Any], key: str, at: str) -> float | None:
        kind = int if isinstance(body.get(key), int) else float
        value = self._value(body, key, kind, at)
        if value is not None and not 0 <= value <= _MAX_SECONDS:
            self._problem(f"{at}.{key}", f"is {value}", f"write 0 to {_MAX_SECONDS}")
        return None if value is None else float(value)

    def _one_of(
        self, body: Mapping[str, Any], key: str, known: tuple[str, ...], at: str
    ) -> str | None:
        value: str | None = self._value(body, key, str, at)
        if value is not None and value not in known:
            self._problem(f"{at}.{key}", f"{value!r} is unknown", f"one of {', '.join(known)}")
        return value

    def _object(self, value: Any, at: str, fields: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._problem(at, f"is {_named(value)}, not an object", f"fields: {', '.join(fields)}")
            return _NOTHING
        for key in value:
            if key not in fields:
                self._problem(f"{at}.{key}", "is unknown", f"fields: {', '.join(fields)}")
        return value

    def _value(
        self, body: Mapping[str, Any], key: str, kind: type, at: str, *, required: bool = False
    ) -> Any:
        value = body.get(key)
        if value is None:
            if required and body is not _NOTHING:
                self._problem(f"{at}.{key}", "is missing", f"write {_KINDS[kind]}")
            return None
        if isinstance(value, kind) and not isinstance(value, bool):
            return value
        self._problem(f"{at}.{key}", f"is {_named(value)}", f"write {_KINDS[kind]}")
        return None

    def _problem(self, field: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(field, message, remedy))


_NAMES: Mapping[type, str] = {
    **_KINDS,
    type(None): "empty",
    bool: "true or false",
    float: "a fraction",
}


def _named(value: Any) -> str:
    return _NAMES.get(type(value), type(value).__name__)
