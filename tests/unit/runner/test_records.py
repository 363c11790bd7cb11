import json

import jsonschema
import pytest

from proctor.api.record import (
    Execution,
    RecordAgent,
    RecordBill,
    RecordSeconds,
    RecordTrial,
    record_schemas,
)
from proctor.api.record_folder import RecordError, read_record
from proctor.runner.record import to_part, write_record

GRADING = b'{"schemaVersion": "1.0", "outcome": "Passed", "score": "1", "criteria": []}'


def an_execution():
    return Execution(
        trial=RecordTrial(run="r", task="t", variant="v", repeat=0, uid="u", attempt=1),
        context={"suite": "s", "model": None},
        lineage={},
        agent=RecordAgent(status="completed"),
        bill=RecordBill(mode="Live"),
        seconds=RecordSeconds(),
    )


def a_record(folder, **parts):
    given = {"execution.json": to_part(an_execution()), "grading/1.json": GRADING, **parts}
    return write_record(folder, given)


def test_record_is_read_back_as_it_was_written(tmp_path):
    digest = a_record(tmp_path, **{"transcript.jsonl": b"{}\n"})

    record = read_record(tmp_path, digest)

    assert record.digest == digest
    assert record.execution == an_execution()
    assert [grading.outcome for grading in record.gradings] == ["Passed"]
    assert record.manifest.producer.startswith("proctor/")


@pytest.mark.parametrize(
    "path", ["execution.json", "grading/1.json", "transcript.jsonl"], ids=lambda path: path
)
def test_changed_part_is_named(tmp_path, path):
    a_record(tmp_path, **{"transcript.jsonl": b"{}\n"})
    (tmp_path / path).write_bytes(b"{}x")

    with pytest.raises(RecordError, match=path):
        read_record(tmp_path)


def test_missing_part_is_named(tmp_path):
    a_record(tmp_path)
    (tmp_path / "grading/1.json").unlink()

    with pytest.raises(RecordError, match=r"grading/1\.json"):
        read_record(tmp_path)


def test_manifest_of_another_record_is_refused(tmp_path):
    a_record(tmp_path)

    with pytest.raises(RecordError, match="expected 00"):
        read_record(tmp_path, "00")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"schemaVersion": "2.0"}, "schemaVersion", id="other-major-version"),
        pytest.param(
            {"parts": [{"path": "../x", "sha256": "0" * 64, "size": 0}]}, "outside", id="outside"
        ),
        pytest.param({"parts": []}, "execution.json", id="no-execution"),
    ],
)
def test_manifest_that_is_none_is_refused(tmp_path, change, named):
    a_record(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))

    with pytest.raises(RecordError, match=named):
        read_record(tmp_path)


def test_fields_of_a_newer_writer_are_ignored(tmp_path):
    newer = json.loads(GRADING) | {"schemaVersion": "1.7", "novelty": 1}
    a_record(tmp_path, **{"grading/1.json": json.dumps(newer).encode()})

    assert read_record(tmp_path).gradings[0].outcome == "Passed"


def test_parts_fit_their_published_schemas(tmp_path):
    a_record(tmp_path)
    schemas = record_schemas()

    for name, path in (
        ("manifest", "manifest.json"),
        ("execution", "execution.json"),
        ("grading", "grading/1.json"),
    ):
        jsonschema.validate(json.loads((tmp_path / path).read_text()), schemas[name])
