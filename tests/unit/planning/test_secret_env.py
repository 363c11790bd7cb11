"""Secrets of the agent: merged by variable, named, and refused where they cannot be."""

from builders_planning import a_plan, a_task, problems_of
from proctor.api.secret_refs import SecretUse


def a_secret(variable, name="tools", key="token"):
    return {"name": variable, "secretRef": {"name": name, "key": key}}


def an_agent(*secrets, **fields):
    return {"type": "mini", "model": "claude-x", "secretEnv": list(secrets), **fields}


def the_cell(plan):
    (cell,) = plan.cells.values()
    return cell


def test_layers_are_merged_by_variable():
    task = a_task(agent={"secretEnv": [a_secret("B", "other")]})
    cell = the_cell(a_plan(agent=an_agent(a_secret("A"), a_secret("B")), tasks=[task]))
    assert {name: ref.name for name, ref in cell.secret_env.items()} == {"A": "tools", "B": "other"}
    assert cell.orders.agent.secret_env == ("A", "B")
    assert cell.orders.grade.lineage["agent.secretEnv.B"] == "task"


def test_the_plan_names_every_secret_once():
    tasks = [a_task("one"), a_task("two", agent={"secretEnv": [a_secret("B", "other", "k")]})]
    plan = a_plan(agent=an_agent(a_secret("A")), tasks=tasks)
    assert plan.secrets == (
        SecretUse(name="other", key="k", variable="B"),
        SecretUse(name="tools", key="token", variable="A"),
    )


def test_the_record_names_them_and_no_order_holds_a_value():
    cell = the_cell(a_plan(agent=an_agent(a_secret("A"))))
    assert cell.orders.grade.context["secrets"] == "tools/token as A"


def test_a_run_without_secrets_says_nothing_of_them():
    plan = a_plan()
    assert plan.secrets == ()
    assert "secrets" not in the_cell(plan).orders.grade.context


def test_a_variable_is_either_plain_or_secret():
    task = a_task(agent={"secretEnv": [a_secret("A")]})
    agent = an_agent(env=[{"name": "A", "value": "x"}])
    (problem,) = problems_of(agent=agent, tasks=[task])
    assert problem.field == "spec.tasks[0].agent.secretEnv.A"
    assert problem.remedy == "keep one of them"


def test_names_that_proctor_sets_are_refused():
    (problem,) = problems_of(agent=an_agent(a_secret("OPENAI_API_KEY")))
    assert problem.field == "spec.agent.secretEnv[0].name"


def test_more_secrets_than_a_status_can_name_are_refused():
    tasks = [
        a_task(f"t{i}", agent={"secretEnv": [a_secret(f"A{j}", f"s{i}") for j in range(30)]})
        for i in range(3)
    ]
    (problem,) = problems_of(tasks=tasks)
    assert "90 ways" in problem.message
