import os
from pathlib import Path

import pytest

from proctor.local.files import end_of_file, open_log, remove_tree, write_atomically


def put(path: Path, kind: str, elsewhere: Path) -> None:
    if kind == "folder":
        (path / "inner").mkdir(parents=True)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(elsewhere)


KINDS = [pytest.param(kind, id=kind) for kind in ("folder", "pipe", "link")]


@pytest.mark.parametrize("kind", KINDS)
def test_file_is_written_whatever_an_agent_put_in_its_place(tmp_path, kind):
    # An agent that made ../../trial.json a folder ended the whole run; a named pipe stopped it.
    path, other = tmp_path / "trial.json", tmp_path / "other"
    for place in (path, path.with_name(f".{path.name}.{os.getpid()}.tmp")):
        put(place, kind, other)
    write_atomically(path, b"ours")
    assert (path.read_bytes(), path.is_symlink(), other.exists()) == (b"ours", False, False)


@pytest.mark.parametrize("kind", KINDS)
def test_log_is_a_file_of_ours_whatever_an_agent_put_in_its_place(tmp_path, kind):
    path, other = tmp_path / "logs" / "1-grade.log", tmp_path / "other"
    path.parent.mkdir()
    put(path, kind, other)
    with open_log(path) as log:
        log.write(b"said")
    assert (path.read_bytes(), other.exists()) == (b"said", False)


def test_folder_of_logs_is_not_followed_elsewhere(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "logs").symlink_to(elsewhere)
    open_log(tmp_path / "logs" / "1-grade.log").close()
    assert list(elsewhere.iterdir()) == []


def test_log_is_added_to(tmp_path):
    for word in (b"one ", b"two"):
        with open_log(tmp_path / "log") as log:
            log.write(word)
    assert end_of_file(tmp_path / "log", 5) == b"e two"


def test_end_of_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log")
    assert end_of_file(tmp_path / "log", 10) == b""
    assert end_of_file(tmp_path / "missing", 10) == b""


def test_tree_deeper_than_python_can_recurse_is_removed(tmp_path):
    # The work folder of a passed trial: it ended the whole run with a RecursionError.
    root = tmp_path / "work"
    root.mkdir()
    folder = os.open(root, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    remove_tree(root)
    assert not root.exists()


def test_tree_is_removed_with_what_belongs_to_volumes_and_without_following_links(tmp_path):
    kept, root = tmp_path / "kept", tmp_path / "work"
    (root / "lost+found").mkdir(parents=True)
    kept.mkdir()
    (root / "link").symlink_to(kept)
    root.chmod(0)
    remove_tree(root)
    assert (root.exists(), kept.exists()) == (False, True)
