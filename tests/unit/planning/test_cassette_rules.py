"""Which cassettes each front door can use."""

import pytest

from proctor.api.evalrun import Models
from proctor.planning.cassette_rules import cassette_problems, cluster_problems, local_problems

FILE = {"file": "c.yaml"}
VOLUME = {"volume": {"path": "a/c.yaml"}}
CONFIG_MAP = {"configMap": {"name": "c"}}


def models(mode, cassette=None):
    body = {"mode": mode} if cassette is None else {"mode": mode, "cassette": cassette}
    return Models.model_validate(body)


def fields(problems):
    return [problem.field.removeprefix("spec.models.cassette") for problem in problems]


@pytest.mark.parametrize(
    ("given", "cluster", "local"),
    [
        pytest.param(models("Replay", CONFIG_MAP), [], [], id="replay a config map"),
        pytest.param(models("Replay", VOLUME), [], [".volume"], id="replay from the volume"),
        pytest.param(models("Record", VOLUME), [], [".volume"], id="record to the volume"),
        pytest.param(models("Replay", FILE), [".file"], [], id="replay a file"),
        pytest.param(models("Record", FILE), [".file"], [], id="record to a file"),
        pytest.param(models("Record"), [""], [], id="record to the run's folder"),
        pytest.param(models("Live"), [], [], id="live"),
        pytest.param(None, [], [], id="nothing said"),
    ],
)
def test_each_front_door_refuses_what_it_cannot_reach(given, cluster, local):
    assert fields(cluster_problems(given)) == cluster
    assert fields(local_problems(given)) == local
    assert given is None or list(cassette_problems(given)) == []


def test_every_problem_has_a_remedy():
    wrong = [
        models("Live", FILE),
        models("Replay"),
        models("Replay", {}),
        models("Record", CONFIG_MAP),
        models("Replay", {"volume": {"path": "../c"}}),
    ]
    found = [list(cassette_problems(one)) for one in wrong]
    assert [fields(problems) for problems in found] == [
        [""], [""], [""], [".configMap"], [".volume.path"]
    ]  # fmt: skip
    assert all(problem.remedy for problems in found for problem in problems)
