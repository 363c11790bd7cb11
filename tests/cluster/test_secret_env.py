"""A Secret reaches the agent by name, and nothing that can be read afterwards by value."""

import base64
import json

from cluster.kube import SMALL

VALUE = "s3cr3t/of+the-cluster=test"
FILE_VALUE = "another-s3cr3t-in-a-file"
ENV = [{"name": "TOOL_TOKEN", "secretRef": {"name": "tools", "key": "token"}}]
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "tools"},
    "stringData": {"token": VALUE, "pin": "1234", "file": FILE_VALUE},
}
LEAK = (
    "env | sort; echo $TOOL_TOKEN | base64; cat /certs/file; "
    "echo $TOOL_TOKEN > leak.txt; cat /certs/file >> leak.txt; "
    "cat /var/run/proctor/agent/token"
)


def a_run(env, command=LEAK, **sandbox):
    return {
        "agent": {"type": "command", "options": {"command": command}, "secretEnv": env},
        "tasks": [
            {
                "name": "leaking",
                "prompt": "do it",
                "criteria": [
                    {"type": "file_contains", "path": "leak.txt", "includes": ["s3cr3t"]},
                    {"type": "run_command", "command": "cat leak.txt", "expectedStdout": "no"},
                ],
            }
        ],
        "limits": {"taskTimeoutSeconds": 60, "gradeTimeoutSeconds": 60},
        "sandbox": {**SMALL, **sandbox},
    }


def everything_readable(kube, run):
    """All that somebody who may read the namespace, and no Secrets, finds of a run."""
    pods = kube.list("pods", f"--selector=proctor.dev/run={run}")
    logs = [kube("logs", pod["metadata"]["name"], "--all-containers", "--prefix") for pod in pods]
    kinds = "pods,evalruns,evaltrials,configmaps,events"
    return "\n".join([*logs, kube("get", kinds, "--output=yaml")])


def test_the_agent_has_its_secrets_and_nobody_reads_them_afterwards(kube):
    kube.apply(SECRET)
    volume = {"name": "certs", "secret": {"secretName": "tools"}, "mountPath": "/certs"}
    kube.run("leaking", a_run(ENV, podTemplate={"volumes": [volume]}))
    run = kube.finished("leaking")
    (trial,) = kube.trials("leaking")
    assert (trial["status"]["outcome"], trial["status"]["score"]) == ("Failed", "0.5"), trial
    assert run["status"]["secrets"] == [
        {"name": "tools", "key": "token", "variable": "TOOL_TOKEN"},
        {"name": "tools", "mountPath": "/certs"},
    ]
    found = everything_readable(kube, "leaking")
    assert "[redacted:" in found
    for value in (VALUE, FILE_VALUE):
        assert value not in found
        assert base64.b64encode(value.encode()).decode()[:24] not in found


def test_a_key_that_does_not_exist_is_named_within_a_minute(kube):
    kube.apply(SECRET)
    missing = [{"name": "A", "secretRef": {"name": "tools", "key": "nothing"}}]
    kube.run("missing", a_run(missing))
    kube.finished("missing")
    (trial,) = kube.trials("missing")
    assert trial["status"]["outcome"] == "InfraFailed"
    assert trial["status"]["reason"].startswith("SecretMissing"), trial["status"]
    assert "nothing" in trial["status"]["reason"]


def test_a_value_too_short_to_be_redacted_is_refused_before_the_agent_starts(kube):
    kube.apply(SECRET)
    short = [{"name": "PIN", "secretRef": {"name": "tools", "key": "pin"}}]
    kube.run("short", a_run(short, command="echo $PIN > leak.txt"))
    kube.finished("short")
    (trial,) = kube.trials("short")
    assert "score" not in trial["status"]
    assert "agent.secretEnv PIN" in trial["status"]["reason"]
    assert "1234" not in json.dumps(trial["status"])
