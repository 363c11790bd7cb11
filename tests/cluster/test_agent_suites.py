"""The attack suite and the honest suite on the cluster: as many trials side by side as fit."""

import uuid
from pathlib import Path

from agent_runs import LINES, run_on_cluster
from agent_suites import lines, load, with_controls, wrongs

TESTS = Path(__file__).parents[1]
HONEST = [agent for agent in load(TESTS / "honest" / "agents") if "cluster" in agent.where]
ATTACKS = [agent for agent in load(TESTS / "attacks" / "agents") if "cluster" in agent.where]
(KNOWS,) = (agent for agent in HONEST if agent.name == "knows")


def test_attacks_gain_nothing(kube, record_property):
    agents = with_controls([agent for agent in ATTACKS if not agent.enforced], KNOWS)

    ended = run_on_cluster(kube, "attacks", agents, uuid.uuid4().hex)

    record_property(LINES, lines(agents, ended))
    assert wrongs(agents, ended) == {}


def test_honest_agents_pass(kube, record_property):
    ended = run_on_cluster(kube, "honest", HONEST, uuid.uuid4().hex)

    record_property(LINES, lines(HONEST, ended))
    assert wrongs(HONEST, ended) == {}
