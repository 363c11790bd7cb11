"""What a pod and a status say of the Secrets that an agent is given."""

from builders_controller import COMMAND_TASK, MINI, World, container, first_pod, run_body

SECRET_ENV = [{"name": "TOOL_TOKEN", "secretRef": {"name": "tools", "key": "token"}}]
AGENT = {"type": "command", "options": {"command": "true"}, "secretEnv": SECRET_ENV}
GIVEN = [
    {
        "name": "PROCTOR_SECRET_TOOL_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": "tools", "key": "token"}},
    }
]


def test_a_secret_is_given_to_the_agent_and_to_grade_which_takes_it_out():
    pod = first_pod(agent={**MINI, "secretEnv": SECRET_ENV}, tasks=[COMMAND_TASK])
    envs = {name: container(pod, name).get("env") for name in ("stage", "agent", "checks", "grade")}
    assert envs == {"stage": None, "agent": GIVEN, "checks": None, "grade": GIVEN}


async def test_the_status_names_each_secret():
    world = World()
    await world.apply(run_body(agent=AGENT))
    assert world.run()["status"]["secrets"] == [
        {"name": "tools", "key": "token", "variable": "TOOL_TOKEN"}
    ]


async def test_a_secret_that_does_not_exist_is_named_with_the_remedy():
    world = World()
    await world.apply(run_body(agent=AGENT))
    (pod,) = world.pods()
    world.kubelet.waiting(
        pod["metadata"]["name"], "agent", "CreateContainerConfigError", 'secret "tools" not found'
    )
    await world.settle()
    assert world.condition("Progressing") == ("False", "SecretMissing")
    (message,) = [
        one["message"]
        for one in world.run()["status"]["conditions"]
        if one["type"] == "Progressing"
    ]
    assert 'secret "tools" not found' in message
    assert "create it in the run's namespace" in message
