from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, JsonValue

from proctor.api.catalog import CatalogEntry
from proctor.schema.criteria import criterion_fields
from proctor.schema.errors import SchemaError
from proctor.schema.structural import structural


def rewritten(**fields):
    """The structural schema of a model with these fields."""
    annotations = {name: kind for name, (kind, _) in fields.items()}
    defaults = {name: default for name, (_, default) in fields.items() if default is not ...}
    model = type("Sample", (BaseModel,), {"__annotations__": annotations, **defaults})
    return structural(model, lambda _, node: node)["properties"]


class Inner(BaseModel):
    """Inside."""

    a: int = 1


class Dog(BaseModel):
    kind: Literal["dog"]


class Cat(BaseModel):
    kind: Literal["cat"]


def entry(kind, options):
    return CatalogEntry(kind="criterion", type=kind, options=options)


def test_references_are_inlined_and_described_where_they_are_used():
    field = rewritten(x=(Annotated[Inner, Field(description="Outside.")], ...))["x"]
    assert field == {
        "type": "object",
        "description": "Outside.",
        "properties": {"a": {"type": "integer", "default": 1}},
    }


def test_a_union_with_null_is_nullable():
    assert rewritten(x=(int | None, None))["x"] == {"type": "integer", "nullable": True}


def test_an_enum_is_left_out_rather_than_null():
    assert rewritten(x=(Literal["a", "b"] | None, None))["x"] == {
        "type": "string",
        "enum": ["a", "b"],
    }


def test_a_constant_is_an_enum_of_one():
    assert rewritten(x=(Literal["a"], ...))["x"] == {"type": "string", "enum": ["a"]}


def test_a_set_is_a_list_type():
    field = rewritten(x=(frozenset[str], ...))["x"]
    assert field["x-kubernetes-list-type"] == "set"


def test_a_list_is_atomic_and_has_no_default():
    field = rewritten(x=(tuple[int, ...], ()))["x"]
    assert field == {
        "type": "array",
        "items": {"type": "integer"},
        "x-kubernetes-list-type": "atomic",
    }


def test_a_value_of_any_type_is_open():
    assert rewritten(x=(JsonValue, None))["x"]["x-kubernetes-preserve-unknown-fields"]
    assert rewritten(x=(dict[str, JsonValue], {}))["x"] == {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_a_map_of_one_type_says_which():
    assert rewritten(x=(dict[str, int], ...))["x"]["additionalProperties"] == {"type": "integer"}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(int | str, id="two-types"),
        pytest.param(Annotated[Dog | Cat, Field(discriminator="kind")], id="tagged-union"),
    ],
)
def test_what_is_not_structural_fails_the_build(kind):
    with pytest.raises(SchemaError, match=r"Sample\.x"):
        rewritten(x=(kind, ...))


def test_two_criteria_may_share_a_field_and_the_wider_bound_holds():
    one = {"properties": {"path": {"type": "string", "maxLength": 5, "description": "One."}}}
    two = {"properties": {"path": {"type": "string", "maxLength": 9, "description": "Two."}}}
    fields = criterion_fields(
        [entry("a", {"type": "object", **one}), entry("b", {"type": "object", **two})]
    )
    assert fields["path"] == {"description": "a: One. b: Two.", "type": "string", "maxLength": 9}


def test_a_bound_that_only_one_criterion_has_is_dropped():
    one = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}}
    two = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert "minimum" not in criterion_fields([entry("a", one), entry("b", two)])["n"]


def test_two_criteria_that_give_one_field_two_types_fail_the_build():
    one = {"type": "object", "properties": {"flags": {"type": "integer"}}}
    two = {"type": "object", "properties": {"flags": {"type": "string"}}}
    with pytest.raises(SchemaError, match="'flags' is one thing in a and another in b"):
        criterion_fields([entry("a", one), entry("b", two)])
