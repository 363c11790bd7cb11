import os

import pytest

from proctor.api.orders import FileOrder
from proctor.runner.folders import UsedFolderError, require_unused, wipe, write_new
from proctor.runner.laying import LayingError, lay_files


def test_wipe_empties_a_folder_but_for_the_volumes_own(tmp_path):
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/e/f").touch()
    (tmp_path / "d").chmod(0)

    wipe(tmp_path)

    assert os.listdir(tmp_path) == ["lost+found"]


def test_wipe_opens_a_folder_that_was_closed(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed/file").touch()
    (tmp_path / "closed").chmod(0)

    wipe(tmp_path / "closed")

    assert (tmp_path / "closed").stat().st_mode & 0o700 == 0o700


def test_wipe_removes_symlinks_and_not_what_they_lead_to(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").touch()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link").symlink_to("../out")

    wipe(tmp_path / "in")

    assert os.listdir(tmp_path / "in") == []
    assert (tmp_path / "out/file").exists()


def test_wipe_of_a_symlink_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").touch()
    (tmp_path / "link").symlink_to("out")

    with pytest.raises(OSError, match="link"):
        wipe(tmp_path / "link")
    assert (tmp_path / "out/file").exists()


def test_wipe_makes_a_missing_folder(tmp_path):
    wipe(tmp_path / "a/b")

    assert (tmp_path / "a/b").is_dir()


def test_folder_that_holds_something_is_used(tmp_path):
    require_unused(tmp_path / "new")
    (tmp_path / "new/file").touch()

    with pytest.raises(UsedFolderError, match="'file'"):
        require_unused(tmp_path / "new")


def test_new_file_is_never_written_through_what_lies_there(tmp_path):
    (tmp_path / "target").write_text("safe")
    (tmp_path / "link").symlink_to("target")

    with pytest.raises(FileExistsError):
        write_new(tmp_path, "link", b"x")
    assert (tmp_path / "target").read_text() == "safe"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("link/file", id="through-a-symlink"),
        pytest.param("file/inner", id="through-a-file"),
        pytest.param("dir", id="onto-a-folder"),
        pytest.param("", id="empty"),
    ],
)
def test_file_that_cannot_be_laid_is_named(tmp_path, path):
    (tmp_path / "link").symlink_to(tmp_path.parent)
    (tmp_path / "file").touch()
    (tmp_path / "dir").mkdir()

    with pytest.raises(LayingError, match=f"cannot write '{path}'"):
        lay_files(tmp_path, [FileOrder(path, b"x")])


def test_laid_file_replaces_a_symlink_of_its_name(tmp_path):
    (tmp_path / "target").write_text("safe")
    (tmp_path / "link").symlink_to("target")

    lay_files(tmp_path, [FileOrder("link", b"x")])

    assert (tmp_path / "target").read_text() == "safe"
    assert (tmp_path / "link").read_text() == "x"
