"""JSON Schema, offline: a schema refers to nothing but itself."""

import itertools
from collections.abc import Iterator
from typing import Any

from proctor.criteria.wording import shortened

_SAMPLES: tuple[Any, ...] = (None, [], {}, "", 0)
"""Harmless documents: a schema that runs in a circle on these judges nothing."""

_FOLLOWED = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_MOST_REFERENCES = 5_000
"""Followed on one sample; a schema whose references multiply would otherwise never end."""

# jsonschema is imported in the functions: it costs 0.09 s, which only runs with schemas pay.


def schema_problem(schema: Any) -> str | None:
    """Why ``schema`` cannot be used; None when it can."""
    try:
        return _problem(schema)
    except RecursionError:
        return "its references go in a circle or multiply, or it is nested too deeply"


def _problem(schema: Any) -> str | None:
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry

    if _validator_type(schema) is None:
        return f"$schema {schema['$schema']!r} is not a known draft"
    try:
        _validator_type(schema).check_schema(schema)
    except SchemaError as error:
        return f"{shortened(error.message)} at {error.json_path}"
    problem = _reference_problem(schema)
    if problem is None:
        validator = _counting(_validator_type(schema))(schema, registry=Registry())
        for sample in _SAMPLES:
            best_match(validator.iter_errors(sample))
    return problem


def _counting(validator_type: Any) -> Any:
    """A validator that raises ``RecursionError`` when it has followed too many references."""
    from jsonschema import validators

    followed = itertools.count(1)

    def counted(follow: Any) -> Any:
        def keyword(*arguments: Any) -> Iterator[Any]:
            if next(followed) > _MOST_REFERENCES:
                raise RecursionError
            yield from follow(*arguments) or ()

        return keyword

    known = validator_type.VALIDATORS
    extend: Any = validators.extend
    return extend(validator_type, {name: counted(known[name]) for name in _FOLLOWED & set(known)})


def _reference_problem(schema: Any) -> str | None:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, specification_with

    draft = schema.get("$schema", "") if isinstance(schema, dict) else ""
    resource = specification_with(draft, default=DRAFT202012).create_resource(schema)
    resolver = Registry[Any]().resolver_with_root(resource)
    for ref in _references(schema):
        if not ref.startswith("#"):
            return f"$ref {ref!r} leaves the schema; only references that begin with # are followed"
        try:
            resolver.lookup(ref)
        except Unresolvable:
            return f"$ref {ref!r} leads nowhere"
    return None


def first_violation(schema: Any, value: Any) -> str | None:
    """The most telling way in which ``value`` breaks ``schema``; None when it is valid.

    Raises:
        RecursionError: When schema or value nest too deeply.
    """
    from jsonschema.exceptions import best_match
    from referencing import Registry

    validator = _validator_type(schema)(schema, registry=Registry())
    error = best_match(validator.iter_errors(value))
    return None if error is None else f"{error.json_path}: {shortened(error.message)}"


def _validator_type(schema: Any) -> Any:
    """The validator of the draft that ``$schema`` names; None when it is unknown."""
    from jsonschema.validators import Draft202012Validator, validator_for

    draft = schema.get("$schema") if isinstance(schema, dict) else None
    if draft is None:
        return Draft202012Validator
    unknown: Any = None
    return validator_for({"$schema": str(draft)}, default=unknown)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name in _FOLLOWED and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
