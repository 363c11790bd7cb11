"""``fill``: a workspace that lives in the image, copied before the volume covers it."""

import os

import pytest

from proctor.api.errors import PlatformError
from proctor.runner.fill import FILLED, ImageFolderError, require_filled, run_fill
from proctor.runner.places import FillPlaces


@pytest.fixture
def testbed(tmp_path):
    source = tmp_path / "testbed"
    (source / ".git").mkdir(parents=True)
    (source / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (source / "tool.sh").write_text("#!/bin/sh\n")
    (source / "tool.sh").chmod(0o755)
    (source / "link").symlink_to("tool.sh")
    return source


def test_the_workspace_is_what_the_image_has(testbed, tmp_path):
    target = tmp_path / "workspace"
    run_fill(FillPlaces(testbed, target))
    require_filled(target)
    assert sorted(os.listdir(target)) == [".git", "link", "tool.sh"]
    assert os.access(target / "tool.sh", os.X_OK)
    assert os.readlink(target / "link") == "tool.sh"


def test_a_workspace_is_used_once(testbed, tmp_path):
    target = tmp_path / "workspace"
    run_fill(FillPlaces(testbed, target))
    with pytest.raises(PlatformError, match="is used already"):
        run_fill(FillPlaces(testbed, target))
    require_filled(target)
    with pytest.raises(PlatformError, match=FILLED):
        require_filled(target)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ImageFolderError, match="no folder /nowhere/at/all"):
        run_fill(FillPlaces(tmp_path.__class__("/nowhere/at/all"), tmp_path / "workspace"))


def test_a_special_file_is_left_out_and_named(testbed, tmp_path, capfd):
    os.mkfifo(testbed / "pipe")
    run_fill(FillPlaces(testbed, tmp_path / "workspace"))
    assert "left out pipe: not a regular file" in capfd.readouterr().out
    assert not (tmp_path / "workspace" / "pipe").exists()


def test_a_tree_that_is_too_deep_to_copy_is_an_error(testbed, tmp_path):
    inner = testbed
    for _ in range(205):
        inner = inner / "d"
        inner.mkdir()
    with pytest.raises(ImageFolderError, match=r"1 entries .* cannot be copied.*sandbox.user"):
        run_fill(FillPlaces(testbed, tmp_path / "workspace"))
