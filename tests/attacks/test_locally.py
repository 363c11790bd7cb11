"""The attacks that hold for a laptop too, by ``proctor run``."""

import uuid
from pathlib import Path

from agent_runs import LINES, run_locally
from agent_suites import lines, load, runs_locally, with_controls, wrongs

HERE = Path(__file__).parent
(KNOWS,) = (agent for agent in load(HERE.parent / "honest" / "agents") if agent.name == "knows")


def test_attacks_gain_nothing_by_proctor_run(tmp_path, record_property):
    suite = [agent for agent in load(HERE / "agents") if runs_locally(agent)]
    agents = with_controls(suite, KNOWS)

    ended = run_locally(agents, uuid.uuid4().hex, tmp_path)

    record_property(LINES, lines(agents, ended))
    found = wrongs(agents, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())
