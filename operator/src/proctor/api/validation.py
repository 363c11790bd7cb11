"""From what pydantic says to ``Problem``s that name value and remedy."""

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from proctor.api.errors import Problem, SpecError
from proctor.api.text import cut

M = TypeVar("M", bound=BaseModel)

_SHOWN_CHARS = 80
_REMEDIES = {
    "missing": "add it",
    "int_type": "write an integer",
    "int_parsing": "write an integer",
    "int_from_float": "write an integer",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "string_type": "write a string; quote it if it looks like a number or a boolean",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "dict_type": "write an object",
    "model_type": "write an object",
    "tuple_type": "write a list",
    "list_type": "write a list",
    "string_too_long": "shorten it",
    "string_too_short": "write at least one character",
    "too_long": "give fewer items",
    "too_short": "give at least one",
    "greater_than": "raise it",
    "greater_than_equal": "raise it",
    "less_than": "lower it",
    "less_than_equal": "lower it",
}


def refusal(message: str, remedy: str) -> PydanticCustomError:
    """For validators: an error whose message names the value, with what to write instead."""
    return PydanticCustomError(
        "refused", "{message} ({remedy})", {"message": message, "remedy": remedy}
    )


def require_one(**fields: object) -> None:
    """For validators: refuse two fields unless exactly one of them is given (not None)."""
    one, other = fields
    given = [name for name, value in fields.items() if value is not None]
    if len(given) != 1:
        said = f"both {one} and {other} are" if given else f"neither {one} nor {other} is"
        raise refusal(f"{said} given", "write exactly one of them")


def read_model(model: type[M], body: Any, field: str) -> M:
    """Read JSON values as an API server does: no coercion, and camelCase names only.

    Raises:
        SpecError: With one problem for each field that is wrong; their paths begin with ``field``.
    """
    try:
        text = json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SpecError([Problem(field, f"is not JSON: {error}", "write plain values")]) from None
    try:
        return model.model_validate_json(text, strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        raise SpecError(problems_of(error, field, model)) from None


def problems_of(
    error: ValidationError, field: str, model: type[BaseModel] | None = None
) -> tuple[Problem, ...]:
    """One problem for each error, in pydantic's order.

    Args:
        error: What pydantic raised.
        field: Path of the object that was validated; the paths of the problems begin with it.
        model: Its model, so that an unknown field can be answered with the known ones.
    """
    return tuple(
        _problem(detail, field, model)
        for detail in error.errors(include_url=False)
        # pydantic counts only the items that have no error of their own
        if not (detail["type"] == "too_short" and detail["input"])
    )


def _problem(detail: ErrorDetails, field: str, model: type[BaseModel] | None) -> Problem:
    path = (field + "".join(_step(part) for part in detail["loc"])).lstrip(".")
    if detail["type"] == "refused":
        return Problem(path, detail["ctx"]["message"], detail["ctx"]["remedy"])
    if detail["type"] == "extra_forbidden":
        return Problem(path, f"unknown field {str(detail['loc'][-1])!r}", _known(detail, model))
    if detail["type"] == "missing":
        return Problem(path, "is required", _REMEDIES["missing"])
    message = f"{_shown(detail['input'])} is refused: {_worded(detail['msg'])}"
    return Problem(path, message, _REMEDIES.get(detail["type"]) or _wanted(detail, model))


def _step(part: int | str) -> str:
    return f"[{part}]" if isinstance(part, int) else f".{part}"


def _wanted(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    """What may stand there: the named values, or what the field's description says."""
    expected = detail.get("ctx", {}).get("expected")
    if expected is not None:
        return f"write {expected}"
    words = [index for index, step in enumerate(detail["loc"]) if isinstance(step, str)]
    if model is None or not words:
        return ""
    owner = _model_at(model, detail["loc"][: words[-1]])
    fields = owner.model_fields.items() if owner else ()
    word = detail["loc"][words[-1]]
    return next((info.description or "" for name, info in fields if word in (info.alias, name)), "")


def _known(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    *way, written = detail["loc"]
    owner = None if model is None else _model_at(model, way)
    if owner is None:
        return "remove it"
    names = sorted(info.alias or name for name, info in owner.model_fields.items())
    if not names:
        return "it has no fields; remove it"
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(written).replace("_", "").lower(), folded, 1, 0.7)
    guess = f"did you mean {folded[close[0]]}? " if close else ""
    return f"{guess}known fields: {', '.join(names)}"


def _model_at(model: type[BaseModel], way: Sequence[int | str]) -> type[BaseModel] | None:
    """The model of the object that ``way`` leads to, or None when that is no model's."""
    here: type[BaseModel] | None = model
    for step in way:
        if isinstance(step, str) and here is not None:
            fields = here.model_fields.items()
            named = (info.annotation for name, info in fields if step in (info.alias, name))
            here = next(_models_in(next(named, None)), None)
    return here


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models_in(inner)


def _shown(value: Any) -> str:
    return cut(repr(value), _SHOWN_CHARS)


def _worded(message: str) -> str:
    return (message[:1].lower() + message[1:]).replace("tuple", "list")
