"""What honest agents leave passes by ``proctor run``."""

import uuid
from pathlib import Path

from agent_runs import LINES, run_locally
from agent_suites import lines, load, runs_locally, wrongs


def test_honest_agents_pass_by_proctor_run(tmp_path, record_property):
    agents = [agent for agent in load(Path(__file__).with_name("agents")) if runs_locally(agent)]

    ended = run_locally(agents, uuid.uuid4().hex, tmp_path)

    record_property(LINES, lines(agents, ended))
    found = wrongs(agents, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())
