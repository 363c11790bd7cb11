"""The honest suite and the attack suite by ``proctor run --container``."""

import uuid
from pathlib import Path

from agent_runs import LINES, run_locally
from agent_suites import lines, load, with_controls, wrongs
from containers.listening import listening

TESTS = Path(__file__).parents[1]
NOT_HERE = {
    "full_disk": "the disk of a container has no limit here",
    "use_the_key_in_checks": "checks of a container reach no gateway at all",
    "find_tokens": "the gateway's key is random here, and no token with an audience",
}
"""Attack: why it does not apply."""


def applying(suite, group=""):
    agents = load(TESTS / suite / "agents")
    return [one for one in agents if one.group == group and one.name not in NOT_HERE]


HONEST, ATTACKS = applying("honest"), applying("attacks")
NETWORK = [agent for agent in ATTACKS if agent.enforced]
(KNOWS,) = (agent for agent in HONEST if agent.name == "knows")


def run_in_containers(agents, folder, podman, images, words=None, *, image="default", more=()):
    options = ("--container", "--runner-image", images["runner"], "--parallelism", "4", *more)
    chosen = ("--set", f"sandbox.image={images[image]}")
    seed = uuid.uuid4().hex
    return run_locally(
        agents, seed, folder, *options, *chosen, words=words or {}, environment=podman.environment
    )


def test_honest_agents_pass_in_containers(tmp_path, podman, images, record_property):
    ended = run_in_containers(HONEST, tmp_path, podman, images)

    record_property(LINES, lines(HONEST, ended))
    found = wrongs(HONEST, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())
    assert podman.names() == []


def test_attacks_gain_nothing_in_containers(tmp_path, podman, images, record_property):
    agents = with_controls([agent for agent in ATTACKS if not agent.enforced], KNOWS)

    ended = run_in_containers(agents, tmp_path, podman, images)

    record_property(LINES, lines(agents, ended))
    found = wrongs(agents, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())
    assert podman.names() == []


def test_agents_that_are_root_gain_no_more_and_work_as_root(
    tmp_path, podman, images, record_property
):
    agents = [*with_controls(applying("attacks", "root"), KNOWS), *applying("honest", "root")]
    words = {"TESTBED": images["testbed"]}

    ended = run_in_containers(
        agents, tmp_path, podman, images, words, image="testbed", more=("--allow-image-user",)
    )

    record_property(LINES, lines(agents, ended))
    found = wrongs(agents, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())
    assert podman.names() == []


def test_agents_of_the_network_reach_what_they_look_for_only_without_a_container(
    tmp_path, podman, images, record_property
):
    """Without a container each of them reaches the listener, so that its check can fail."""
    agents = [agent for agent in NETWORK if agent.name.startswith("reach_")]
    with listening() as (port, _):
        targets = dict.fromkeys(("API_SERVER", "LISTENER", "NODE"), f"127.0.0.1:{port}")
        (tmp_path / "outside").mkdir()
        outside = run_locally(agents, "seed", tmp_path / "outside", words=targets)
        inside = run_in_containers(agents, tmp_path, podman, images, targets)

    record_property(LINES, lines(agents, inside))
    assert set(wrongs(agents, outside)) == {agent.name for agent in agents}
    assert wrongs(agents, inside) == {}
