"""``agent.secretEnv`` on a laptop: the user's own variables, and nothing of them is kept."""

import json

import pytest

from builders_local import CHECKED, FakeGateway, FakePhases, a_local_attempt, a_planned_run
from proctor.api.errors import UserError
from proctor.local.attempt import run_attempt
from proctor.local.notes import notes
from proctor.local.secret_variables import find_secrets
from unit.cli.test_commands import proctor

SECRET_ENV = [{"name": "TOOL_TOKEN", "secretRef": {"name": "tools", "key": "token"}}]
AGENT = {"type": "mini", "model": "claude-x", "secretEnv": SECRET_ENV}

LEAKING = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: leaking}
spec:
  agent:
    type: command
    options: {command: "echo $TOOL_TOKEN; echo $TOOL_TOKEN > leak.txt"}
    secretEnv: [{name: TOOL_TOKEN, secretRef: {name: tools, key: token}}]
  limits: {taskTimeoutSeconds: 60}
  tasks:
    - name: first
      prompt: Do it.
      criteria: [{type: run_command, command: cat leak.txt, expectedStdout: nothing}]
"""


def test_values_come_from_the_users_variables_of_the_same_names():
    environment = {"TOOL_TOKEN": "s3cr3t-value", "OTHER": "x"}
    assert find_secrets([a_planned_run(agent=AGENT)], environment) == {"TOOL_TOKEN": "s3cr3t-value"}


def test_a_variable_that_is_not_set_is_named_with_the_remedy():
    with pytest.raises(UserError, match="TOOL_TOKEN is not set: export it"):
        find_secrets([a_planned_run(agent=AGENT)], {})


def test_the_user_is_told_which_variables_agents_get():
    assert any("TOOL_TOKEN" in note for note in notes([a_planned_run(agent=AGENT)]))


async def test_only_agent_and_grade_get_the_value_and_grade_the_agents_key_to_take_it_out(tmp_path):
    attempt = a_local_attempt(tmp_path, {"TOOL_TOKEN": "v"}, agent=AGENT, tasks=[CHECKED])
    phases = FakePhases()
    await run_attempt(attempt, phases, FakeGateway())
    assert {order.name: dict(order.secrets) for order in phases.orders} == {
        "agent": {"TOOL_TOKEN": "v"},
        "checks": {},
        "grade": {"TOOL_TOKEN": "v", "gateway key": "agent-uid-0-1"},
    }


def test_a_secret_stands_in_no_file_that_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOL_TOKEN", "s3cr3t-of-this-test")
    (tmp_path / "run.yaml").write_text(LEAKING)
    done = proctor("run", "run.yaml", "--output", "out", cwd=tmp_path)
    assert done.returncode == 1, done.stderr  # the check failed and says what it found
    assert "s3cr3t-of-this-test" not in done.stdout + done.stderr
    kept = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    kept = [path for path in kept if "workspace" not in path.parts]  # files of the agent's own
    assert [path for path in kept if b"s3cr3t-of-this-test" in path.read_bytes()] == []
    assert any(b"[redacted:TOOL_TOKEN]" in path.read_bytes() for path in kept)
    status = json.loads((tmp_path / "out" / "run.json").read_text())["status"]
    assert [one["name"] for one in status["secrets"]] == ["tools"]
