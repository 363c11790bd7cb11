"""One claim about a JSON document: a JMESPath expression, an operator, an expected value."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from pydantic import Field, JsonValue, StringConstraints, field_validator, model_validator

from proctor.api.base import Spec
from proctor.api.validation import refusal
from proctor.criteria.fields import compiled
from proctor.criteria.wording import shown

MIN_CONTAINS_CHARS = 8

Operator = Literal[
    "equals", "not_equals", "contains", "gt", "gte", "lt", "lte", "type", "regex", "exists"
]
_TYPES = ("string", "number", "boolean", "array", "object", "null")
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda actual, expected: actual > expected,
    "gte": lambda actual, expected: actual >= expected,
    "lt": lambda actual, expected: actual < expected,
    "lte": lambda actual, expected: actual <= expected,
}


class JsonAssertion(Spec):
    """One claim about the document."""

    expression: Annotated[
        str,
        StringConstraints(min_length=1, max_length=1024),
        Field(description="JMESPath expression; what it finds is compared."),
    ]
    operator: Annotated[
        Operator,
        Field(
            description="equals, not_equals, gt, gte, lt, lte; contains (text in text, element in "
            "array, name in object); type (string, number, boolean, array, object, null); regex "
            "(searched for); exists (found and not null)."
        ),
    ] = "equals"
    expected: Annotated[
        JsonValue, Field(description="What to compare with; absent only for exists.")
    ] = None

    @field_validator("expression")
    @classmethod
    def _compiles(cls, expression: str) -> str:
        try:
            problem = expression_problem(jmespath.compile(expression).parsed)
        except (JMESPathError, RecursionError) as error:
            problem = str(error).partition("\n")[0] or type(error).__name__
        if problem is not None:
            raise refusal(
                f"{expression!r} is not JMESPath: {problem}",
                "see jmespath.org; names with other characters than letters, digits and _ need "
                "double quotes",
            )
        return expression

    @model_validator(mode="after")
    def _expected_fits_operator(self) -> Self:
        if self.operator != "exists" and "expected" not in self.model_fields_set:
            raise refusal(f"operator {self.operator} has nothing to compare with", "add expected")
        if self.operator in _ORDERS and not (_is_number(self.expected) or self._is_text):
            raise self._misfit("write a number or a string")
        if self.operator == "type" and self.expected not in _TYPES:
            raise self._misfit(f"write one of {', '.join(_TYPES)}")
        if self.operator == "regex":
            if not self._is_text:
                raise self._misfit("write a regular expression as a string")
            compiled(str(self.expected))
        if self.operator == "contains" and self._is_text:
            self._refuse_short(str(self.expected))
        return self

    @property
    def _is_text(self) -> bool:
        return isinstance(self.expected, str)

    def _misfit(self, remedy: str) -> Exception:
        return refusal(f"expected {shown(self.expected)} does not fit {self.operator}", remedy)

    def _refuse_short(self, text: str) -> None:
        if len(text.strip()) < MIN_CONTAINS_CHARS:
            raise refusal(
                f"contains {text!r} has fewer than {MIN_CONTAINS_CHARS} non-blank characters, "
                "which other words contain by chance",
                "use equals, or regex with anchors",
            )


def expression_problem(node: Any) -> str | None:
    """What fails in a parsed expression whatever the document is; None when nothing does."""
    if not isinstance(node, dict):
        return None
    problem = None
    if node["type"] == "function_expression":
        problem = _call_problem(node["value"], len(node["children"]))
    elif node["type"] == "slice" and node["children"][2:3] == [0]:
        problem = "a slice cannot step by 0"
    return problem or next(filter(None, map(expression_problem, node["children"])), None)


def _call_problem(name: str, given: int) -> str | None:
    known = Functions.FUNCTION_TABLE.get(name)
    if known is None:
        return f"there is no function {name}"
    signature = known["signature"]
    is_open = bool(signature) and bool(signature[-1].get("variadic"))
    if given < len(signature) or (given > len(signature) and not is_open):
        return f"{name} takes {len(signature)} arguments, not {given}"
    return None


def failure(assertion: JsonAssertion, document: Any) -> str | None:
    """Why the claim does not hold for ``document``, for people; None when it holds."""
    try:
        actual = jmespath.search(assertion.expression, document)
        if _holds(assertion.operator, actual, assertion.expected):
            return None
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        return f"{shown(assertion.expression)} failed: {reason}"
    wanted = "" if assertion.operator == "exists" else f" {shown(assertion.expected)}"
    return f"{assertion.expression} is {shown(actual)}, expected {assertion.operator}{wanted}"


def _holds(operator: Operator, actual: Any, expected: Any) -> bool:
    match operator:
        case "equals":
            return same_json(actual, expected)
        case "not_equals":
            return not same_json(actual, expected)
        case "contains":
            return _contains(actual, expected)
        case "gt" | "gte" | "lt" | "lte":
            kinds = {_type_name(actual), _type_name(expected)}
            comparable = kinds in ({"number"}, {"string"})
            return comparable and _ORDERS[operator](actual, expected)
        case "type":
            return bool(_type_name(actual) == expected)
        case "regex":
            return isinstance(actual, str) and compiled(expected).search(actual) is not None
        case _:  # exists
            return actual is not None


def same_json(one: Any, other: Any) -> bool:
    """Equality of JSON values: numbers by value, and never a boolean for a number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return _type_name(one) == _type_name(other) and bool(one == other)


def _contains(actual: Any, expected: Any) -> bool:
    if isinstance(actual, list):
        return any(same_json(element, expected) for element in actual)
    return isinstance(actual, str | dict) and isinstance(expected, str) and expected in actual


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if _is_number(value):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
