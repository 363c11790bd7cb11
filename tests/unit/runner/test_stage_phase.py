import os

from builders_runner import run_phase


def a_runtime(folder):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").write_text("x")
    (folder / "bin/python").chmod(0o755)
    (folder / "bin/python3").symlink_to("python")
    return folder


def test_stage_lays_the_runtime_and_may_be_repeated(tmp_path):
    source, target = a_runtime(tmp_path / "from"), tmp_path / "to"

    for _ in range(2):
        ended = run_phase("stage", "--from", str(source), "--to", str(target))
        assert ended.code == 0, ended.err

    assert os.access(target / "bin/python", os.X_OK)
    assert os.readlink(target / "bin/python3") == "python"


def test_runtime_that_is_missing_is_our_fault(tmp_path):
    ended = run_phase("stage", "--from", str(tmp_path / "missing"), "--to", str(tmp_path / "to"))

    assert ended.code == 1
    assert "missing" in ended.err
