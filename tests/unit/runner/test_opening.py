import os
import stat

import pytest

from proctor.runner.opening import open_up

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_owner_and_group_may_read_what_was_closed(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "data").write_text("x")
    (inner / "data").chmod(0)
    inner.chmod(0o700)

    assert open_up(tmp_path) == ()
    assert (mode(inner), mode(inner / "data")) == (0o750, 0o640)


@needs_root
def test_what_root_gave_to_another_group_is_opened_to_everybody(tmp_path):
    given = tmp_path / "given"
    given.mkdir(mode=0o700)
    (given / "data").write_text("x")
    (given / "tool").write_text("x")
    (given / "tool").chmod(0o700)
    (given / "data").chmod(0o600)
    for path in (given, given / "data", given / "tool"):
        os.chown(path, 1234, 1234)

    assert open_up(tmp_path) == ()
    assert (mode(given), mode(given / "data"), mode(given / "tool")) == (0o755, 0o644, 0o755)
