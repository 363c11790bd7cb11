import pytest

from proctor.api.errors import SpecError
from proctor.planning.documents import MAX_TEXT, read_documents


def the_document(text):
    (document,) = read_documents(text, "f.yaml")
    return document


def refused(text):
    with pytest.raises(SpecError) as caught:
        read_documents(text, "f.yaml")
    (problem,) = caught.value.problems
    assert problem.file == "f.yaml"
    return problem


def test_every_field_has_its_line():
    document = the_document("a:\n  b:\n    - x\n    - {c: 1}\n")
    assert document.lines == {"": 1, "a": 1, "a.b": 2, "a.b[0]": 3, "a.b[1]": 4, "a.b[1].c": 4}


def test_documents_are_read_one_by_one_and_empty_ones_left_out():
    values = [one.value for one in read_documents("a: 1\n---\n---\n# only words\n---\n- 2\n")]
    assert values == [{"a": 1}, [2]]


def test_no_text_is_no_document():
    assert read_documents("", None) == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("12", 12, id="whole"),
        pytest.param("-1_000", -1000, id="grouped"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("-017", -15, id="octal"),
        pytest.param("0o17", 15, id="octal-with-o"),
        pytest.param("1.5", 1.5, id="fraction"),
        pytest.param("1e3", 1000.0, id="exponent"),
        pytest.param(".5", 0.5, id="leading-dot"),
        pytest.param("yes", True, id="yes"),
        pytest.param("Off", False, id="off"),
        pytest.param("~", None, id="null"),
        pytest.param("''", "", id="empty-text"),
        pytest.param("'12'", "12", id="quoted-number"),
        pytest.param("!!str 12", "12", id="tagged-text"),
        pytest.param("! 12", "12", id="bare-tag"),
        pytest.param("!!int 12", 12, id="tagged-number"),
        pytest.param("2024-01-31", "2024-01-31", id="date-stays-text"),
        pytest.param("1:30", "1:30", id="time-stays-text"),
        pytest.param("1.2.3", "1.2.3", id="version-stays-text"),
        pytest.param("0x_", "0x_", id="no-digits-stay-text"),
        pytest.param("0b_", "0b_", id="no-binary-digits-stay-text"),
        pytest.param("|\n  a\n  b\n", "a\nb\n", id="block"),
        pytest.param("[]", [], id="empty-list"),
        pytest.param("{}", {}, id="empty-object"),
    ],
)
def test_values_are_those_of_kubernetes_clients(text, value):
    assert the_document(f"a: {text}").value == {"a": value}


def test_aliases_and_merge_keys_are_followed():
    text = "x: &x {a: 1, b: 2}\ny: *x\nz:\n  <<: [*x, {a: 9, c: 3}]\n  b: 4\n"
    assert the_document(text).value == {
        "x": {"a": 1, "b": 2},
        "y": {"a": 1, "b": 2},
        "z": {"a": 1, "b": 4, "c": 3},
    }


def test_a_quoted_merge_key_is_a_key():
    assert the_document("'<<': {a: 1}").value == {"<<": {"a": 1}}


def test_a_merge_of_something_else_is_a_problem():
    document = the_document("a: 1\n<<: [3]")
    (problem,) = document.problems
    assert (document.value, problem.field, problem.line) == ({"a": 1}, "<<", 2)


def test_a_key_that_occurs_twice_is_a_problem_and_the_first_value_stays():
    document = the_document("a: 1\nb: 2\na: 3\n")
    (problem,) = document.problems
    assert document.value == {"a": 1, "b": 2}
    assert (problem.field, problem.line, problem.file) == ("a", 3, "f.yaml")
    assert "line 1" in problem.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: .nan", "not a finite number", id="not-a-number"),
        pytest.param("a: -.inf", "not a finite number", id="infinite"),
        pytest.param("a: !!python/object x", "is not read", id="foreign-tag"),
        pytest.param("a: !secret x", "is not read", id="local-tag"),
        pytest.param(f"a: {'9' * 5000}", "5000 characters is not read", id="endless-number"),
        pytest.param(f"a: 0x{'f' * 5000}", "is not read", id="endless-hexadecimal"),
        pytest.param("a: 1e999", "not a finite number", id="beyond-a-float"),
    ],
)
def test_what_json_cannot_say_is_a_problem(text, message):
    (problem,) = the_document(text).problems
    assert (problem.field, message in problem.message, problem.line) == ("a", True, 1)


def laughs(levels):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(laughs(9), "aliases", id="billion-laughs"),
        pytest.param("[" * 500, "levels deep", id="too-deep"),
        pytest.param("a: *b", "no anchor &b", id="unknown-alias"),
        pytest.param("a: &a [*a]", "no anchor &a", id="alias-of-itself"),
        pytest.param("? [a]\n: b", "key that is not text", id="list-as-key"),
        pytest.param("a: [", "is not YAML", id="unclosed"),
        pytest.param("a: b: c", "is not YAML", id="two-colons"),
        pytest.param("a: \x00", "is not YAML", id="control-character"),
        pytest.param("x" * (MAX_TEXT + 1), "characters long", id="too-long"),
    ],
)
def test_what_is_no_manifest_is_refused(text, message):
    problem = refused(text)
    assert message in problem.message
    assert problem.remedy


def test_aliases_that_grow_little_are_fine():
    assert len(the_document(laughs(4)).value) == 4
