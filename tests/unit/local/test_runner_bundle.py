"""The runner for containers, the images of tasks, and containers that nobody keeps any more."""

import fcntl

import pytest

from builders_local import a_planned_run
from fakes.engine import FakeEngine
from proctor.local.abandoned import remove_abandoned
from proctor.local.engine import EngineError
from proctor.local.runner_bundle import lay_runner, require_images, runner_cache

RUNNER = {"/proctor/bin/python3": b"launcher", "/proctor/lib/x.py": b"pass"}


def test_runner_is_laid_once_for_each_image(tmp_path):
    engine = FakeEngine({"a/runner:1": RUNNER, "a/runner:2": RUNNER})
    first = lay_runner(engine, "a/runner:1", tmp_path)
    assert (first / "bin/python3").read_bytes() == b"launcher"
    assert lay_runner(engine, "a/runner:1", tmp_path) == first
    assert engine.copied == 1
    assert lay_runner(engine, "a/runner:2", tmp_path) != first


def test_a_runner_image_that_is_not_here_is_named_with_the_remedy(tmp_path):
    with pytest.raises(EngineError, match=r"a/runner:1 is not here: build it .*--runner-image"):
        lay_runner(FakeEngine(), "a/runner:1", tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"/bin/sh": b""}, id="no-folder"),
        pytest.param({"/proctor/x": b""}, id="no-program"),
    ],
)
def test_an_image_of_something_else_is_refused_and_leaves_nothing(tmp_path, files):
    with pytest.raises(EngineError, match="/proctor"):
        lay_runner(FakeEngine({"a/b:1": files}), "a/b:1", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot be made"):
        lay_runner(FakeEngine({"a/runner:1": RUNNER}), "a/runner:1", tmp_path / "file")


def test_images_of_tasks_that_are_not_here_are_named_all_at_once():
    tasks = [
        {
            "name": name,
            "prompt": "Do it.",
            "criteria": [{"type": "file_exists", "path": "x"}],
            "sandbox": {"image": f"a/{name}:1"},
        }
        for name in ("one", "two", "three")
    ]
    engine = FakeEngine({"a/two:1": {}})
    with pytest.raises(EngineError) as refused:
        require_images([a_planned_run(tasks=tasks)], engine)
    assert str(refused.value).splitlines() == [
        "the image a/one:1 is not here: podman pull a/one:1",
        "the image a/three:1 is not here: podman pull a/three:1",
    ]


def test_cache_is_the_users(tmp_path):
    assert runner_cache({"XDG_CACHE_HOME": "/c"}).as_posix() == "/c/proctor/runners"


def test_containers_of_runs_that_nobody_works_in_are_removed(tmp_path):
    for name in ("alive", "dead"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".lock").touch()
    (tmp_path / "closed" / ".lock").mkdir(parents=True)  # nobody can tell, as in others' folders
    folders = {name: tmp_path / name for name in ("alive", "dead", "gone", "closed")}
    engine = FakeEngine(existing=dict(folders))
    with (tmp_path / "alive/.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_abandoned(engine)
    assert engine.owners() == {name: folders[name] for name in ("alive", "closed")}
