"""The runner as PID 1 of a container, in process and mount namespaces of its own."""

import os
import shutil
import signal
import subprocess
import sys
from functools import cache

import pytest

from builders_runner import ADAPTERS, a_shell, agent_orders, checks_orders, some_commands

UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--ipc", "--mount-proc")
OWN_SHM = ("sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$0" "$@"')
INNER = 'unshare --pid --fork --mount-proc "$0" "$@"'
AS_PID_1 = (*UNSHARE, *OWN_SHM)


@cache
def why_not():
    if shutil.which("unshare") is None:
        return "there is no unshare"
    done = subprocess.run([*AS_PID_1, "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


@pytest.fixture(autouse=True)
def _needs_namespaces():
    if why_not():
        pytest.skip(why_not())


def test_everything_that_the_agent_left_is_dead_and_collected(folders):
    script = """
        (setsid sh -c 'while :; do echo x >> grown; done' >/dev/null 2>&1 &)
        for n in 1 2 3 4 5; do (setsid sleep 300 >/dev/null 2>&1 &); done
        echo $PPID > parent
    """
    ended = folders.agent(agent_orders(script), prefix=AS_PID_1)

    assert ended.code == 0, ended.err
    assert (folders.workspace / "parent").read_text() == "1\n"
    assert folders.agent_report().status == "completed"


@pytest.mark.parametrize("name", ["TERM", "INT", "KILL", "STOP", "HUP", "ALRM"])
def test_signals_from_inside_do_nothing(folders, name):
    pause = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    started = "until grep -q 'SigBlk:.*4000$' /proc/1/status; do :; done"
    script = f"{started}; kill -{name} 1; {pause}; kill -{name} 1; {pause}; echo done > out"

    ended = folders.agent(agent_orders(script), prefix=AS_PID_1)

    assert ended.code == 0, ended.err
    assert folders.agent_report().status == "completed"
    assert (folders.workspace / "out").exists()


def test_processes_of_the_agent_can_be_ended_by_signals(folders):
    script = "sh -c 'kill -TERM $$; echo survived > out'; sh -c 'kill -INT $$; echo survived > out'"

    folders.agent(
        agent_orders(f"{script}; true", pre_run=(a_shell(f"{script}; true"),)), prefix=AS_PID_1
    )

    assert folders.agent_report().status == "completed"
    assert not (folders.workspace / "out").exists()


def test_sigterm_from_outside_stops_the_agent_and_keeps_its_evidence(folders):
    os.mkfifo(folders.root / "ready")
    script = f"echo > {folders.root}/ready; sleep 300"
    orders = folders.orders("agent", agent_orders(script, turn_timeout_seconds=60).to_json())
    arguments = [
        *("--orders", orders, "--workspace", str(folders.workspace)),
        *("--home", str(folders.home), "--evidence", str(folders.agent_evidence)),
    ]
    with subprocess.Popen(
        [*AS_PID_1, sys.executable, "-m", "proctor.runner", "agent", *arguments],
        env={**os.environ, "PYTHONPATH": str(ADAPTERS)},
    ) as unshare:
        (folders.root / "ready").read_text()
        os.kill(child_of(unshare.pid), signal.SIGTERM)
        assert unshare.wait(timeout=30) == 0

    report = folders.agent_report()
    assert (report.status, report.started) == ("interrupted", True)


def child_of(pid):
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == pid:
                        return int(name)
            except OSError:
                continue
    raise AssertionError(f"no child of {pid}")


def test_shared_memory_is_empty_after_the_agent(folders):
    script = "head -c 1000000 /dev/zero > /dev/shm/left; mkdir -p /dev/shm/a/b"
    look = f"mount -t tmpfs tmpfs /dev/shm && {INNER} && ls -A /dev/shm > {folders.root}/shm"
    around = ("unshare", "--mount", "--ipc", "sh", "-c", look)

    ended = folders.agent(agent_orders(script), prefix=around)

    assert ended.code == 0, ended.err
    assert folders.agent_report().status == "completed"
    assert (folders.root / "shm").read_text() == ""


def test_what_one_check_leaves_is_dead_before_the_next(folders):
    leave = "(setsid sleep 4242 >/dev/null 2>&1 &); true"
    look = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 424[2]'; true"
    folders.agent(agent_orders())

    ended = folders.checks(checks_orders(some_commands(leave, look)), prefix=AS_PID_1)

    assert ended.code == 0, ended.err
    assert folders.checks_report().results[0][1].stdout == b"0\n"


def test_environment_and_memory_of_the_runner_are_closed_to_its_own_user(folders):
    """Without capabilities, as in a pod: with them root may read everything."""
    bare = ("setpriv", "--bounding-set=-all", "--no-new-privs")
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv to give up capabilities")
    script = """
        for part in environ mem maps auxv; do
            cat /proc/1/$part >/dev/null 2>error && echo $part >> read
        done
        readlink /proc/1/fd/0 >/dev/null 2>&1 && echo fd >> read
        readlink /proc/1/exe >/dev/null 2>&1 && echo exe >> read
        cat /proc/self/environ > /dev/null && echo self >> read
        rm error
    """
    ended = folders.agent(agent_orders(script), prefix=(*AS_PID_1, *bare))

    assert ended.code == 0, ended.err
    assert (folders.workspace / "read").read_text() == "self\n"
