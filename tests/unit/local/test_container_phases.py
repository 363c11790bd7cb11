"""An attempt in containers: what each of them is given, and what their ends come to."""

import asyncio
import base64
import json
from pathlib import Path

import pytest

from builders_local import (
    CHECKED,
    FakeGateway,
    FakePhases,
    a_local_attempt,
    argument,
    grading,
)
from fakes.engine import FakeEngine
from proctor.api.outcome import FailureClass
from proctor.api.termination import TrialVerdict
from proctor.engine.model import Failure
from proctor.local.attempt import Attempt, run_attempt
from proctor.local.contained import Ground
from proctor.local.container_phases import ContainerPhases
from proctor.local.engine import ContainerEnd
from proctor.local.phases import PhaseEnd

IMAGE = "registry.example/task:1"
COMMAND = {"type": "command", "options": {"command": "true"}}
WORK = "trials/hello/default/0/work"
NEEDLE = base64.b64encode(b"needle").decode()
SANDBOX = {"image": IMAGE, "resources": {"cpu": "250m", "memory": "1.5Gi"}}


def confined_attempt(folder, **fields):
    ground = Ground(folder / "runner", folder)
    plain = a_local_attempt(folder, **{"sandbox": SANDBOX, "tasks": [CHECKED], **fields})
    return Attempt(plain.ref, plain.cell, plain.places, {"TOKEN": "secret"}, ground=ground)


class Ending(FakeEngine):
    """Its containers end at once, by the phase that they run."""

    def __init__(self, **ends):
        super().__init__()
        self.ends = ends
        self.read = {}

    async def run(self, container, log, timeout_seconds):
        self.ran.append(container)
        await asyncio.sleep(0)  # what runs beside it has started
        phase = container.command[3]
        self.read[phase] = {
            share.target: share.source.read_text()
            for share in container.shares
            if share.source.is_file()
        }
        return self.ends.get(phase, ContainerEnd(0))


async def play(folder, engine, **fields):
    phases = ContainerPhases(engine, FakePhases())
    return await run_attempt(confined_attempt(folder, **fields), phases, FakeGateway())


def container_of(engine, phase):
    return next(one for one in engine.ran if one.command[3] == phase)


def targets(container):
    return {share.target: share.writable for share in container.shares}


async def test_agent_and_checks_run_in_containers_and_grade_here(tmp_path):
    engine, here = Ending(), FakePhases()
    end = await run_attempt(
        confined_attempt(tmp_path), ContainerPhases(engine, here), FakeGateway()
    )
    assert isinstance(end, TrialVerdict)
    assert [one.command[:4] for one in engine.ran] == [
        ("/proctor/bin/python3", "-m", "proctor.runner", phase) for phase in ("agent", "checks")
    ]
    assert here.names == ["grade"]


async def test_containers_have_the_image_limits_and_name_of_their_trial(tmp_path):
    engine = Ending()
    await play(tmp_path, engine)
    agent = container_of(engine, "agent")
    assert (agent.image, agent.cpus, agent.memory_bytes) == (IMAGE, "0.250", 3 * 2**29)
    assert (agent.name, agent.owner) == ("proctor-uid-0-1-agent", tmp_path)
    assert agent.variables == {"PROCTOR_SECRET_TOKEN": "secret"}
    assert container_of(engine, "checks").variables == {}


async def test_paths_are_those_of_a_pod(tmp_path):
    engine = Ending()
    await play(tmp_path, engine)
    assert container_of(engine, "agent").command[4:] == (
        *("--orders", "/proctor-orders/agent/orders.json"),
        *("--workspace", "/workspace"),
        *("--home", "/home/agent"),
        *("--evidence", "/evidence/agent"),
        *("--gateway", "http://127.0.0.1:61118", "--key-file", "/var/run/proctor/agent/token"),
        *("--gateway-socket", "/var/run/proctor/gateway.sock"),
    )
    assert container_of(engine, "checks").command[4:] == (
        *("--orders", "/proctor-orders/checks/orders.json"),
        *("--workspace", "/workspace"),
        *("--home", "/home/agent"),
        *("--frozen-workspace", "/frozen/workspace"),
        *("--frozen", "/frozen/home=/home/agent"),
        *("--evidence", "/evidence/checks"),
        *("--scratch", "/scratch"),
    )


async def test_hidden_orders_are_in_no_share_of_the_agents_container(tmp_path):
    engine = Ending()
    hidden = {**CHECKED, "reference": {"files": [{"path": "answer", "content": "needle"}]}}
    await play(tmp_path, engine, tasks=[hidden])
    assert NEEDLE not in json.dumps(engine.read["agent"])
    assert NEEDLE in json.dumps(engine.read["checks"])
    assert targets(container_of(engine, "agent")) == {
        "/proctor": False,
        "/proctor-orders/agent/orders.json": False,
        "/workspace": True,
        "/home/agent": True,
        "/evidence/agent": True,
        "/tmp": True,
        "/var/run/proctor/agent/token": False,
        "/var/run/proctor/gateway.sock": False,
    }


async def test_checks_see_neither_key_nor_gateway_and_change_nothing_that_is_frozen(tmp_path):
    engine = Ending()
    await play(tmp_path, engine)
    assert targets(container_of(engine, "checks")) == {
        "/proctor": False,
        "/proctor-orders/checks/orders.json": False,
        "/frozen/workspace": False,
        "/frozen/home": False,
        "/workspace": True,
        "/home/agent": True,
        "/evidence/checks": True,
        "/scratch": True,
        "/tmp": True,
    }


async def test_mode_none_gives_no_way_to_the_gateway(tmp_path):
    engine = Ending()
    sandbox = {**SANDBOX, "egress": {"mode": "None"}}
    await play(tmp_path, engine, sandbox=sandbox, agent=COMMAND)
    agent = container_of(engine, "agent")
    assert not [word for word in agent.command if "gateway" in word]
    assert not [target for target in targets(agent) if target.startswith("/var/run")]


async def test_what_the_sandbox_persists_passes_to_the_checks(tmp_path):
    engine = Ending()
    await play(tmp_path, engine, sandbox={**SANDBOX, "persist": ["/opt/venv"]})
    agent, checks = container_of(engine, "agent"), container_of(engine, "checks")
    assert targets(agent)["/opt/venv"]
    assert agent.command[12:14] == ("--persist", "/opt/venv")
    assert targets(checks)["/opt/venv"]
    assert not targets(checks)["/frozen/persist-0"]
    assert "/frozen/persist-0=/opt/venv" in checks.command


async def test_workspace_of_an_image_is_filled_first(tmp_path):
    engine = Ending()
    task = {**CHECKED, "workspace": {"image": {"path": "/testbed"}}}
    await play(tmp_path, engine, tasks=[task])
    fill, agent = container_of(engine, "fill"), container_of(engine, "agent")
    assert fill.command[4:] == ("--from", "/testbed", "--to", "/fill")
    assert targets(fill) == {"/proctor": False, "/fill": True}
    assert "--filled" in agent.command
    assert targets(agent)["/testbed"]


@pytest.mark.parametrize(
    ("ends", "failure_class", "reason", "started"),
    [
        pytest.param(
            {"agent": ContainerEnd(137, out_of_memory=True)},
            *(FailureClass.TASK, "OOMKilled", True),
            id="memory",
        ),
        pytest.param(
            {"checks": ContainerEnd(137, out_of_memory=True)},
            *(FailureClass.TASK, "OOMKilled", True),
            id="memory-in-checks",
        ),
        pytest.param(
            {"agent": ContainerEnd(137)}, *(FailureClass.TASK, "AgentEnded", True), id="signal"
        ),
        pytest.param(
            {"agent": ContainerEnd(137, timed_out=True)},
            *(FailureClass.TASK, "DeadlineExceeded", True),
            id="time",
        ),
        pytest.param(
            {"agent": ContainerEnd(None)},
            *(FailureClass.CONFIG, "RunnerCannotStart", False),
            id="engine-refuses",
        ),
        pytest.param(
            {"agent": ContainerEnd(127)},
            *(FailureClass.CONFIG, "RunnerCannotStart", False),
            id="no-interpreter",
        ),
        pytest.param(
            {"agent": ContainerEnd(3)},
            *(FailureClass.INFRA, "AgentNotStarted", False),
            id="before-the-agent",
        ),
        pytest.param(
            {"fill": ContainerEnd(1)},
            *(FailureClass.CONFIG, "WorkspaceNotFilled", False),
            id="no-such-folder",
        ),
        pytest.param(
            {"fill": ContainerEnd(None)},
            *(FailureClass.CONFIG, "RunnerCannotStart", False),
            id="engine-refuses-to-fill",
        ),
    ],
)
async def test_ends_of_containers_are_blamed_as_in_a_pod(
    tmp_path, ends, failure_class, reason, started
):
    task = {**CHECKED, "workspace": {"image": {"path": "/testbed"}}}
    end = await play(tmp_path, Ending(**ends), tasks=[task])
    assert isinstance(end, Failure)
    assert (end.failure_class, end.reason, end.started) == (failure_class, reason, started)


async def test_memory_that_a_child_lost_does_not_end_a_trial_that_goes_on(tmp_path):
    end = await play(tmp_path, Ending(agent=ContainerEnd(0, out_of_memory=True)))
    assert isinstance(end, TrialVerdict)


IN_PLACE = {**SANDBOX, "checks": "InPlace"}
HIDING = {**CHECKED, "reference": {"files": [{"path": "answer", "content": "needle"}]}}


def handing_over(order):
    """``loop`` that sets a workspace aside at once."""
    kept = Path(argument(order, "--kept"))
    (kept / "workspace").mkdir()
    (kept / "workspace" / "set-aside").touch()
    (kept / "handed-over").touch()
    return PhaseEnd(0)


async def play_in_place(folder, engine, loop=None):
    """The phases that ran here; what ``grade`` found in the workspace is in ``.graded``."""
    graded = []

    def grade(order):
        graded.extend(path.name for path in Path(argument(order, "--workspace")).iterdir())
        return grading()(order)

    behaviour = {"grade": grade, **({} if loop is None else {"loop": loop})}
    here = FakePhases(behaviour, hanging=frozenset() if loop else frozenset({"loop"}))
    attempt = confined_attempt(folder, sandbox=IN_PLACE, tasks=[HIDING])
    end = await run_attempt(attempt, ContainerPhases(engine, here), FakeGateway())
    assert isinstance(end, TrialVerdict)
    return here, graded


async def test_checks_in_place_have_no_container_and_loop_runs_here_beside_the_agent(tmp_path):
    engine = Ending()
    here, _ = await play_in_place(tmp_path, engine)
    assert [one.command[3] for one in engine.ran] == ["agent"]
    assert here.names == ["loop", "grade"]
    command = container_of(engine, "agent").command
    assert command[-6:] == (
        *("--loop-socket", "/var/run/proctor/handover/loop.sock"),
        *("--handshake", "/var/run/proctor/loop"),
        *("--scratch", "/scratch"),
    )
    evidence = [argument(here.orders[1], f"--{one}-evidence") for one in ("agent", "checks")]
    assert evidence == [str(tmp_path / WORK / "evidence/agent")] * 2


async def test_what_loop_keeps_is_in_no_share_of_the_agents_container(tmp_path):
    engine = Ending()
    here, _ = await play_in_place(tmp_path, engine)
    agent = container_of(engine, "agent")
    orders = Path(argument(here.orders[0], "--orders"))
    kept = Path(argument(here.orders[0], "--kept"))
    for share in agent.shares:
        assert not orders.is_relative_to(share.source)
        assert not kept.is_relative_to(share.source)
    assert NEEDLE not in json.dumps(engine.read["agent"])
    more = {target: writable for target, writable in targets(agent).items() if "/loop" in target}
    assert more == {"/var/run/proctor/loop": True}
    assert not targets(agent)["/var/run/proctor/handover"]


async def test_what_loop_set_aside_before_the_checks_is_graded(tmp_path):
    _, graded = await play_in_place(tmp_path, Ending(), handing_over)
    assert graded == ["set-aside"]


async def test_without_a_hand_over_what_the_agent_left_is_graded(tmp_path):
    class Leaving(Ending):
        async def run(self, container, log, timeout_seconds):
            (share,) = [one for one in container.shares if one.target == "/workspace"]
            (share.source / "left").touch()
            return await super().run(container, log, timeout_seconds)

    _, graded = await play_in_place(tmp_path, Leaving())
    assert graded == ["left"]


async def test_an_agent_whose_checks_are_in_place_has_the_time_of_both(tmp_path):
    class Timing(Ending):
        async def run(self, container, log, timeout_seconds):
            self.seconds = timeout_seconds
            return await super().run(container, log, timeout_seconds)

    engine = Timing()
    limits = {"taskTimeoutSeconds": 100, "gradeTimeoutSeconds": 70}
    await play(tmp_path, engine, sandbox=IN_PLACE, limits=limits)
    assert engine.seconds == 100 + 70 + 60


async def test_containers_of_the_images_user_say_so(tmp_path):
    engine = Ending()
    await play(tmp_path, engine, sandbox={**SANDBOX, "user": "Image"})
    assert [one.image_user for one in engine.ran] == [True, True]


async def test_kill_reaches_containers_and_what_runs_here(tmp_path):
    killed = []
    engine, here = FakeEngine(), FakePhases()
    engine.kill = lambda: killed.append("containers")
    ContainerPhases(engine, here).kill()
    assert killed == ["containers"]
    assert here.killed
