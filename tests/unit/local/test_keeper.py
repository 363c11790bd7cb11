import os
import signal
import subprocess
import sys

import pytest

from builders_local import DEADLINE_SECONDS, Lifeline
from proctor.local import keeper

HOLD = """
import os, signal, sys
line = os.open(sys.argv[1], os.O_WRONLY)
"""
STRAY = (
    HOLD
    + """
if os.fork() == 0:
    os.setsid()
    os.write(line, b"stray")
    signal.pause()
if sys.argv[2] == "stay":
    os.write(line, b"parent")
    signal.pause()
while not os.path.exists(sys.argv[2]):
    pass
"""
)
"""Starts a process in a session of its own; then stays, or ends once a file is there."""
LAST_WORDS = (
    HOLD
    + """
def end(*_):
    os.write(line, b"last words")
    sys.exit(3)
signal.signal(signal.SIGTERM, end)
os.write(line, b"ready")
while True:
    signal.pause()
"""
)
DEAF = (
    HOLD
    + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(line, b"ready")
while True:
    signal.pause()
"""
)


@pytest.fixture
def lifeline(tmp_path):
    line = Lifeline(tmp_path / "lifeline")
    yield line
    line.close()


@pytest.fixture
def keep():
    """Start a keeper; all that is left of it is killed in the end."""
    started = []

    def start(code: str, *arguments: object, grace_seconds: float = 600) -> subprocess.Popen[bytes]:
        keeping = [sys.executable, "-I", "-S", keeper.__file__, str(grace_seconds)]
        program = [sys.executable, "-c", code, *map(str, arguments)]
        process = subprocess.Popen(
            [*keeping, *program], stdin=subprocess.PIPE, start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.stdin.close()
        process.wait(DEADLINE_SECONDS)


def ask(process: subprocess.Popen[bytes]) -> None:
    process.stdin.write(b"t")
    process.stdin.flush()


@pytest.mark.parametrize(
    ("program", "code"),
    [
        pytest.param("import sys; sys.exit(0)", 0, id="done"),
        pytest.param("import sys; sys.exit(7)", 7, id="own-exit-code"),
        pytest.param("import os; os.kill(os.getpid(), 9)", 128 + 9, id="signal"),
    ],
)
def test_keeper_ends_with_its_programs_exit_code(keep, program, code):
    assert keep(program).wait(DEADLINE_SECONDS) == code


def test_process_that_left_its_session_ends_with_the_phase(keep, lifeline, tmp_path):
    process = keep(STRAY, lifeline.path, tmp_path / "go")
    lifeline.wait_for("stray")
    (tmp_path / "go").touch()
    assert process.wait(DEADLINE_SECONDS) == 0
    lifeline.wait_for_end()


def test_end_of_standard_input_ends_everything_at_once(keep, lifeline):
    process = keep(STRAY, lifeline.path, "stay")
    lifeline.wait_for("parent")
    lifeline.wait_for("stray")
    process.stdin.close()
    assert process.wait(DEADLINE_SECONDS) == 128 + signal.SIGKILL
    lifeline.wait_for_end()


def test_asked_to_end_the_phase_may_write_what_it_has(keep, lifeline):
    process = keep(LAST_WORDS, lifeline.path)
    lifeline.wait_for("ready")
    ask(process)
    lifeline.wait_for("last words")
    assert process.wait(DEADLINE_SECONDS) == 3


def test_phase_that_does_not_listen_is_killed_after_its_grace(keep, lifeline):
    process = keep(DEAF, lifeline.path, grace_seconds=0.1)
    lifeline.wait_for("ready")
    ask(process)
    assert process.wait(DEADLINE_SECONDS) == 128 + signal.SIGKILL


def test_killed_launcher_leaves_no_process(lifeline):
    launcher = (
        "import subprocess, sys\n"
        "subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, start_new_session=True).wait()\n"
    )
    keeping = [sys.executable, "-I", "-S", keeper.__file__, "600"]
    program = [sys.executable, "-c", STRAY, str(lifeline.path), "stay"]
    process = subprocess.Popen([sys.executable, "-c", launcher, *keeping, *program])
    lifeline.wait_for("parent")
    lifeline.wait_for("stray")
    os.kill(process.pid, signal.SIGKILL)
    process.wait(DEADLINE_SECONDS)
    lifeline.wait_for_end()
