import os
import signal
import sys

import pytest

from builders_local import Lifeline
from proctor.local.phases import ChildPhases, PhaseOrder
from proctor.local.strays import adopt_orphans

AGENT = """
import os, signal, sys, time
line = os.open(sys.argv[2], os.O_WRONLY)
if os.fork() == 0:
    os.setsid()
    os.write(line, b"stray")
    signal.pause()
os.kill(os.getppid(), int(sys.argv[3]))
signal.pause()
"""
"""Leaves a process in a session of its own, then sends its keeper a signal."""


@pytest.fixture
def lifeline(tmp_path):
    line = Lifeline(tmp_path / "lifeline")
    yield line
    line.close()


@pytest.fixture(autouse=True)
def _adopting():
    adopt_orphans()
    yield
    adopt_orphans(adopt=False)


def an_order(folder, *arguments, timeout_seconds=60.0):
    words = tuple(map(str, arguments))
    return PhaseOrder("agent", words, folder, folder / "logs" / "1-agent.log", timeout_seconds)


def phases(grace_seconds=0.2):
    environment = {"PATH": os.environ["PATH"]}
    return ChildPhases(environment, grace_seconds, (sys.executable, "-c", AGENT))


async def test_agent_that_kills_its_keeper_leaves_nothing_behind(tmp_path, lifeline):
    order = an_order(tmp_path, lifeline.path, int(signal.SIGKILL))
    end = await phases().run(order)
    assert (end.exit_code, end.timed_out) == (-signal.SIGKILL, False)
    lifeline.wait_for_end()


async def test_agent_that_stops_its_keeper_is_ended_at_its_time_limit(tmp_path, lifeline):
    # The keeper never answered, and `proctor run` waited for it for ever.
    order = an_order(tmp_path, lifeline.path, int(signal.SIGSTOP), timeout_seconds=2.0)
    end = await phases().run(order)
    assert end.timed_out
    lifeline.wait_for_end()
