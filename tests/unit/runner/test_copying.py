import os

import pytest

from proctor.runner.copying import copy_tree


def test_copy_keeps_content_modes_times_and_symlinks(tmp_path):
    source, target = tmp_path / "from", tmp_path / "to"
    (source / "sub").mkdir(parents=True)
    (source / "sub/tool").write_text("x")
    (source / "sub/tool").chmod(0o4755)
    os.utime(source / "sub/tool", ns=(1, 2_000_000_000))
    (source / "link").symlink_to("/nowhere")

    assert copy_tree(source, target) == ()

    copied = (target / "sub/tool").stat()
    assert (copied.st_mode & 0o7777, copied.st_mtime_ns) == (0o755, 2_000_000_000)
    assert (target / "sub/tool").read_text() == "x"
    assert os.readlink(target / "link") == "/nowhere"


def test_copy_replaces_files_and_follows_no_symlink_that_lies_in_the_way(tmp_path):
    source, target = tmp_path / "from", tmp_path / "to"
    victim = tmp_path / "victim"
    victim.write_text("safe")
    source.mkdir()
    target.mkdir()
    (source / "a").write_text("new")
    (target / "a").symlink_to(victim)

    copy_tree(source, target)

    assert victim.read_text() == "safe"
    assert (target / "a").read_text() == "new"


def test_hard_links_stay_one_file(tmp_path):
    source, target = tmp_path / "from", tmp_path / "to"
    source.mkdir()
    (source / "a").write_text("x")
    os.link(source / "a", source / "b")

    copy_tree(source, target)

    assert (target / "a").stat().st_ino == (target / "b").stat().st_ino
    assert (target / "a").stat().st_ino != (source / "a").stat().st_ino


def test_holes_between_data_stay_holes(tmp_path):
    source, target = tmp_path / "from", tmp_path / "to"
    source.mkdir()
    with open(source / "big", "wb") as file:
        file.write(b"begin")
        file.seek(1 << 30)
        file.write(b"middle")
        file.truncate(1 << 31)

    copy_tree(source, target)

    with open(target / "big", "rb") as file:
        assert file.read(5) == b"begin"
        file.seek(1 << 30)
        assert file.read(6) == b"middle"
    found = (target / "big").stat()
    assert found.st_size == 1 << 31
    assert found.st_blocks * 512 < 1 << 20


def test_source_that_is_a_symlink_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    with pytest.raises(OSError, match="link"):
        copy_tree(tmp_path / "link", tmp_path / "to")
