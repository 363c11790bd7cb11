"""``file_exists``, ``file_contains`` and ``file_matches_regex``."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders_criteria import evidence, problems, verdict_of
from fakes.evidence import FakeEvidence
from proctor.api.evidence import EvidenceLimitError
from proctor.api.verdict import Scored

TREE = FakeEvidence(
    {
        "app.py": b"def main():\n    return 42\n",
        "src/a.py": b"a",
        "src/b.py": b"b",
        "odd[1].txt": b"literal",
        "odd1.txt": b"glob",
    }
)


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        pytest.param("app.py", Scored(1.0, "app.py found"), id="file"),
        pytest.param("./src//a.py", Scored(1.0, "src/a.py found"), id="normalised"),
        pytest.param("src", Scored(1.0, "src is a folder"), id="folder"),
        pytest.param("src/*.py", Scored(1.0, "src/a.py, src/b.py found"), id="several"),
        pytest.param("odd[1].txt", Scored(1.0, "odd[1].txt found"), id="literal-wins"),
        pytest.param("main.go", Scored(0.0, "main.go does not exist"), id="missing"),
        pytest.param("*.go", Scored(0.0, "no file matches *.go"), id="no-match"),
    ],
)
def test_something_is_there_or_not(path, verdict):
    assert verdict_of("file_exists", TREE, path=path) == verdict


@pytest.mark.parametrize(
    ("path", "explanation"),
    [
        pytest.param("main.go", "main.go does not exist", id="missing"),
        pytest.param("src", "src is a folder, not a file", id="folder"),
        pytest.param(
            "src/*.py",
            "src/*.py matches 2 files, expected one: src/a.py, src/b.py",
            id="several",
        ),
    ],
)
@pytest.mark.parametrize(
    ("type_", "options"),
    [
        pytest.param("file_contains", {"includes": ["x"]}, id="file_contains"),
        pytest.param("file_contains", {"excludes": ["x"]}, id="file_contains-excludes"),
        pytest.param("file_matches_regex", {"pattern": "x"}, id="file_matches_regex"),
        pytest.param(
            "file_matches_regex", {"pattern": "x", "mustMatch": False}, id="must-not-match"
        ),
        pytest.param("json_check", {}, id="json_check"),
    ],
)
def test_what_reads_a_file_needs_exactly_one(type_, options, path, explanation):
    assert verdict_of(type_, TREE, path=path, **options) == Scored(0.0, explanation)


@pytest.mark.parametrize(
    ("includes", "excludes", "score"),
    [
        pytest.param(["def main", "return 42"], [], 1.0, id="all-there"),
        pytest.param(["def main", "x", "y", "z"], [], 0.25, id="share-of-includes"),
        pytest.param([], ["def main", "eval("], 0.5, id="share-of-excludes"),
        pytest.param(["def main", "x"], ["eval("], 0.75, id="mean-of-both"),
        pytest.param(["DEF MAIN"], [], 0.0, id="case-matters"),
        pytest.param([], [], 1.0, id="no-parts"),
    ],
)
def test_texts_score_by_their_share(includes, excludes, score):
    verdict = verdict_of("file_contains", TREE, path="app.py", includes=includes, excludes=excludes)
    assert verdict.score == pytest.approx(score)


def test_the_explanation_names_what_is_missing_and_what_should_not_be_there():
    verdict = verdict_of(
        "file_contains", TREE, path="app.py", includes=["class A", "main"], excludes=["42"]
    )
    assert verdict.explanation == (
        'app.py: 1 of 2 expected texts found; missing: "class A"; '
        '1 of 1 excluded texts found; not allowed: "42"'
    )


def test_a_file_that_only_has_to_exist_says_so():
    assert verdict_of("file_contains", TREE, path="app.py").explanation == "app.py: exists"


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=3), max_size=5), st.binary(max_size=30))
def test_texts_and_their_absence_add_up(parts, data):
    seen = evidence(f=data)
    there = verdict_of("file_contains", seen, path="f", includes=parts)
    absent = verdict_of("file_contains", seen, path="f", excludes=parts)
    assert there.score + absent.score == pytest.approx(1 if parts else 2)


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        pytest.param(
            {"pattern": r"return \d+"},
            Scored(1.0, r"app.py matches /return \d+/ in line 2"),
            id="found-anywhere",
        ),
        pytest.param(
            {"pattern": "^return"}, Scored(0.0, "app.py does not match /^return/"), id="not-found"
        ),
        pytest.param(
            {"pattern": "42", "mustMatch": False},
            Scored(0.0, "app.py matches /42/ in line 2"),
            id="found-but-must-not",
        ),
        pytest.param(
            {"pattern": "43", "mustMatch": False},
            Scored(1.0, "app.py does not match /43/"),
            id="rightly-absent",
        ),
        pytest.param(
            {"pattern": "^ +RETURN", "regexFlags": 10},
            Scored(1.0, "app.py matches /^ +RETURN/ in line 2"),
            id="flags",
        ),
    ],
)
def test_a_regex_is_searched_for(options, verdict):
    assert verdict_of("file_matches_regex", TREE, path="app.py", **options) == verdict


def test_bytes_that_are_no_text_can_still_be_searched():
    assert verdict_of("file_contains", evidence(f=b"\xff\xfeok"), path="f", includes=["ok"]).score


def test_too_much_evidence_is_for_the_caller_to_score():
    with pytest.raises(EvidenceLimitError, match="more than 3"):
        verdict_of("file_contains", FakeEvidence({"f": b"long"}, limit_bytes=3), path="f")


@pytest.mark.parametrize("type_", ["file_exists", "file_contains", "json_check"])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("/etc/passwd", "is absolute", id="absolute"),
        pytest.param("a/../../b", "leaves the workspace", id="escape"),
        pytest.param(".", "is the workspace itself", id="itself"),
        pytest.param("", "path", id="empty"),
        pytest.param("a\x00b", "path", id="nul"),
    ],
)
def test_paths_stay_in_the_workspace(type_, path, said):
    (problem,) = problems(type_, path=path)
    assert problem.startswith("c.path: ")
    assert said in problem


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({"pattern": "a("}, "c.pattern: 'a(' is not a regular expression", id="syntax"),
        pytest.param({"pattern": "a{99999999999}"}, "is not a regular expression", id="overflow"),
        pytest.param({"pattern": ""}, "c.pattern", id="empty"),
        pytest.param({"pattern": "a", "regexFlags": 4}, "4 has bits that are not flags", id="bit"),
        pytest.param({"pattern": "a", "regexFlags": "I"}, "write an integer", id="flag-name"),
        pytest.param({"pattern": "a", "flags": 2}, "unknown field 'flags'", id="old-name"),
        pytest.param({}, "c.pattern: is required", id="absent"),
    ],
)
def test_a_regex_that_cannot_work_is_refused_at_load(options, said):
    (problem,) = problems("file_matches_regex", path="a", **options)
    assert said in problem
