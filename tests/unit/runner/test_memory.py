import subprocess
import sys
from pathlib import Path

import pytest

from builders_runner import agent_orders
from proctor.runner.memory import Memory, largest_group, read_memory
from proctor.runner.processes import Process

MB = 1 << 20


def v2(root, limit):
    (root / "memory.max").write_text(f"{limit}\n")
    (root / "memory.current").write_text(f"{90 * MB}\n")
    (root / "memory.stat").write_text(f"anon 1\ninactive_file {20 * MB}\nactive_file {10 * MB}\n")


def v1(root, limit):
    folder = root / "memory"
    folder.mkdir()
    (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{90 * MB}\n")
    stat = f"cache 1\ntotal_inactive_file {20 * MB}\ntotal_active_file {10 * MB}\n"
    (folder / "memory.stat").write_text(stat)


@pytest.mark.parametrize(
    ("lay", "limit", "memory"),
    [
        pytest.param(v2, 100 * MB, Memory(100 * MB, 60 * MB), id="v2"),
        pytest.param(v1, 100 * MB, Memory(100 * MB, 60 * MB), id="v1"),
        pytest.param(v2, "max", None, id="v2-without-limit"),
        pytest.param(v1, 9223372036854771712, None, id="v1-without-limit"),
        pytest.param(v1, "?", None, id="unreadable"),
    ],
)
def test_memory_is_what_the_kernel_cannot_take_back(tmp_path, lay, limit, memory):
    lay(tmp_path, limit)

    assert read_memory(tmp_path) == memory


def test_without_a_cgroup_nothing_is_known(tmp_path):
    assert read_memory(tmp_path) is None


@pytest.mark.parametrize(
    ("used", "short"), [(94 * MB, False), (95 * MB, True)], ids=["below", "at-95-percent"]
)
def test_memory_is_short_from_95_percent(used, short):
    assert Memory(100 * MB, used).is_short is short


def test_group_with_most_memory_is_chosen_and_never_our_own():
    own = Process(1, 0, 1, False, 9_999)
    small = Process(2, 1, 2, False, 300)
    one, other = Process(3, 1, 3, False, 200), Process(4, 3, 3, False, 200)
    dead = Process(5, 1, 5, True, 5_000)

    assert largest_group([own, small, one, other, dead], own_group=1) == (one, other)
    assert largest_group([own, dead], own_group=1) == ()


@pytest.fixture
def small_container(tmp_path):
    """A command that starts PID 1 in a memory cgroup (v1) of 200 MiB; skips where it cannot."""
    group = Path("/sys/fs/cgroup/memory") / f"proctor-{tmp_path.name}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no memory cgroup can be made: {error}")
    try:
        (group / "memory.limit_in_bytes").write_text(str(200 * MB))
        inner = f"mount --bind {group} /sys/fs/cgroup/memory && mount -t tmpfs t /dev/shm"
        inside = f'{inner} && exec "$0" "$@"'
        unshare = "unshare --pid --fork --kill-child --mount --ipc --mount-proc"
        start = f'echo $$ > {group}/cgroup.procs; exec {unshare} sh -c \'{inside}\' "$0" "$@"'
        probe = subprocess.run(
            ["sh", "-c", start, "true"], capture_output=True, text=True, check=False
        )
        if probe.returncode:
            pytest.skip(f"no small container can be made: {probe.stderr.strip()}")
        yield ("sh", "-c", start)
    finally:
        group.rmdir()


def test_greedy_process_is_killed_and_counted_and_the_agent_goes_on(folders, small_container):
    greedy = """
import time
kept = []
while True:
    kept.append(bytearray(1_000_000)); time.sleep(0.01)
"""
    (folders.root / "greedy.py").write_text(greedy)
    script = f"setsid {sys.executable} {folders.root}/greedy.py; echo $? > code"

    ended = folders.agent(agent_orders(script), prefix=small_container)

    assert ended.code == 0, ended.err
    assert folders.agent_report().status == "completed"
    assert folders.agent_report().memory_kills == 1
    assert (folders.workspace / "code").read_text() == "137\n"
