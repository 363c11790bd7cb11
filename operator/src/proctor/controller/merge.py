"""A model as the body of a JSON merge patch (pure)."""

from typing import Any

from pydantic import BaseModel


def merge_form(model: BaseModel) -> dict[str, Any]:
    """JSON by alias: a null removes the field, and items of lists, which replace, have none."""
    form: dict[str, Any] = model.model_dump(mode="json", by_alias=True)
    return {key: _without_nulls(value) for key, value in form.items()}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_dropped(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items()}
    return value


def _dropped(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _dropped(value) for key, value in item.items() if value is not None}
    return [_dropped(value) for value in item] if isinstance(item, list) else item
