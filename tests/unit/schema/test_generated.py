import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from builders_planning import headers
from proctor.api.conditions import CONDITIONS, WAITING_REASONS, ConditionType, Reason
from proctor.plugins.builtin import builtin_registry
from proctor.schema.__main__ import main
from proctor.schema.generated import generated_files

ROOT = Path(__file__).parents[3]
FILES = generated_files(builtin_registry().catalog())
EDITOR = json.loads(FILES["docs/schemas/evalrun.json"])
DATA = ROOT / "tests" / "data"
SEEN_BY_EDITORS = [
    "absolute-path",
    "bad-quantity",
    "empty-tasks",
    "missing-tasks",
    "name-too-long",
    "negative-limit",
    "snake-case-field",
    "unknown-criterion-field",
    "unknown-field",
    "wrong-type-list",
    "wrong-type-number",
    "wrong-version",
]


@pytest.mark.parametrize("path", [pytest.param(path, id=path) for path in FILES])
def test_a_generated_file_is_up_to_date(path):
    assert (ROOT / path).read_text() == FILES[path], "run `make generate`"


def test_what_was_just_written_is_up_to_date(tmp_path):
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--root", str(tmp_path), "--check"]) == 0


def test_a_file_that_differs_is_named(tmp_path, capsys):
    main(["--root", str(tmp_path)])
    (tmp_path / "docs/reference/evaltrial.md").write_text("by hand")
    assert main(["--root", str(tmp_path), "--check"]) == 1
    said = capsys.readouterr().err
    assert said == "docs/reference/evaltrial.md is out of date: run `make generate`\n"


def test_the_chart_has_the_same_definitions():
    assert (
        FILES["crds/evalruns.proctor.dev.yaml"]
        == FILES["charts/proctor/files/crds/evalruns.proctor.dev.yaml"]
    )


def test_definitions_fit_into_the_annotation_of_a_client_side_apply():
    for path, text in FILES.items():
        if path.startswith("crds/"):
            assert len(json.dumps(yaml.safe_load(text))) < 200_000


def test_the_editors_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(EDITOR)


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem) for p in (DATA / "good").glob("evalrun-*.yaml")]
)
def test_an_editor_is_content_with_a_good_manifest(path):
    documents = [one for one in yaml.safe_load_all(path.read_text()) if one["kind"] == "EvalRun"]
    for document in documents:
        jsonschema.Draft202012Validator(EDITOR).validate(document)


@pytest.mark.parametrize("name", [pytest.param(name, id=name) for name in SEEN_BY_EDITORS])
def test_an_editor_marks_a_bad_manifest(name):
    document = yaml.safe_load((DATA / "bad" / f"{name}.yaml").read_text())
    assert not jsonschema.Draft202012Validator(EDITOR).is_valid(document)


def test_every_bad_manifest_says_who_refuses_it():
    for path in (DATA / "bad").glob("*.yaml"):
        header = headers(path.read_text())
        by_api = {"api-says"} if header["refused-by"] == "api" else set()
        assert set(header) == {"field", "remedy", "refused-by"} | by_api
        assert header["refused-by"] in {"api", "operator", "validate"}


@pytest.mark.parametrize(
    "word",
    [
        pytest.param(
            "| `repeats` | integer | ≥ 1, ≤ 100 | `1` | Trials of each pair. |", id="field"
        ),
        pytest.param("list of [Task](#task)", id="link"),
        pytest.param("### GatePassed", id="condition"),
        pytest.param("| `SpecInvalid` |", id="reason"),
        pytest.param("### `run_command`", id="criterion"),
        pytest.param("### `mini`", id="agent"),
        pytest.param("`Live`, `Record`, `Replay`, `Scripted`", id="words"),
    ],
)
def test_the_reference_page_tells_it(word):
    assert word in FILES["docs/reference/evalrun.md"]


def test_every_condition_and_reason_has_a_meaning():
    assert set(CONDITIONS) == set(ConditionType)
    told = {reason for meaning in CONDITIONS.values() for reason in meaning.reasons}
    assert told | set(WAITING_REASONS) == set(Reason)
