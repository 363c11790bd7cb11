"""``docs/criteria.md`` and ``docs/agents.md`` are written by hand; these keep them true."""

import re
from pathlib import Path

import pytest
import yaml

from builders_criteria import REGISTRY
from proctor.api.task import AgentSpec, CriterionSpec

DOCS = Path(__file__).parents[3] / "docs"
PAGES = {"criterion": (DOCS / "criteria.md").read_text(), "agent": (DOCS / "agents.md").read_text()}
ENTRIES = [pytest.param(entry, id=f"{entry.kind}-{entry.type}") for entry in REGISTRY.catalog()]


def examples(kind):
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGES[kind], re.S)]


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_type_and_every_field_is_on_the_page(entry):
    page = PAGES[entry.kind]
    section = page.partition(f"\n## `{entry.type}`\n")[2].partition("\n## ")[0]
    fields = entry.options.get("properties", {})
    assert section
    assert [name for name in fields if f"`{name}`" not in section] == []


def test_every_example_of_a_criterion_loads():
    criteria = [item for example in examples("criterion") for item in example]
    found = [REGISTRY.criterion(CriterionSpec.model_validate(item), "c") for item in criteria]
    assert [problems for problems in found if isinstance(problems, tuple)] == []
    assert {item["type"] for item in criteria} == set(REGISTRY.criterion_types())


def test_every_example_of_an_agent_loads():
    agents = [AgentSpec.model_validate(example["agent"]) for example in examples("agent")]
    found = [REGISTRY.agent_options(agent.type, agent.options, "o")[1] for agent in agents]
    assert found == [()] * len(agents)
