import os
import socket

import pytest

from proctor.api.evidence import EvidenceLimitError
from proctor.runner.capture import CapturedWorkspace, CaptureLimits


def lay(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_files_are_found_by_literal_path_and_by_glob(tmp_path):
    lay(tmp_path, a="1", sub__b="2", sub__c="3")
    workspace = CapturedWorkspace(tmp_path)

    assert workspace.files("a") == {"a": b"1"}
    assert workspace.files("sub/*") == {"sub/b": b"2", "sub/c": b"3"}
    assert list(workspace.files("**/*")) == ["a", "sub/b", "sub/c"]
    assert workspace.files("missing") == {}
    assert workspace.files("missing/*") == {}
    assert workspace.files("a/*") == {}
    assert workspace.absent == {}


def test_literal_path_wins_over_its_meaning_as_a_glob(tmp_path):
    (tmp_path / "[a]").write_text("literal")
    (tmp_path / "a").write_text("match")

    assert CapturedWorkspace(tmp_path).files("[a]") == {"[a]": b"literal"}


def test_folders_are_known_through_inner_symlinks_only(tmp_path):
    (tmp_path / "in" / "dir").mkdir(parents=True)
    (tmp_path / "in" / "link").symlink_to("dir")
    (tmp_path / "in" / "out").symlink_to(tmp_path.parent)
    (tmp_path / "in" / "file").touch()
    workspace = CapturedWorkspace(tmp_path / "in")

    paths = ("dir", "link", "out", "file", "missing", "..", ".", "dir/../link")
    assert [path for path in paths if workspace.is_directory(path)] == [
        "dir",
        "link",
        ".",
        "dir/../link",
    ]
    assert workspace.absent == {"out": "a symlink that leads out", "..": "a path that leads out"}


def test_special_files_are_absent_and_named_without_being_opened(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        workspace = CapturedWorkspace(tmp_path)
        assert workspace.files("*") == {}

    assert workspace.absent == {"fifo": "not a regular file", "socket": "not a regular file"}


def test_loop_of_symlinks_ends(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    workspace = CapturedWorkspace(tmp_path)

    assert workspace.files("*") == {}
    assert workspace.absent["a"] == "a symlink that leads out"


def test_symlinked_folder_is_not_entered_by_globs_but_by_name(tmp_path):
    lay(tmp_path, real__f="1")
    (tmp_path / "link").symlink_to("real")
    workspace = CapturedWorkspace(tmp_path)

    assert list(workspace.files("**/f")) == ["real/f"]
    assert list(workspace.files("link/f")) == ["link/f"]


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        pytest.param(CaptureLimits(entries=2), "2 entries", id="entries"),
        pytest.param(CaptureLimits(depth=1), "1 depth", id="depth"),
        pytest.param(CaptureLimits(files=1), "1 files", id="files"),
        pytest.param(CaptureLimits(file_bytes=2), "2 file bytes", id="file-bytes"),
        pytest.param(CaptureLimits(total_bytes=3), "3 total bytes", id="total-bytes"),
    ],
)
def test_evidence_beyond_a_limit_is_an_error_that_names_it(tmp_path, limits, named):
    lay(tmp_path, a="123", b__c__d="456")

    with pytest.raises(EvidenceLimitError, match=named):
        CapturedWorkspace(tmp_path, limits).files("**/*")


def test_walk_stays_within_what_the_glob_can_match(tmp_path):
    lay(tmp_path, top="1", deep__er__f="2")

    assert list(CapturedWorkspace(tmp_path, CaptureLimits(entries=2, depth=1)).files("*")) == [
        "top"
    ]


def test_names_that_are_no_utf8_are_kept(tmp_path):
    with open(os.fsencode(tmp_path) + b"/\xff\n", "wb") as file:
        file.write(b"x")

    assert CapturedWorkspace(tmp_path).files("*") == {"\udcff\n": b"x"}


def test_path_with_a_zero_byte_is_absent(tmp_path):
    assert CapturedWorkspace(tmp_path).files("a\0b") == {}
