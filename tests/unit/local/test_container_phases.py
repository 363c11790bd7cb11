"""An attempt in containers: what each of them is given, and what their ends come to."""

import base64
import json

import pytest

from builders_local import CHECKED, FakeGateway, FakePhases, a_local_attempt
from fakes.engine import FakeEngine
from proctor.api.outcome import FailureClass
from proctor.api.termination import TrialVerdict
from proctor.engine.model import Failure
from proctor.local.attempt import Attempt, run_attempt
from proctor.local.contained import Ground
from proctor.local.container_phases import ContainerPhases
from proctor.local.engine import ContainerEnd

IMAGE = "registry.example/task:1"
COMMAND = {"type": "command", "options": {"command": "true"}}
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


async def test_kill_reaches_containers_and_what_runs_here(tmp_path):
    killed = []
    engine, here = FakeEngine(), FakePhases()
    engine.kill = lambda: killed.append("containers")
    ContainerPhases(engine, here).kill()
    assert killed == ["containers"]
    assert here.killed
