from typing import Annotated, Any, ClassVar

import pytest
from pydantic import Field

from builders_criteria import REGISTRY, agent_problems
from proctor.api.base import Spec
from proctor.api.catalog import Traits
from proctor.api.evidence import Command
from proctor.api.task import CriterionSpec
from proctor.api.verdict import Scored
from proctor.criteria.contract import Criterion
from proctor.planning.kinds import Kinds
from proctor.plugins.errors import PluginError, TypeConflictError
from proctor.plugins.registry import Registry


class Mood(Criterion):
    """A plugin's criterion."""

    type: ClassVar[str] = "mood"
    default_pass_threshold: ClassVar[float] = 0.7

    wanted: Annotated[str, Field(description="The mood.")] = "good"


class Options(Spec):
    """A plugin's options."""

    level: Annotated[int, Field(ge=1, description="How hard.")] = 3


def check_mood(criterion: Mood, evidence: Any, /) -> Scored:
    return Scored(1.0)


def register_mood(registry):
    registry.criterion(Mood, check_mood)


def resolved(registry: Kinds, **fields: Any):
    return registry.criterion(CriterionSpec.model_validate(fields), "spec.criteria[0]")


def test_the_built_in_types_are_these():
    assert REGISTRY.agent_types() == ("command", "mini", "none")
    assert REGISTRY.criterion_types() == (
        "file_contains",
        "file_exists",
        "file_matches_regex",
        "json_check",
        "run_command",
    )


def test_a_plugin_adds_to_the_built_ins_and_leaves_them_as_they_were():
    extended = REGISTRY.adding(register_mood)
    assert "mood" in extended.criterion_types()
    assert "mood" not in REGISTRY.criterion_types()


def test_the_same_claim_twice_is_one_claim():
    twice = Registry().adding(register_mood).adding(register_mood)
    assert twice.criterion_types() == ("mood",)


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda r: r.criterion(Mood, lambda c, e: Scored(0.0)), id="criterion"),
        pytest.param(lambda r: r.agent("none", Options, "a:B"), id="agent"),
    ],
)
def test_another_claim_for_a_type_is_a_conflict(register):
    with pytest.raises(TypeConflictError, match="is claimed by"):
        REGISTRY.adding(register_mood).adding(register)


def test_a_plugin_that_fails_half_way_registers_nothing():
    def half(registry):
        registry.criterion(Mood, check_mood)
        registry.agent("none", Options, "a:B")

    with pytest.raises(TypeConflictError):
        REGISTRY.adding(half)
    assert "mood" not in REGISTRY.criterion_types()


class Nameless(Criterion):
    """Has no type."""


class Shouting(Criterion):
    """Has a type in capitals."""

    type: ClassVar[str] = "Mood!"


class Greedy(Criterion):
    """Takes a field that all criteria have."""

    type: ClassVar[str] = "greedy"

    pass_threshold: float = 1.0


@pytest.mark.parametrize(
    ("register", "said"),
    [
        pytest.param(lambda r: r.criterion(Nameless, check_mood), "type is None", id="nameless"),
        pytest.param(lambda r: r.criterion(Shouting, check_mood), "'Mood!'", id="bad-name"),
        pytest.param(lambda r: r.criterion(Greedy, check_mood), "'passThreshold'", id="envelope"),
        pytest.param(lambda r: r.agent("My Agent", Options, "a:B"), "'My Agent'", id="agent-name"),
        pytest.param(lambda r: r.agent("mine", Options, "a.b"), "'module:attribute'", id="factory"),
    ],
)
def test_a_claim_that_cannot_work_is_refused_by_name(register, said):
    with pytest.raises(PluginError, match="(?s)" + said):
        Registry().adding(register)


def test_the_catalog_describes_every_type_as_data():
    entries = {(entry.kind, entry.type): entry for entry in REGISTRY.catalog()}
    assert len(entries) == 8
    assert entries["agent", "mini"].factory == "proctor.agents.mini.agent:MiniAgent"
    assert entries["criterion", "run_command"].traits == Traits(checks=True)
    assert "timeoutSeconds" in entries["criterion", "run_command"].options["properties"]


def test_every_field_of_every_type_has_a_description():
    bare = [
        f"{entry.type}.{name}"
        for entry in REGISTRY.catalog()
        for name, schema in entry.options.get("properties", {}).items()
        if not schema.get("description")
    ]
    assert bare == []


def test_no_two_criteria_give_one_field_name_two_types():
    types: dict[str, set[str]] = {}
    for entry in REGISTRY.catalog():
        if entry.kind == "criterion":
            for name, schema in entry.options["properties"].items():
                shape = {k: v for k, v in schema.items() if k in ("type", "anyOf", "items", "enum")}
                types.setdefault(name, set()).add(str(shape))
    assert {name for name, shapes in types.items() if len(shapes) > 1} == set()


def test_a_criterion_is_resolved_with_defaults_and_its_commands():
    criterion = resolved(REGISTRY, type="run_command", command="make", passThreshold=0.5, name="b")
    assert criterion.name == "b"
    assert criterion.pass_threshold == 0.5
    assert criterion.options["timeoutSeconds"] == 30
    assert criterion.commands == (Command(("sh", "-c", "make"), 30),)


def test_resolved_options_resolve_to_themselves():
    claim = {"expression": "a", "operator": "exists"}
    first = resolved(REGISTRY, type="json_check", path="./a.json", assertions=[claim])
    assert resolved(REGISTRY, type="json_check", **first.options) == first


def test_the_types_default_threshold_stands_in():
    assert resolved(REGISTRY.adding(register_mood), type="mood").pass_threshold == 0.7


def test_an_unknown_criterion_type_is_answered_with_the_known_ones():
    (problem,) = resolved(REGISTRY, type="vibes")
    assert problem.field == "spec.criteria[0].type"
    assert "'vibes'" in problem.message
    assert "run_command" in problem.remedy


def test_all_wrong_fields_of_a_criterion_are_told_at_once():
    found = resolved(REGISTRY, type="file_matches_regex", path="/a", pattern="(", must=True)
    assert [problem.field for problem in found] == [
        "spec.criteria[0].path",
        "spec.criteria[0].pattern",
        "spec.criteria[0].must",
    ]


class Failing(Criterion):
    """Cannot name its commands."""

    type: ClassVar[str] = "failing"

    def commands(self):
        raise OSError("no shell")


class Undeclared(Criterion):
    """Has commands, and no trait that says so."""

    type: ClassVar[str] = "undeclared"

    def commands(self):
        return (Command(("true",), 1),)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        pytest.param(Failing, "'failing' failed to name commands: no shell", id="raises"),
        pytest.param(Undeclared, "has commands but not the trait 'checks'", id="undeclared"),
    ],
)
def test_a_plugin_whose_code_is_wrong_is_named(model, said):
    registry = Registry().adding(lambda r: r.criterion(model, check_mood))
    with pytest.raises(PluginError, match=said):
        resolved(registry, type=model.type)


def test_options_of_an_agent_get_their_defaults():
    options, found = REGISTRY.agent_options("mini", {"api": "ChatCompletions"}, "o")
    assert found == ()
    assert options == {
        "api": "ChatCompletions",
        "systemPrompt": None,
        "tools": ["read", "write", "list", "shell"],
        "maxOutputTokens": 4096,
        "shellTimeoutSeconds": 120,
    }


@pytest.mark.parametrize(
    ("type_", "options", "said"),
    [
        pytest.param("none", {"a": 1}, "o.a: unknown field 'a'", id="none-has-none"),
        pytest.param("mini", {"tools": ["rm"]}, "o.tools[0]", id="unknown-tool"),
        pytest.param("command", {}, "neither command nor argv", id="no-command"),
        pytest.param("command", {"command": "a", "argv": ["b"]}, "both command", id="two"),
        pytest.param("command", {"command": "a", "prompt": "Mail"}, "'Stdin'", id="prompt-way"),
    ],
)
def test_wrong_options_of_an_agent_are_told(type_, options, said):
    (problem,) = agent_problems(type_, **options)
    assert said in problem


def test_the_factory_of_an_agent_is_text_until_it_is_needed():
    registry = Registry().adding(lambda r: r.agent("mine", Options, "not.there:Agent"))
    assert registry.agent_factory("mine") == "not.there:Agent"
