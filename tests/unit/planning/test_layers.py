from dataclasses import replace

import pytest

from builders_planning import KINDS, a_source, a_task, priced, problems_of
from proctor.api.errors import SpecError
from proctor.api.task import AgentSpec, Limits, Sandbox
from proctor.planning.layers import Layer, merge_layers
from proctor.planning.plan import plan_run


def a_layer(name, agent=None, limits=None, sandbox=None):
    return Layer(
        name,
        f"spec.{name}",
        None if agent is None else AgentSpec.model_validate(agent),
        None if limits is None else Limits.model_validate(limits),
        None if sandbox is None else Sandbox.model_validate(sandbox),
    )


def test_a_later_layer_wins_field_by_field():
    merged = merge_layers(
        [
            a_layer("run", limits={"maxTurns": 5, "maxUsd": 1}),
            a_layer("task", limits={"maxTurns": 9}),
        ]
    )
    assert (merged.limits.max_turns, merged.limits.max_usd) == (9, 1)
    assert merged.lineage == {"limits.maxUsd": "run", "limits.maxTurns": "task"}


def test_options_are_merged_at_any_depth():
    merged = merge_layers(
        [
            a_layer("run", agent={"type": "x", "options": {"a": {"b": 1, "c": 2}, "d": 3}}),
            a_layer("task", agent={"options": {"a": {"c": 4}}}),
        ]
    )
    assert merged.options == {"a": {"b": 1, "c": 4}, "d": 3}
    assert merged.lineage["agent.options.a.c"] == "task"
    assert merged.lineage["agent.options.a.b"] == "run"


def test_an_object_replaces_a_plain_option():
    merged = merge_layers(
        [
            a_layer("run", agent={"type": "x", "options": {"a": 1}}),
            a_layer("task", agent={"options": {"a": {"b": 2}}}),
        ]
    )
    assert merged.options == {"a": {"b": 2}}
    assert "agent.options.a" not in merged.lineage


def test_another_agent_type_drops_the_options_below():
    merged = merge_layers(
        [
            a_layer("run", agent={"type": "x", "model": "m", "options": {"a": 1}}),
            a_layer("task", agent={"type": "y"}),
        ]
    )
    assert (merged.agent_type, merged.model, merged.options) == ("y", "m", {})
    assert "agent.options.a" not in merged.lineage


@pytest.mark.parametrize(
    "below",
    [
        pytest.param({"options": {"a": 1}}, id="no-type"),
        pytest.param({"type": "y", "options": {"a": 1}}, id="same-type"),
    ],
)
def test_naming_the_type_later_keeps_the_options(below):
    merged = merge_layers([a_layer("run", agent=below), a_layer("task", agent={"type": "y"})])
    assert merged.options == {"a": 1}


def test_variables_are_merged_by_name():
    merged = merge_layers(
        [
            a_layer("run", agent={"env": [{"name": "A", "value": "1"}, {"name": "B"}]}),
            a_layer("task", agent={"env": [{"name": "A", "value": "2"}]}),
        ]
    )
    assert merged.env == {"A": "2", "B": ""}
    assert merged.lineage == {"agent.env.A": "task", "agent.env.B": "run"}


def test_null_takes_a_limit_away():
    merged = merge_layers(
        [a_layer("run", limits={"maxTurns": 5}), a_layer("variant:a", limits={"maxTurns": None})]
    )
    assert merged.limits.max_turns is None
    assert merged.lineage == {"limits.maxTurns": "variant:a"}


def test_other_lists_are_replaced():
    merged = merge_layers(
        [
            a_layer("run", sandbox={"persist": ["/opt/a", "/opt/b"]}),
            a_layer("task", sandbox={"persist": ["/opt/c"], "resources": {"cpu": "2"}}),
        ]
    )
    assert merged.sandbox.persist == ("/opt/c",)
    assert merged.lineage["sandbox.resources.cpu"] == "task"


def test_nothing_merges_to_nothing():
    merged = merge_layers([])
    assert (merged.agent_type, merged.options, merged.env, merged.lineage) == (None, {}, {}, {})
    assert merged.field("limits.maxUsd") == "spec.limits.maxUsd"


def test_the_command_line_is_the_topmost_layer():
    source = a_source(variants=[{"name": "a", "agent": {"type": "command"}}])
    overrides = Layer("cli", "--set", agent=AgentSpec(type="none"))
    plan = plan_run(replace(source, overrides=overrides), KINDS, priced)
    cell = plan.cells["hello", "a"]
    assert cell.agent == "none"
    assert cell.orders.grade.lineage["agent.type"] == "cli"


def test_a_problem_names_the_layer_that_wrote_the_field():
    options = {"name": "b", "agent": {"type": "command", "options": {"command": "x", "cmd": 1}}}
    (problem,) = problems_of(variants=[{"name": "a"}, options])
    assert problem.field == "spec.variants[1].agent.options.cmd"


def test_a_problem_with_a_flag_names_the_flag():
    overrides = Layer("cli", "--set", agent=AgentSpec(type="nope"))
    with pytest.raises(SpecError) as caught:
        plan_run(replace(a_source(tasks=[a_task()]), overrides=overrides), KINDS, priced)
    assert [problem.field for problem in caught.value.problems] == ["--set.agent.type"]


def test_a_missing_option_is_looked_for_where_the_type_was_written():
    (problem,) = problems_of(tasks=[a_task(agent={"type": "command"})])
    assert problem.field == "spec.tasks[0].agent.options.command"
