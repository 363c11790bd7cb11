"""The run's budget on a laptop: refused, nothing more started, and added up when resumed."""

from decimal import Decimal
from pathlib import Path

import aiohttp

from builders import a_bill
from builders_gateway import A_MESSAGE
from builders_local import FakePhases, Stage, a_folder, a_planned_run, ending, grading
from fakes.provider import json_reply, running_provider
from proctor.api.orders import TrialRef
from proctor.api.usage import RUN_BUDGET, RunSpending
from proctor.gateway.providers import FixedKey, Provider
from proctor.local.gateway import open_gateway
from proctor.wire.formats import ANTHROPIC_MESSAGES

MODEL = "claude-sonnet-4-5"
"""100 input and 20 output tokens of it cost 0.0006 US dollars."""
TASKS = [
    {"name": f"t{n}", "prompt": "x", "criteria": [{"type": "file_exists", "path": "a"}]}
    for n in range(4)
]


def a_run(usd: float, parallelism: int = 1):
    agent = {"type": "mini", "model": MODEL}
    return a_planned_run(parallelism=parallelism, agent=agent, tasks=TASKS, budget={"usd": usd})


async def test_no_trial_starts_once_the_budget_is_used_up(tmp_path: Path) -> None:
    stage = Stage(a_run(1.0), tmp_path)

    def spend(order):
        stage.gateway.spent = RunSpending(calls=1, cost_usd=Decimal("1.25"))
        return ending(0)(order)

    stage.phases = FakePhases({"agent": spend})
    file = await stage.play()
    assert [line.outcome for line in file.trials] == ["Passed", *["Cancelled"] * 3]
    assert "spec.budget.usd" in file.trials[1].reason
    conditions = {one.type: one.status for one in file.status.conditions}
    assert conditions["BudgetExceeded"] == "True"
    assert file.status.trials.cancelled == 3
    assert stage.reporter.progress[-1].budget_usd == 1


async def test_a_resumed_run_with_a_larger_budget_goes_on(tmp_path: Path) -> None:
    refusing = {"grade": grading(bill=a_bill(cost_usd=Decimal(1), refused=RUN_BUDGET))}
    first = await Stage(a_run(1.0), tmp_path, FakePhases(refusing)).play()
    assert [line.outcome for line in first.trials] == ["Passed", *["Cancelled"] * 3]
    again = Stage(a_run(9.0), tmp_path)
    again.loop.resume()
    second = await again.play()
    assert {line.outcome for line in second.trials} == {"Passed"}


async def test_what_was_spent_before_is_spent_when_a_run_is_resumed(tmp_path: Path) -> None:
    run = a_run(0.0010)
    folder = a_folder(tmp_path, run)
    cell = next(iter(run.plan.cells.values()))
    statuses = []
    async with running_provider() as fake, aiohttp.ClientSession() as client:
        fake.replies = [json_reply(A_MESSAGE)]
        provider = Provider("fake", (ANTHROPIC_MESSAGES,), fake.url, FixedKey("k"))
        for number in range(3):
            async with open_gateway(run, folder, [provider]) as gateway:
                ref = TrialRef(run.name, f"t{number}", "default", 0, f"trial-{number}", 1)
                keys = gateway.admit(ref, cell)
                body = {"model": MODEL, "max_tokens": 9, "messages": []}
                url, headers = f"{gateway.url}/v1/messages", {"x-api-key": keys.agent}
                async with client.post(url, json=body, headers=headers) as response:
                    statuses.append(response.status)
                spent, bill = gateway.spending(), gateway.bill(f"trial-{number}", 1)
    assert statuses[:2] == [200, 200]
    assert statuses[2] >= 400
    assert bill is not None
    assert (spent.cost_usd, spent.calls, bill.refused) == (Decimal("0.0012"), 2, RUN_BUDGET)
