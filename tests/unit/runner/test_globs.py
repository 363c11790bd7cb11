import pytest

from proctor.runner.globs import ANY_DEPTH, is_literal, parse_glob


@pytest.mark.parametrize(
    ("glob", "matching", "other"),
    [
        pytest.param("*.py", ["a.py", ".py", "a\nb.py"], ["a/b.py", "a.pyc"], id="one-level"),
        pytest.param("src/*.py", ["src/a.py"], ["a.py", "src/b/a.py"], id="below-a-folder"),
        pytest.param("**/*.py", ["a.py", "x/y/a.py"], ["a.txt"], id="any-depth"),
        pytest.param("src/**", ["src/a", "src/b/c"], ["a"], id="all-below"),
        pytest.param("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["b", "a/bb"], id="inner-any-depth"),
        pytest.param("a?c", ["abc", "a.c"], ["ac", "a/c"], id="question-mark"),
        pytest.param("[ab]x", ["ax", "bx"], ["cx", "/x"], id="set"),
        pytest.param("[!ab]x", ["cx"], ["ax", "/x"], id="negated-set"),
        pytest.param("[a-c]x", ["bx"], ["dx"], id="range"),
        pytest.param("[a^]x", ["^x", "ax"], ["bx"], id="caret-in-set"),
        pytest.param("a[b", ["a[b"], ["ab"], id="unclosed-bracket"),
        pytest.param("./a//b*", ["a/b1"], ["b1"], id="empty-segments"),
        pytest.param("a+(b)*", ["a+(b)", "a+(b)x"], ["aab"], id="regex-characters"),
    ],
)
def test_glob_matches_whole_paths(glob, matching, other):
    parsed = parse_glob(glob)

    assert [path for path in matching if not parsed.matches(path)] == []
    assert [path for path in other if parsed.matches(path)] == []


@pytest.mark.parametrize(
    ("glob", "prefix", "depth"),
    [
        pytest.param("*.py", (), 1, id="top"),
        pytest.param("a/b/*.py", ("a", "b"), 3, id="literal-folders"),
        pytest.param("a/**/c", ("a",), ANY_DEPTH, id="any-depth"),
        pytest.param("*/b/c", (), 3, id="wildcard-first"),
    ],
)
def test_glob_says_where_it_can_match(glob, prefix, depth):
    parsed = parse_glob(glob)

    assert (parsed.prefix, parsed.depth) == (prefix, depth)


def test_many_stars_take_no_longer_than_one():
    assert not parse_glob("*" * 200 + "b").matches("a" * 200)


@pytest.mark.parametrize(
    ("glob", "literal"),
    [
        pytest.param("a/b.txt", True, id="path"),
        pytest.param("a*", False, id="star"),
        pytest.param("a?", False, id="question-mark"),
        pytest.param("[a]", False, id="set"),
    ],
)
def test_path_without_wildcards_is_literal(glob, literal):
    assert is_literal(glob) is literal
