"""Tasks as a bundle: the same bytes everywhere, hidden parts apart, and the same tasks back."""

import json
import tracemalloc
from dataclasses import replace

import pytest

from builders_planning import KINDS, a_source, a_spec, a_task, priced
from proctor.api.errors import SpecError
from proctor.planning.bundle import HIDDEN_PART, VISIBLE_PART, packed, unpacked
from proctor.planning.manifest import parse_spec
from proctor.planning.plan import RunSource, plan_run

DIGEST = f"sha256:{'d' * 64}"
NAMED = [{"bundle": {"digest": DIGEST}}]
MINI = {"type": "mini", "model": "claude-x"}
SECRET = {"files": [{"path": "expected.txt", "content": "forty-two"}]}


def tasks(*names, **fields):
    return a_spec(tasks=[a_task(name, **fields) for name in names]).tasks


def problems(source):
    with pytest.raises(SpecError) as caught:
        plan_run(source, KINDS, priced)
    return [str(problem) for problem in caught.value.problems]


def with_bundle(*bundled, **fields):
    return replace(a_source(tasksFrom=NAMED, **fields), bundles={DIGEST: bundled})


def test_what_is_packed_is_unpacked_as_it_was():
    packed_tasks = tasks("a", "b/c", reference=SECRET, limits={"maxUsd": 2, "maxTurns": 3})
    bundle = packed(packed_tasks)
    parts = bundle.parts
    assert unpacked(parts[VISIBLE_PART], parts[HIDDEN_PART], "bundle") == packed_tasks


def test_the_same_tasks_have_the_same_digest_and_others_another():
    assert packed(tasks("a", "b")).digest == packed(tasks("a", "b")).digest
    assert len({packed(one).digest for one in (tasks("a"), tasks("b"), tasks("a", "b"))}) == 3


def test_the_digest_of_a_bundle_stays_what_it_was_in_earlier_versions():
    digest = "b565452635c830604cea39fafa30b9bf0a952782d2d75cf57e684c6ed81b4fcb"
    assert packed(tasks("a", reference=SECRET)).digest == digest


def test_what_is_hidden_stands_only_in_the_hidden_part():
    bundle = packed(tasks("a", reference=SECRET, postRun=[{"command": "echo forty-two"}]))
    assert b"forty-two" not in bundle.parts[VISIBLE_PART]
    assert b"hello.txt" not in bundle.parts[VISIBLE_PART]
    assert b"Say hello." not in bundle.parts[HIDDEN_PART]


@pytest.mark.parametrize(
    ("visible", "hidden", "said"),
    [
        pytest.param(b"{", b"[]", "is not what `proctor push` makes", id="no-json"),
        pytest.param(b"[1]", b"[{}]", "is not what `proctor push` makes", id="no-objects"),
        pytest.param(b"[]", b"[]", "is not what `proctor push` makes", id="empty"),
        pytest.param(b"[{}]", b"[]", "is not what `proctor push` makes", id="of-two-lengths"),
        pytest.param(b"[{}]", b"[{}]", "bundle.tasks[0].name: is required", id="no-name"),
        pytest.param(
            b'[{"name": "a", "x": 1}]', b"[{}]", "bundle.tasks[0].x: unknown field", id="unknown"
        ),
    ],
)
def test_what_is_no_bundle_is_refused_by_name(visible, hidden, said):
    with pytest.raises(SpecError, match="bundle") as caught:
        unpacked(visible, hidden, "bundle")
    assert said in str(caught.value)


def test_a_bundle_that_would_fill_memory_is_refused_before_it_does():
    many = b'[{"name":"a","x":[' + b"{}," * 600_000 + b"{}]}]"
    with pytest.raises(SpecError, match="more than 500000 values"):
        unpacked(many, b"[{}]", "bundle")


def test_marks_in_texts_are_no_values():
    text = '{"\\\\[' * 600_000
    visible = json.dumps([{"name": "a", "x": text}]).encode()
    with pytest.raises(SpecError, match="unknown field"):
        unpacked(visible, b"[{}]", "bundle")


def test_more_tasks_than_a_run_may_have_are_no_bundle():
    many = json.dumps([{}] * 1001).encode()
    with pytest.raises(SpecError, match="push"):
        unpacked(many, many, "bundle")


def test_the_tasks_of_a_bundle_come_behind_those_of_the_run():
    plan = plan_run(with_bundle(*tasks("b", "c"), tasks=[a_task("a")]), KINDS, priced)
    assert [trial.task for trial in plan.trials] == ["a", "b", "c"]


def test_a_run_may_have_no_tasks_of_its_own_and_selects_among_those_of_the_bundle():
    spec = parse_spec({"agent": MINI, "tasksFrom": NAMED, "select": {"tasks": ["b"]}})
    source = RunSource("run", spec, bundles={DIGEST: tasks("a", "b")})
    assert [trial.task for trial in plan_run(source, KINDS, priced).trials] == ["b"]


def test_what_is_wrong_with_a_task_of_a_bundle_is_said_at_the_bundle():
    source = with_bundle(*tasks("a", workspace={"files": [{"path": "x"}]}), tasks=[a_task("z")])
    (said,) = problems(source)
    assert said.startswith("spec.tasksFrom[0].bundle.tasks[0].workspace.files[0]: no content")


def test_a_task_that_the_run_has_too_is_refused():
    (said,) = problems(with_bundle(*tasks("hello")))
    assert "the task 'hello' is already spec.tasks[0]" in said


def test_without_a_cluster_a_bundle_cannot_be_read_and_the_remedy_is_the_folder():
    source = a_source(tasksFrom=NAMED, select={"tasks": ["of-the-bundle"]})
    (said,) = problems(source)
    assert said.startswith("spec.tasksFrom[0].bundle.digest: sha256:ddd")
    assert "give the folder itself" in said


def test_a_run_has_a_thousand_tasks_at_most():
    names = [f"t{number}" for number in range(1001)]
    many = tuple(tasks("a")[0].model_copy(update={"name": name}) for name in names)
    (said,) = problems(with_bundle(*many, tasks=[a_task("z")]))
    assert "1002 tasks with those of bundles are too many" in said


# Counting the values of a bundle took 115 bytes for each one of a text, 900 MiB for a bundle of one
# long text; and a text without an end was looked through again from each quote in it.
@pytest.mark.parametrize(
    "piece", [pytest.param("x", id="plain"), pytest.param('\\"', id="escapes")]
)
def test_a_long_text_takes_little_more_memory_than_itself(piece):
    content = f'["{piece * 400_000}"]'.encode()
    tracemalloc.start()
    try:
        with pytest.raises(SpecError, match="is not what `proctor push` makes"):
            unpacked(content, b"[]", "b")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(content)


def test_a_text_without_an_end_is_looked_through_once():
    content = b'["' + b'\\"' * 1_000_000
    with pytest.raises(SpecError, match="is not what `proctor push` makes"):
        unpacked(content, b"[]", "b")
