import os
import subprocess
import sys

from cluster.harness.processes import ProcessId


def a_child():
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


def test_a_running_process_is_alive_and_among_its_parents_children():
    with a_child() as child:
        identity = ProcessId.of(child.pid)
        assert identity.is_alive()
        assert identity in ProcessId.of(os.getpid()).children()
        child.stdin.close()


def test_an_ended_process_is_not_alive_even_before_it_is_reaped():
    with a_child() as child:
        identity = ProcessId.of(child.pid)
        assert identity.kill()
        assert not identity.is_alive()


def test_another_process_with_a_reused_pid_is_not_the_same_and_survives():
    with a_child() as child:
        real = ProcessId.of(child.pid)
        assert ProcessId(real.pid, real.started - 1).kill()
        assert real.is_alive()
        child.stdin.close()


def test_an_identity_is_read_as_it_was_saved(tmp_path):
    identity = ProcessId.of(os.getpid())
    identity.save(tmp_path / "pid.json")
    assert ProcessId.load(tmp_path / "pid.json") == identity


def test_an_absent_or_cut_identity_is_none(tmp_path):
    (tmp_path / "cut.json").write_text('{"pid": 1')
    assert ProcessId.load(tmp_path / "cut.json") is None
    assert ProcessId.load(tmp_path / "absent.json") is None
