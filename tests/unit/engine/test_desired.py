from builders_planning import KINDS, a_source, priced
from proctor.engine.model import desired_trials
from proctor.planning.plan import plan_run


def test_every_trial_of_the_plan_is_desired_in_its_order_with_its_criteria():
    plan = plan_run(a_source(repeats=2), KINDS, priced)
    desired = desired_trials(plan)
    assert tuple(trial.id for trial in desired) == plan.trials
    assert {trial.criteria for trial in desired} == {plan.cells["hello", "default"].criteria}
