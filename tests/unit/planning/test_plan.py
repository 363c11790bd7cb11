from decimal import Decimal

from builders_planning import KINDS, a_plan, a_source, a_task, priced
from proctor.api.evalrun import ModelsMode
from proctor.api.orders import AgentOrders, ChecksOrders, GradeOrders
from proctor.planning.plan import TrialId, plan_run


def the_cell(**fields):
    (cell,) = a_plan(**fields).cells.values()
    return cell


def test_a_run_without_variants_has_one_called_default():
    assert a_plan().trials == (TrialId("hello", "default", 0),)


def test_there_is_a_cell_for_each_task_and_variant():
    plan = a_plan(tasks=[a_task("a"), a_task("b")], variants=[{"name": "x"}, {"name": "y"}])
    assert set(plan.cells) == {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")}


def test_only_selected_tasks_have_trials():
    tasks = [a_task("web/a", tags=["smoke"]), a_task("web/b"), a_task("c", tags=["smoke"])]
    plan = a_plan(tasks=tasks, select={"tasks": ["web/*"], "tags": ["smoke"]})
    assert [key.task for key in plan.trials] == ["web/a"]


def test_a_limit_takes_the_first_tasks():
    plan = a_plan(tasks=[a_task("a"), a_task("b"), a_task("c")], select={"limit": 2})
    assert [key.task for key in plan.trials] == ["a", "b"]


def test_the_prompt_is_the_tasks_own_and_nothing_is_added():
    assert the_cell().orders.agent.prompt == "Say hello."


def test_a_variant_puts_text_around_the_prompt_or_in_its_place():
    around = {"name": "a", "prompt": {"prefix": "Please.", "suffix": "Thanks."}}
    instead = {"name": "b", "prompt": {"text": "Be quiet."}}
    cells = a_plan(variants=[around, instead]).cells
    assert cells["hello", "a"].orders.agent.prompt == "Please.\n\nSay hello.\n\nThanks."
    assert cells["hello", "b"].orders.agent.prompt == "Be quiet."
    assert cells["hello", "b"].orders.grade.lineage["prompt"] == "variant:b"


def test_agent_none_needs_no_prompt_and_no_key():
    overlay = [{"name": "a", "prompt": {"prefix": "Please."}}]
    cell = the_cell(agent={"type": "none"}, tasks=[a_task(prompt=None)], variants=overlay)
    assert (cell.orders.agent.prompt, cell.needs_model) == (None, False)
    assert not cell.orders.grade.agent_runs


def test_files_of_a_variant_replace_those_of_the_task():
    task = a_task(
        workspace={"files": [{"path": "a", "content": "1"}, {"path": "./b", "content": "2"}]}
    )
    files = {"files": [{"path": "b", "contentBase64": "Mw==", "executable": True}]}
    cell = the_cell(tasks=[task], variants=[{"name": "v", "workspace": files}])
    laid = [(file.path, file.data, file.executable) for file in cell.orders.agent.files]
    assert laid == [("a", b"1", False), ("b", b"3", True)]


def test_defaults_are_filled_in_and_named_in_the_lineage():
    cell = the_cell(limits={"turnTimeoutSeconds": 7}, sandbox={"resources": {"cpu": "2"}})
    assert (cell.task_timeout_seconds, cell.turn_timeout_seconds) == (600, 7)
    assert cell.grade_timeout_seconds == 600
    assert cell.resources.model_dump() == {
        "cpu": "2",
        "memory": "2Gi",
        "ephemeral_storage": "4Gi",
    }
    lineage = cell.orders.grade.lineage
    assert lineage["limits.taskTimeoutSeconds"] == "default"
    assert lineage["limits.turnTimeoutSeconds"] == "run"
    assert lineage["sandbox.resources.cpu"] == "run"


def test_limits_of_the_gateway_keep_money_exact():
    limits = {"maxUsd": 0.1, "maxTotalTokens": 5, "maxModelCalls": 3, "maxTurns": 2}
    cell = the_cell(limits=limits)
    assert cell.limits.max_usd == Decimal("0.1")
    assert (cell.limits.max_total_tokens, cell.limits.max_model_calls) == (5, 3)
    assert cell.orders.agent.max_turns == 2


def test_no_checks_are_ordered_when_no_command_must_run():
    cell = the_cell(preRun=[{"command": "true"}])
    assert cell.orders.checks is None
    assert not cell.orders.grade.has_checks


def test_commands_are_ordered_around_agent_and_checks():
    task = a_task(
        criteria=[{"type": "file_exists"}, {"type": "run_command", "command": "ls"}],
        reference={"files": [{"path": "r", "content": "x"}]},
        preRun=[{"command": "own", "in": "Agent", "failOnError": False}],
        postRun=[{"command": "own-after"}],
    )
    orders = the_cell(
        tasks=[task], preRun=[{"command": "run"}], postRun=[{"command": "run-after"}]
    ).orders
    assert [(one.command, one.fail_on_error) for one in orders.agent.pre_run] == [
        ("run", True),
        ("own", False),
    ]
    assert [one.command for one in orders.checks.pre_run] == ["run"]
    assert [one.command for one in orders.checks.post_run] == ["own-after", "run-after"]
    assert [one.index for one in orders.checks.commands] == [1]
    assert [file.path for file in orders.checks.reference] == ["r"]
    assert [one.commands for one in orders.grade.criteria] == [0, 1]
    assert orders.grade.reference == ()


def test_the_reference_reaches_grade_only_when_a_criterion_reads_it():
    task = a_task(
        criteria=[{"type": "compares"}], reference={"files": [{"path": "r", "content": "x"}]}
    )
    assert [file.path for file in the_cell(tasks=[task]).orders.grade.reference] == ["r"]


def test_no_hidden_file_is_in_the_agents_orders():
    task = a_task(reference={"files": [{"path": "hidden-answer", "content": "42"}]})
    assert "hidden-answer" not in str(the_cell(tasks=[task]).orders.agent.to_json())


def test_criteria_of_the_run_follow_those_of_the_task_with_names_of_their_own():
    task = a_task(criteria=[{"type": "file_exists"}, {"type": "file_exists", "name": "mine"}])
    run = [{"type": "run_command", "weight": 0, "passThreshold": 0.5}]
    cell = the_cell(tasks=[task], criteria=run)
    assert cell.criteria == ("file_exists[0]", "mine", "run_command[2]")
    last = cell.orders.grade.criteria[-1]
    assert (last.weight, last.pass_threshold) == (0, 0.5)


def test_the_record_is_told_suite_agent_model_image_and_who_answers():
    cell = the_cell(
        sandbox={"image": "example.test/x:1", "persist": ["/opt/x"]},
        models={"mode": "Scripted", "script": {"inline": "rules: [{answer: {text: hi}}]"}},
    )
    assert cell.orders.grade.context == {
        "suite": "run",
        "agent": "mini",
        "model": "claude-x",
        "image": "example.test/x:1",
        "user": "NonRoot",
        "isolation": "Separate",
        "models": "Scripted",
        "egress": "ModelOnly",
    }
    assert (cell.models, cell.persist) == (ModelsMode.SCRIPTED, ("/opt/x",))


def test_orders_survive_the_way_to_the_runner():
    task = a_task(
        criteria=[{"type": "run_command"}],
        workspace={"files": [{"path": "a", "content": "ä"}]},
        preRun=[{"command": "true"}],
    )
    orders = the_cell(tasks=[task]).orders
    assert AgentOrders.from_json(orders.agent.to_json()) == orders.agent
    assert ChecksOrders.from_json(orders.checks.to_json()) == orders.checks
    assert GradeOrders.from_json(orders.grade.to_json()) == orders.grade


def test_the_seed_is_the_sources():
    assert plan_run(a_source(seed="ab"), KINDS, priced).seed == "ab"
