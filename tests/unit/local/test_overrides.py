import pytest

from builders_planning import KINDS, a_source, a_task, priced
from proctor.api.errors import SpecError
from proctor.local.overrides import Flags, parse_sets, with_flags
from proctor.planning.plan import plan_run


def the_cell(source):
    return next(iter(plan_run(source, KINDS, priced).cells.values()))


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        pytest.param("limits.maxTurns=20", 20, id="number"),
        pytest.param("agent.options.steps=[a, b]", ["a", "b"], id="list"),
        pytest.param("agent.model=on", "on", id="word-stays-a-word"),
        pytest.param("agent.model=a=b", "a=b", id="equals-sign-in-the-value"),
        pytest.param("spec.agent.model=null", None, id="null"),
        pytest.param("agent.model=", None, id="nothing-is-null"),
        pytest.param("suite=2024-01-31", "2024-01-31", id="date-stays-text"),
        pytest.param("limits.maxUsd=1e3", 1000.0, id="exponent-as-in-a-file"),
    ],
)
def test_values_are_yaml(pair, value):
    assert list(parse_sets([pair]).values()) == [value]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        pytest.param(["limits.maxTurns"], "is not PATH=VALUE", id="no-value"),
        pytest.param(["=3"], "is not PATH=VALUE", id="no-path"),
        pytest.param(["a..b=3"], "is not PATH=VALUE", id="empty-step"),
        pytest.param(["tasks[x]=3"], "is not PATH=VALUE", id="bad-index"),
        pytest.param(["repeats=[3"], "is not YAML", id="not-yaml"),
        pytest.param([f"repeats={'9' * 5000}"], "characters is not read", id="endless-number"),
        pytest.param([f"agent={'[' * 3000}"], "is not YAML", id="endless-nesting"),
        pytest.param(["agent=&x [*x]"], "has no anchor", id="circle"),
        pytest.param(["limits.maxUsd=.nan"], "not a finite number", id="not-a-number"),
        pytest.param(["suite=a\n--- b"], "several documents", id="two-values"),
        pytest.param(["repeats=1", "spec.repeats=2"], "is given twice", id="twice"),
    ],
)
def test_pair_that_cannot_be_read_is_named(pairs, message):
    with pytest.raises(SpecError, match=message):
        parse_sets(pairs)


def test_model_of_the_command_line_wins_over_task_and_variant():
    source = a_source(
        tasks=[a_task(agent={"model": "claude-task"})],
        variants=[{"name": "v", "agent": {"model": "claude-variant"}}],
    )
    assert the_cell(with_flags(source, Flags(model="claude-cli"))).model == "claude-cli"


def test_another_agent_leaves_the_options_of_the_first_behind():
    source = a_source(agent={"type": "mini", "options": {"steps": 3}})
    flags = Flags(agent="command", sets={"agent.options.command": "true"})
    cell = the_cell(with_flags(source, flags))
    assert (cell.agent, dict(cell.orders.agent.options)) == (
        "command",
        {"command": "true", "promptBy": "stdin"},
    )


def test_limits_are_layered_and_the_rest_is_laid_into_the_spec():
    sets = {"limits.maxTurns": 7, "gate.minScore": 0.5, "tasks[0].prompt": "Say bye."}
    source = with_flags(a_source(), Flags(sets=sets, repeats=3, seed="x"))
    cell = the_cell(source)
    assert (cell.orders.agent.max_turns, cell.orders.agent.prompt) == (7, "Say bye.")
    assert (source.spec.repeats, source.spec.gate.min_score, source.seed) == (3, 0.5, "x")


def test_selection_of_the_command_line_replaces_that_of_the_file():
    source = a_source(tasks=[a_task("a"), a_task("b", tags=["t"])], select={"tasks": ["a"]})
    plan = plan_run(with_flags(source, Flags(tasks=("b",), tags=("t",), limit=1)), KINDS, priced)
    assert [trial.task for trial in plan.trials] == ["b"]


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        pytest.param(
            {"limits.maxTurn": 3}, "--set limits.maxTurn: unknown field", id="unknown-limit"
        ),
        pytest.param({"repeat": 3}, "spec.repeat: unknown field", id="unknown-field"),
        pytest.param({"repeats": "many"}, "spec.repeats", id="wrong-type"),
        pytest.param({"tasks[9].prompt": "x"}, "names no field", id="no-such-item"),
        pytest.param({"tasks.prompt": "x"}, "names no field", id="list-without-index"),
        pytest.param({"repeats.more": 1}, "names no field", id="below-a-number"),
    ],
)
def test_flag_that_fits_no_field_is_a_problem_of_the_command_line(sets, problem):
    with pytest.raises(SpecError) as raised:
        with_flags(a_source(repeats=2), Flags(sets=sets))
    assert str(raised.value).startswith("command line: ")
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        pytest.param(Flags(agent="nope"), "--agent", id="flag"),
        pytest.param(Flags(sets={"agent.type": "nope"}), "--set agent.type", id="set"),
    ],
)
def test_flag_that_only_the_plan_can_refuse_is_named_as_it_was_written(flags, field):
    with pytest.raises(SpecError) as raised:
        plan_run(with_flags(a_source(), flags), KINDS, priced)
    (problem,) = raised.value.problems
    assert (problem.file, problem.field) == ("command line", field)


def test_field_given_by_flag_and_by_set_is_refused():
    with pytest.raises(SpecError, match=r"agent\.model: is given twice"):
        with_flags(a_source(), Flags(model="a", sets={"agent.model": "b"}))


def test_without_flags_the_run_is_the_same():
    assert with_flags(a_source(), Flags()) == a_source()
