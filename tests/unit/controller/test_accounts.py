"""The ServiceAccount of trials gives them nothing, or no trial starts."""

import re
from pathlib import Path

import pytest

from builders_controller import NAMESPACE, World, run_body
from proctor.controller.accounts import CLOUD_IDENTITIES
from proctor.controller.cluster import SERVICE_ACCOUNTS, RefusedError

POLICIES = Path(__file__).parents[3] / "charts" / "proctor" / "templates" / "policies.yaml"


def an_account(**fields):
    metadata = {"name": "proctor-trial", "namespace": NAMESPACE, **fields.pop("metadata", {})}
    return {"metadata": metadata, **fields}


def progressing(world):
    (found,) = [c for c in world.run()["status"]["conditions"] if c["type"] == "Progressing"]
    return found["reason"], found["message"]


async def test_it_is_made_without_a_token():
    world = World()
    await world.apply(run_body())
    (account,) = world.cluster.bodies(SERVICE_ACCOUNTS)
    assert account["metadata"]["name"] == "proctor-trial"
    assert account["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("account", "named"),
    [
        pytest.param(
            {"metadata": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/a"}}},
            "eks.amazonaws.com/role-arn",
            id="aws",
        ),
        pytest.param(
            {"metadata": {"annotations": {"iam.gke.io/gcp-service-account": "a@b"}}},
            "iam.gke.io/gcp-service-account",
            id="google",
        ),
        pytest.param(
            {"metadata": {"annotations": {"azure.workload.identity/client-id": "1"}}},
            "azure.workload.identity/client-id",
            id="azure",
        ),
        pytest.param(
            {"metadata": {"labels": {"azure.workload.identity/use": "true"}}},
            "azure.workload.identity/use",
            id="azure-by-label",
        ),
        pytest.param(
            {"imagePullSecrets": [{"name": "registry"}]}, "imagePullSecrets registry", id="pull"
        ),
        pytest.param({"secrets": [{"name": "mine"}]}, "secrets mine", id="secret"),
    ],
)
async def test_what_it_must_not_carry_is_named_with_the_remedy(account, named):
    world = World()
    world.cluster.plant(SERVICE_ACCOUNTS, an_account(**account))
    await world.apply(run_body())
    assert world.pods() == []
    reason, message = progressing(world)
    assert reason == "ServiceAccountUnfit"
    assert named in message
    assert "delete the ServiceAccount" in message


async def test_the_run_goes_on_when_it_was_put_right():
    world = World()
    world.cluster.plant(SERVICE_ACCOUNTS, an_account(secrets=[{"name": "mine"}]))
    await world.apply(run_body())
    world.cluster.delete_now((SERVICE_ACCOUNTS.plural, NAMESPACE, "proctor-trial"))
    await world.later(20)
    assert len(world.pods()) == 1


async def test_nobody_puts_it_right_and_the_run_ends_with_the_reason():
    world = World()
    world.cluster.plant(SERVICE_ACCOUNTS, an_account(secrets=[{"name": "mine"}]))
    await world.apply(run_body(failurePolicy={"pendingTimeoutSeconds": 60}))
    for _ in range(3):
        await world.later(16)
        assert world.condition("Complete")[0] == "False"
    await world.later(16)
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    (failing,) = world.run()["status"]["failing"]
    assert failing["outcome"] == "InfraFailed"
    assert failing["reason"].startswith("ServiceAccountUnfit: ServiceAccount proctor-trial")
    assert "secrets mine" in failing["reason"]
    assert world.run()["status"]["trials"]["errored"] == 1


async def test_one_that_was_put_right_is_not_blamed_for_what_keeps_the_run_waiting_after_it():
    world = World()
    world.cluster.plant(SERVICE_ACCOUNTS, an_account(secrets=[{"name": "mine"}]))
    await world.apply(run_body(failurePolicy={"pendingTimeoutSeconds": 60}))
    world.cluster.delete_now((SERVICE_ACCOUNTS.plural, NAMESPACE, "proctor-trial"))

    def refuse(verb, kind, body):
        if (verb, kind.plural) == ("create", "pods"):
            raise RefusedError(403, "Forbidden", "pods is forbidden: exceeded quota: team")

    world.cluster.before_write = refuse
    for _ in range(6):
        await world.later(16)
    assert progressing(world)[0] == "QuotaExceeded"
    assert world.condition("Complete")[0] == "False"


async def test_one_that_somebody_removes_is_made_again_before_the_next_trial():
    world = World()
    await world.apply(run_body(repeats=2, parallelism=1))
    world.cluster.delete_now((SERVICE_ACCOUNTS.plural, NAMESPACE, "proctor-trial"))

    def admit(verb, kind, body):
        if (verb, kind.plural) == ("create", "pods") and not world.cluster.bodies(SERVICE_ACCOUNTS):
            name = body["metadata"]["name"]
            raise RefusedError(
                403,
                "Forbidden",
                f'pods "{name}" is forbidden: error looking up service account team/proctor-trial: '
                'serviceaccount "proctor-trial" not found',
            )

    world.cluster.before_write = admit
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert progressing(world)[0] == "ServiceAccountUnfit"
    await world.later(16)
    assert len(world.cluster.bodies(SERVICE_ACCOUNTS)) == 1
    assert [trial["spec"]["repeat"] for trial in world.trials()] == [0, 1]
    assert world.run()["status"]["trials"]["errored"] == 0
    names = {pod["metadata"]["labels"]["proctor.dev/trial"] for pod in world.pods()}
    assert world.trials()[1]["metadata"]["name"] in names


async def test_it_is_looked_at_again_for_each_run():
    world = World()
    await world.apply(run_body())
    world.cluster.delete_now((SERVICE_ACCOUNTS.plural, NAMESPACE, "proctor-trial"))
    world.cluster.plant(SERVICE_ACCOUNTS, an_account(secrets=[{"name": "mine"}]))
    second = run_body()
    second["metadata"]["name"] = "second"
    await world.apply(second)
    assert {pod["metadata"]["labels"]["proctor.dev/run"] for pod in world.pods()} == {"run"}


async def test_secrets_that_openshift_makes_for_every_account_are_no_fault():
    world = World()
    name = "proctor-trial-dockercfg-x7abc"
    account = an_account(imagePullSecrets=[{"name": name}], secrets=[{"name": name}])
    world.cluster.plant(SERVICE_ACCOUNTS, account)
    await world.apply(run_body())
    assert len(world.pods()) == 1


def test_the_charts_policy_refuses_the_same_identities():
    text = POLICIES.read_text()
    found = re.search(r'toJson \(list (("[^"]*/" ?)+)\)', text)
    assert tuple(re.findall(r'"([^"]*)"', found[1])) == CLOUD_IDENTITIES
