import pytest

from builders_planning import KINDS, NO_FOLDER, priced
from proctor.api.errors import SpecError
from proctor.planning.manifest import parse_spec, read_manifest
from proctor.planning.plan import plan_run

RUN = """\
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: hello}
spec:
  agent: {type: none}
  tasks:
    - name: a
      criteria: [{type: file_exists, path: a}]
"""


def read(text):
    return read_manifest(text, "f.yaml", NO_FOLDER)


def problems(text):
    with pytest.raises(SpecError) as caught:
        read(text)
    return [(one.field, one.file, one.line) for one in caught.value.problems]


def test_a_file_may_hold_runs_and_config_maps():
    text = (
        f"{RUN}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: answers}}\ndata: {{k: v}}\n"
    )
    manifest = read(text)
    assert [run.name for run in manifest.runs] == ["hello"]
    assert manifest.config_maps == {"answers": {"k": "v"}}


def test_a_generated_name_is_used_without_its_end():
    (run,) = read(RUN.replace("{name: hello}", "{generateName: hello-}")).runs
    assert run.name == "hello"


def test_a_wrong_field_has_file_and_line():
    assert problems(RUN.replace("path: a}", "path: a, weight: -1}")) == [
        ("spec.tasks[0].criteria[0].weight", "f.yaml", 8)
    ]


def test_a_missing_field_has_the_line_of_what_lacks_it():
    assert problems(RUN.replace("- name: a", "- tags: [x]")) == [
        ("spec.tasks[0].name", "f.yaml", 7)
    ]


def test_what_planning_finds_has_file_and_line_too():
    (run,) = read(RUN.replace("type: file_exists", "type: nope")).runs
    with pytest.raises(SpecError) as caught:
        plan_run(run, KINDS, priced)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("f.yaml", 8)


def test_problems_of_all_documents_come_at_once():
    bad = RUN.replace("{name: hello}", "{}").replace("proctor.dev/v1alpha1", "proctor.dev/v2")
    assert problems(f"{bad}---\n{RUN}repeats: 3\n---\n{RUN}a: 1\na: 2\n") == [
        ("apiVersion", "f.yaml", 1),
        ("metadata.name", "f.yaml", 3),
        ("repeats", "f.yaml", 18),
        ("a", "f.yaml", 29),
        ("a", "f.yaml", 28),
    ]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("kind: EvalRun", "apiVersion", id="no-version"),
        pytest.param("apiVersion: proctor.dev/v1alpha1\nkind: Evalrun", "kind", id="misspelt-kind"),
        pytest.param("apiVersion: proctor.dev/v1alpha1", "kind", id="no-kind"),
        pytest.param("kind: EvalRun\nspec: 3", "spec", id="spec-is-a-number"),
        pytest.param("kind: EvalRun\nmetadata: 3", "metadata.name", id="metadata-is-a-number"),
        pytest.param("kind: ConfigMap\napiVersion: v1", "metadata.name", id="nameless-config-map"),
        pytest.param(
            "{kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: {k: 3}}",
            "data.k",
            id="config-map-of-numbers",
        ),
        pytest.param(
            "{kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: 3}",
            "data",
            id="config-map-of-nothing",
        ),
    ],
)
def test_an_envelope_that_is_wrong_names_its_field(text, field):
    assert field in [found for found, _, _ in problems(text)]


def test_a_run_may_carry_a_status():
    assert read(f"{RUN}status: {{state: Complete}}\n").runs


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("kind: Secret\napiVersion: v1", "kind", id="another-kind"),
        pytest.param("replicas: 3", "document", id="another-file"),
        pytest.param("- 1", "document", id="a-list"),
        pytest.param("kind: ConfigMap\napiVersion: v2", "kind", id="another-config-map"),
    ],
)
def test_documents_of_others_are_told_apart_from_broken_ones(text, field):
    (foreign,) = read(text).foreign
    assert (foreign.field, foreign.file, foreign.line) == (field, "f.yaml", 1)


def test_a_spec_from_an_api_server_is_read_without_coercion():
    with pytest.raises(SpecError) as caught:
        parse_spec({"tasks": [{"name": "a"}], "repeats": "3", "max_turns": 1})
    assert {problem.field for problem in caught.value.problems} == {
        "spec.repeats",
        "spec.max_turns",
    }


def test_no_spec_at_all_lacks_its_tasks():
    with pytest.raises(SpecError) as caught:
        parse_spec(None)
    assert [problem.field for problem in caught.value.problems] == ["spec.tasks"]


def test_values_that_are_no_json_are_refused():
    with pytest.raises(SpecError) as caught:
        parse_spec({"tasks": [], "repeats": float("nan")})
    assert [problem.field for problem in caught.value.problems] == ["spec"]


def test_two_config_maps_of_one_name_are_refused_in_one_file_too():
    one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: script}\ndata: {a: x}\n"
    other = one.replace("a: x", "a: y")
    with pytest.raises(SpecError) as caught:
        read_manifest(f"{one}---\n{other}", "f.yaml", NO_FOLDER)
    (problem,) = caught.value.problems
    assert (problem.field, problem.line) == ("metadata.name", 8)
    assert read_manifest(f"{one}---\n{one}", "f.yaml", NO_FOLDER).config_maps


def test_a_beginning_of_a_name_leaves_room_for_its_end():
    # A cluster refused what `proctor validate` had found good.
    text = RUN.replace("name: hello", f"generateName: {'a' * 35}-")
    with pytest.raises(SpecError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert (problem.field, problem.remedy) == (
        "metadata.generateName",
        "shorten it to 35 characters",
    )
    assert read(RUN.replace("name: hello", f"generateName: {'a' * 34}-")).runs
