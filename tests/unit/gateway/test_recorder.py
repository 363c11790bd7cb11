"""Calls are written as they end; a run goes on with its file, another run replaces it."""

from pathlib import Path
from typing import Any

from builders_cassettes import a_seat, answered, asked
from proctor.gateway.cassette_text import head_text, parse_cassette
from proctor.gateway.record_file import Recorder

HELLO = asked("Hello")


def texts(path: Path) -> list[str]:
    calls = parse_cassette(path.read_text("utf-8")).calls
    return [call.answered.body["content"][0]["text"] for call in calls]


def test_each_call_is_in_the_file_once_it_has_ended(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "of" / "mine.yaml", "run-1")
    recorder.add(a_seat(), HELLO, answered("one"), ())
    assert texts(recorder.path) == ["one"]
    recorder.add(a_seat(), HELLO, answered("two"), ())
    assert texts(recorder.path) == ["one", "two"]


def test_a_process_that_begins_anew_goes_on_with_its_run(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    Recorder(path, "run-1").add(a_seat(), HELLO, answered("one"), ())
    Recorder(path, "run-1").add(a_seat(), asked("Hello", "one", "and?"), answered("two"), ())
    assert texts(path) == ["one", "two"]
    assert "continues: 1" in path.read_text("utf-8")


def test_another_run_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    Recorder(path, "run-1").add(a_seat(), HELLO, answered("one"), ())
    Recorder(path, "run-2").add(a_seat(), HELLO, answered("two"), ())
    assert texts(path) == ["two"]


def test_what_a_killed_process_left_unfinished_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    recorder = Recorder(path, "run-1")
    recorder.add(a_seat(), HELLO, answered("one"), ())
    recorder.add(a_seat(), HELLO, answered("two"), ())
    whole = path.read_text("utf-8")
    for end in range(len(head_text("run-1")), len(whole) + 1):
        path.write_text(whole[:end], "utf-8")
        Recorder(path, "run-1").add(a_seat(), HELLO, answered("three"), ())
        assert texts(path)[-1] == "three"
        assert texts(path)[:-1] == ["one", "two"][: whole[:end].count("\n---\n") - 1]


def test_a_run_that_is_over_stands_in_order(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", "run-1")
    recorder.add(a_seat("b/v/0"), HELLO, answered("b"), ())
    recorder.add(a_seat("a/v/0"), HELLO, answered("a"), ())
    recorder.arrange()
    assert texts(recorder.path) == ["a", "b"]


def test_a_run_without_a_call_has_an_empty_cassette(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", "run-1")
    recorder.arrange()
    assert texts(recorder.path) == []


def test_secrets_are_in_no_file(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", "run-1")
    recorder.add(
        a_seat(), asked("key my-secret-key"), answered("my-secret-key!"), ["my-secret-key"]
    )
    assert "my-secret-key" not in recorder.path.read_text("utf-8")


def test_a_file_that_cannot_be_written_disturbs_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorder = Recorder(tmp_path / "file" / "c.yaml", "run-1")
    recorder.add(a_seat(), HELLO, answered("one"), ())
    recorder.arrange()
    assert "cannot be written" in (recorder.problem or "")


def test_half_a_surrogate_pair_is_written_all_the_same(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", "run-1")
    recorder.add(a_seat(), asked("a\ud800b"), answered("c\udc00"), ())
    assert (recorder.problem, texts(recorder.path)) == (None, ["c?"])


def test_what_is_nested_too_deeply_is_left_out_and_disturbs_no_call(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(2000):
        deep = [deep]
    recorder = Recorder(tmp_path / "c.yaml", "run-1")
    recorder.add(a_seat(), asked("a", tools=deep), answered("b"), ())
    recorder.add(a_seat(), asked("a"), answered("c"), ())
    assert (recorder.problem, texts(recorder.path)) == (
        "a call is left out: RecursionError",
        ["c"],
    )


def test_a_disk_that_was_full_for_a_while_spoils_no_other_call(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "c.yaml", "run-1")
    recorder.add(a_seat(), HELLO, answered("one"), ())
    recorder.path.unlink()
    recorder.path.mkdir()
    recorder.add(a_seat(), asked("Hello", "one", "b"), answered("lost"), ())
    recorder.path.rmdir()
    recorder.add(a_seat(), asked("Hello", "one", "b", "lost", "c"), answered("two"), ())
    assert texts(recorder.path) == ["two"]
    assert recorder.problem is not None


def test_a_file_that_is_no_cassette_stays(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("my: notes")
    recorder = Recorder(path, "run-1")
    recorder.add(a_seat(), HELLO, answered("one"), ())
    recorder.arrange()
    assert path.read_text() == "my: notes"
    assert "no cassette" in (recorder.problem or "")
