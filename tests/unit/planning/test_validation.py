"""How a model's refusals read (api.validation), on the models that people write."""

import pytest
from pydantic import ValidationError

from proctor.api.errors import SpecError
from proctor.api.evalrun import EvalRunSpec
from proctor.api.task import Limits, Sandbox, Variant
from proctor.api.validation import problems_of, read_model


def the_problem(model, body, field="spec"):
    with pytest.raises(SpecError) as caught:
        read_model(model, body, field)
    (problem,) = caught.value.problems
    return problem


def test_a_misspelt_field_is_answered_with_the_nearest():
    problem = the_problem(Limits, {"maxTurn": 1})
    assert (problem.field, problem.message) == ("spec.maxTurn", "unknown field 'maxTurn'")
    assert problem.remedy.startswith("did you mean maxTurns? known fields: gradeTimeoutSeconds,")


def test_a_field_far_from_all_others_is_answered_with_all_of_them():
    assert the_problem(Limits, {"zzz": 1}).remedy.startswith("known fields: ")


def test_an_unknown_field_deep_inside_is_answered_with_its_own_neighbours():
    problem = the_problem(Variant, {"name": "a", "prompt": {"sufix": "x"}})
    assert problem.field == "spec.prompt.sufix"
    assert problem.remedy == "did you mean suffix? known fields: prefix, suffix, text"


def test_a_value_of_another_form_is_answered_with_the_fields_description():
    problem = the_problem(Sandbox, {"resources": {"memory": "2 GB"}})
    assert problem.remedy == "Memory, such as 2Gi. Default 2Gi."


def test_a_word_that_is_not_in_the_list_is_answered_with_the_list():
    problem = the_problem(EvalRunSpec, {"tasks": [{"name": "a"}], "models": {"mode": "live"}})
    assert (problem.field, problem.remedy) == (
        "spec.models.mode",
        "write 'Live', 'Record', 'Replay' or 'Scripted'",
    )


def test_an_item_of_a_list_is_answered_with_the_lists_description():
    problem = the_problem(Sandbox, {"persist": ["relative"]})
    assert problem.field == "spec.persist[0]"
    assert problem.remedy.startswith("Folders that pass")


def test_python_names_are_no_wire_names():
    assert "did you mean maxTurns?" in the_problem(Limits, {"max_turns": 1}).remedy


def test_a_long_value_is_shortened_in_the_message():
    assert len(the_problem(Sandbox, {"image": "x " * 400}).message) < 200


def test_a_list_that_is_empty_is_named():
    problem = the_problem(EvalRunSpec, {"tasks": []})
    assert (problem.field, problem.remedy) == ("spec.tasks", "give at least one")


def test_without_its_model_an_unknown_field_can_only_be_removed():
    with pytest.raises(ValidationError) as caught:
        Limits.model_validate({"zzz": 1})
    (problem,) = problems_of(caught.value, "limits")
    assert (problem.field, problem.remedy) == ("limits.zzz", "remove it")


def test_without_its_model_another_form_has_no_remedy():
    with pytest.raises(ValidationError) as caught:
        Sandbox.model_validate({"image": "a b"})
    assert problems_of(caught.value, "sandbox")[0].remedy == ""
