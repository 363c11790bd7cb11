import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders_criteria import evidence, problems, verdict_of
from proctor.api.verdict import Scored, Unscored
from proctor.criteria.json_assertion import same_json
from proctor.criteria.json_text import JsonTextError, parse_json

ORDER = {"id": 7, "total": 9.5, "paid": True, "note": None, "lines": [{"sku": "a-1"}, {"sku": "b"}]}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


def judged(text, **options):
    body = text if isinstance(text, str | bytes) else json.dumps(text)
    return verdict_of("json_check", evidence(out__json=body), path="out.json", **options)


def held(expression, operator, *expected):
    claim = {"expression": expression, "operator": operator}
    if expected:
        claim["expected"] = expected[0]
    return judged(ORDER, assertions=[claim]).score


def test_valid_json_is_enough_where_nothing_else_is_asked():
    assert judged(ORDER) == Scored(1.0, "out.json: is valid JSON")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('{"a": }', "expecting value at line 1, column 7", id="syntax"),
        pytest.param("", "expecting value", id="empty"),
        pytest.param('{"a": 1, "a": 2}', "the name 'a' twice", id="duplicate-name"),
        pytest.param("[NaN]", "NaN is not JSON", id="nan"),
        pytest.param("[-Infinity]", "-Infinity is not JSON", id="infinity"),
        pytest.param("[1e999]", "1e999 is too large", id="overflow"),
        pytest.param("9" * 400, "more than 300 digits", id="huge-integer"),
        pytest.param("[" * 100_000, "deeper than 64", id="depth-bomb"),
        pytest.param('{"a":' * 65 + "1" + "}" * 65, "deeper than 64", id="just-too-deep"),
        pytest.param(b"\xff\xfe", "not UTF-8", id="not-text"),
        pytest.param('"\\ud800 ', "unterminated string", id="open-string"),
    ],
)
def test_what_is_no_json_scores_0_and_says_why(text, said):
    verdict = judged(text)
    assert verdict.score == 0.0
    assert verdict.explanation.startswith("out.json is not valid JSON: ")
    assert said in verdict.explanation


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 64 + "]" * 64, id="deepest"),
        pytest.param('["[[[[", "\\"]]"' + ', "["' * 99 + "]", id="brackets-in-strings"),
        pytest.param("\ufeff{}", id="byte-order-mark"),
        pytest.param("[-0.0, 1e-999, 12345678901234567890]", id="odd-numbers"),
    ],
)
def test_odd_but_valid_json_is_read(text):
    assert judged(text).score == 1.0


@settings(deadline=None)
@given(VALUES)
def test_what_json_can_write_is_read_back(value):
    assert same_json(parse_json(json.dumps(value).encode()), value)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_an_error_of_ours(data):
    try:
        parse_json(data)
    except JsonTextError as error:
        explained = str(error)
    else:
        explained = "it is valid"
    assert explained


@pytest.mark.parametrize(
    ("expression", "operator", "expected", "score"),
    [
        pytest.param("id", "equals", 7, 1, id="equals"),
        pytest.param("id", "equals", 7.0, 1, id="equals-by-value"),
        pytest.param("id", "equals", "7", 0, id="equals-not-across-types"),
        pytest.param("paid", "equals", 1, 0, id="true-is-not-1"),
        pytest.param("lines[*].sku", "equals", ["a-1", "b"], 1, id="equals-deep"),
        pytest.param("lines[0]", "equals", {"sku": "x"}, 0, id="equals-deep-not"),
        pytest.param("missing", "equals", None, 1, id="missing-is-null"),
        pytest.param("id", "not_equals", 8, 1, id="not_equals"),
        pytest.param("id", "not_equals", 7, 0, id="not_equals-not"),
        pytest.param("to_string(@)", "contains", '"sku":"a-1"', 1, id="contains-text"),
        pytest.param("lines[*].sku", "contains", "a-longer-one", 0, id="contains-element-not"),
        pytest.param("lines", "contains", {"sku": "b"}, 1, id="contains-element"),
        pytest.param("@", "contains", "long-name", 0, id="contains-name-not"),
        pytest.param("id", "contains", 7, 0, id="contains-in-a-number"),
        pytest.param("total", "gt", 9, 1, id="gt"),
        pytest.param("id", "gte", 7, 1, id="gte"),
        pytest.param("id", "lt", 7, 0, id="lt-not"),
        pytest.param("lines[1].sku", "lte", "b", 1, id="lte-of-strings"),
        pytest.param("lines[1].sku", "gt", 1, 0, id="gt-across-types"),
        pytest.param("paid", "gte", 0, 0, id="booleans-have-no-order"),
        pytest.param("note", "type", "null", 1, id="type-null"),
        pytest.param("paid", "type", "boolean", 1, id="type-boolean"),
        pytest.param("paid", "type", "number", 0, id="boolean-is-no-number"),
        pytest.param("total", "type", "number", 1, id="type-number"),
        pytest.param("lines", "type", "array", 1, id="type-array"),
        pytest.param("@", "type", "object", 1, id="type-object"),
        pytest.param("lines[0].sku", "type", "string", 1, id="type-string"),
        pytest.param("lines[0].sku", "regex", r"^a-\d$", 1, id="regex"),
        pytest.param("id", "regex", r"\d", 0, id="regex-of-a-number"),
    ],
)
def test_an_operator_compares_what_was_found(expression, operator, expected, score):
    assert held(expression, operator, expected) == score


@pytest.mark.parametrize(
    ("expression", "score"),
    [pytest.param("id", 1, id="there"), pytest.param("note", 0, id="null"),
     pytest.param("nope", 0, id="missing")],
)  # fmt: skip
def test_exists_means_found_and_not_null(expression, score):
    assert held(expression, "exists") == score


def test_an_expression_that_fails_on_the_document_does_not_hold():
    verdict = judged(ORDER, assertions=[{"expression": "length(id)", "expected": 1}])
    assert verdict.score == 0.0
    assert '"length(id)" failed: ' in verdict.explanation


def test_assertions_score_by_their_share_and_failing_ones_are_shown():
    claims = [
        {"expression": "id", "expected": 7},
        {"expression": "total", "operator": "gt", "expected": 10},
        {"expression": "nope", "operator": "exists"},
        {"expression": "paid", "expected": True},
    ]
    assert judged(ORDER, assertions=claims) == Scored(
        0.5,
        "out.json: is valid JSON; 2 of 4 assertions hold; total is 9.5, expected gt 10; "
        "nope is null, expected exists",
    )


SCHEMA = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


def test_schema_and_assertions_count_alike():
    claims = [{"expression": "id", "expected": 8}, {"expression": "paid", "expected": True}]
    assert judged(ORDER, jsonSchema=SCHEMA, assertions=claims).score == 0.75


def test_a_document_that_breaks_the_schema_scores_0_whatever_the_assertions_say():
    verdict = judged(
        {"id": "7"}, jsonSchema=SCHEMA, assertions=[{"expression": "id", "expected": "7"}]
    )
    assert verdict == Scored(0.0, "out.json breaks the schema: $.id: '7' is not of type 'integer'")


def test_a_schema_may_refer_to_itself():
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"items": {"$ref": "#/$defs/node"}, "type": "array"}},
    }
    assert judged([[], [[]]], jsonSchema=tree).score == 1.0
    assert judged([[1]], jsonSchema=tree).score == 0.0


def test_the_draft_that_the_schema_names_is_used():
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "minimum": 1,
        "exclusiveMinimum": True,
    }
    assert judged("1", jsonSchema=schema).score == 0.0


def test_a_document_too_deep_for_the_schema_is_the_agents_zero():
    schema = {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}
    verdict = judged({"a": 1}, jsonSchema=schema)
    assert verdict == Scored(
        0.0, "out.json breaks the schema: it is nested too deeply to be checked"
    )


def test_a_schema_may_lie_in_a_reference_file():
    seen = evidence(reference={"order.schema.json": json.dumps(SCHEMA)}, o='{"id": 1}')
    assert verdict_of("json_check", seen, path="o", schemaPath="order.schema.json") == Scored(
        1.0, "o: fits the schema"
    )


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        pytest.param({}, "0 reference files match s.json", id="missing"),
        pytest.param({"s.json": "{"}, "is not valid JSON", id="no-json"),
        pytest.param({"s.json": '{"type": "thing"}'}, "is no usable schema", id="no-schema"),
        pytest.param({"s.json": "null"}, "is no usable schema", id="null"),
    ],
)
def test_a_schema_that_we_owe_is_unscored(reference, said):
    seen = evidence(reference=reference, o="{}")
    verdict = verdict_of("json_check", seen, path="o", schemaPath="s.json")
    assert isinstance(verdict, Unscored)
    assert said in verdict.reason


@settings(deadline=None)
@given(VALUES, st.sampled_from(["equals", "not_equals", "gt", "lt", "contains", "exists", "type"]))
def test_no_document_breaks_an_assertion(document, operator):
    expected = "string" if operator == "type" else "a long text"
    claim = {"expression": "[0] || a || @", "operator": operator, "expected": expected}
    assert judged(document, assertions=[claim]).score in (0.0, 1.0)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_equality_is_symmetric_and_reflexive(one, other):
    assert same_json(one, one)
    assert same_json(one, other) == same_json(other, one)


@pytest.mark.parametrize(
    ("operator", "expected", "said"),
    [
        pytest.param("is", 1, ".operator", id="unknown-operator"),
        pytest.param("gt", [1], "does not fit gt", id="order-of-a-list"),
        pytest.param("gt", True, "does not fit gt", id="order-of-a-boolean"),
        pytest.param("type", "int", "write one of string", id="unknown-type"),
        pytest.param("type", ["array"], "write one of string", id="type-in-a-list"),
        pytest.param("regex", "(", "not a regular expression", id="bad-regex"),
        pytest.param("regex", 1, "does not fit regex", id="regex-number"),
        pytest.param("contains", " 1234567 ", "fewer than 8", id="short-text"),
    ],
)
def test_an_expected_value_that_cannot_work_is_refused_at_load(operator, expected, said):
    claim = {"expression": "a", "operator": operator, "expected": expected}
    (problem,) = problems("json_check", path="a", assertions=[claim])
    assert problem.startswith("c.assertions[0]")
    assert said in problem


@pytest.mark.parametrize(
    "expected", [pytest.param("8 charac", id="8-characters"), pytest.param(1, id="a-number")]
)
def test_contains_takes_long_texts_and_elements(expected):
    claim = {"expression": "a", "operator": "contains", "expected": expected}
    assert problems("json_check", path="a", assertions=[claim]) == []


def test_an_operator_needs_something_to_compare_with():
    (problem,) = problems("json_check", path="a", assertions=[{"expression": "a"}])
    assert "nothing to compare with" in problem


def test_a_bad_expression_is_refused_at_load():
    claim = {"expression": "a..b", "expected": 1}
    (problem,) = problems("json_check", path="a", assertions=[claim])
    assert problem.startswith("c.assertions[0].expression: 'a..b' is not JMESPath")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        pytest.param("nope(@)", "there is no function nope", id="unknown-function"),
        pytest.param("lines[].nope(@)", "there is no function nope", id="inner-function"),
        pytest.param("length()", "length takes 1 arguments, not 0", id="too-few"),
        pytest.param("length(a, b)", "length takes 1 arguments, not 2", id="too-many"),
        pytest.param("merge()", "merge takes 1 arguments, not 0", id="too-few-of-any-number"),
        pytest.param("lines[::0]", "a slice cannot step by 0", id="step-by-nothing"),
    ],
)
def test_an_expression_that_fails_on_every_document_is_refused_at_load(expression, said):
    (problem,) = problems("json_check", path="a", assertions=[_claim(expression)])
    assert said in problem


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("merge(@, @, @)", id="any-number"),
        pytest.param("not_null(a, b)", id="first-that-is-there"),
        pytest.param("lines[::-1]", id="backwards"),
        pytest.param("sort_by(lines, &sku)[0].sku", id="reference-to-an-expression"),
    ],
)
def test_an_expression_that_can_work_is_taken(expression):
    assert held(expression, "exists") in (0.0, 1.0)


def _claim(expression):
    return {"expression": expression, "operator": "exists"}


def test_texts_of_an_agent_cannot_break_an_explanation():
    claim = {"expression": "a", "expected": "fine"}
    verdict = judged(b'{"a": "\\ud800\\u001b[31m"}', assertions=[claim])
    assert verdict.explanation.encode()
    assert verdict.explanation.isprintable()


def _doubling(levels):
    """A schema in which each part refers to the next one twice."""
    both = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/0", "$defs": {**both, str(levels): {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        pytest.param({"type": "thing"}, "at $.type", id="type"),
        pytest.param({"pattern": "("}, "at $.pattern", id="regex"),
        pytest.param({"$ref": "https://example.com/s"}, "leaves the schema", id="remote"),
        pytest.param({"properties": {"a": {"$ref": "#/$defs/x"}}}, "leads nowhere", id="dangling"),
        pytest.param({"$ref": "#"}, "in a circle", id="circle"),
        pytest.param(_doubling(20), "multiply", id="references-that-multiply"),
        pytest.param({"$schema": "https://example.com/draft"}, "not a known draft", id="draft"),
        pytest.param({"$schema": 7}, "not a known draft", id="draft-number"),
    ],
)
def test_a_schema_that_cannot_work_is_refused_at_load(schema, said):
    (problem,) = problems("json_check", path="a", jsonSchema=schema)
    assert problem.startswith("c.jsonSchema: the schema cannot be used")
    assert said in problem


def test_one_schema_is_enough():
    (problem,) = problems("json_check", path="a", jsonSchema={}, schemaPath="b")
    assert "both jsonSchema and schemaPath" in problem


def test_a_schema_whose_references_multiply_is_refused_at_load():
    # Forty levels of two references each ran for years, and the operator with them.
    levels = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(40)}
    schema = {"$defs": {**levels, "a40": {"type": "string"}}, "$ref": "#/$defs/a0"}
    (problem,) = problems("json_check", path="a", jsonSchema=schema)
    assert "multiply" in problem
