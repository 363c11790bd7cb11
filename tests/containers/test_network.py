"""A container reaches the gateway, and nothing else of this machine or beyond it."""

import json
import shlex
import subprocess
from urllib.request import urlopen

import pytest

from containers.listening import listening

GATEWAY = "http://127.0.0.1:61118"


def addresses():
    """Of this machine, from outside and from inside."""
    found = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True)
    return ["127.0.0.1", *found.stdout.split()]


ASK = """
import socket, sys
print("tried")
for host in sys.argv[2:]:
    try:
        with socket.create_connection((host, int(sys.argv[1])), timeout=3) as server:
            server.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
            print(host, server.makefile().read())
    except OSError as error:
        print(host, type(error).__name__)
"""
"""The runner's own Python is in every container."""

PYTHON = "/proctor/bin/python3"
CLOSED = [
    {"type": "file_contains", "path": "made.txt", "includes": ["tried"], "excludes": ["reached"]}
]


@pytest.mark.parametrize("mode", ["ModelOnly", "None"])
def test_nothing_of_this_machine_is_reached(proctor, podman, mode):
    with listening() as (port, came):
        asking = ("-c", ASK, str(port), *addresses(), "host.containers.internal")
        on_host = ("run", "--rm", "--network=host", f"--entrypoint={PYTHON}", proctor.runner)
        assert "reached" in podman(*on_host, *asking)  # so that it can be reached at all
        before = len(came)
        command = f"{shlex.join((PYTHON, *asking))} > made.txt"
        manifest = proctor.manifest(command, CLOSED, sandbox={"egress": {"mode": mode}})
        assert proctor.trial(manifest)["outcome"] == "Passed"
        assert len(came) == before


@pytest.mark.parametrize(
    ("mode", "answer"),
    [pytest.param("ModelOnly", "model", id="model-only"), pytest.param("None", "no", id="none")],
)
def test_gateway_is_reached_in_mode_model_only_alone(proctor, mode, answer):
    messages = [{"role": "user", "content": "x"}]
    body = json.dumps({"model": "claude-haiku-4-5", "max_tokens": 9, "messages": messages})
    ask = (
        f"wget -q -O - --header 'Content-Type: application/json' --header 'anthropic-version: 1' "
        f"--header \"x-api-key: $ANTHROPIC_API_KEY\" --post-data '{body}' {GATEWAY}/v1/messages"
    )
    command = f"if {ask} > reply; then grep -q hi reply && echo model; else echo no; fi > made.txt"
    criteria = [{"type": "file_contains", "path": "made.txt", "includes": [answer]}]
    manifest = proctor.manifest(command, criteria, sandbox={"egress": {"mode": mode}})
    trial = proctor.trial(manifest)
    assert trial["outcome"] == "Passed", (proctor.work / "frozen/workspace/made.txt").read_text()


def test_checks_reach_neither_gateway_nor_machine(proctor):
    with listening() as (port, came):
        with urlopen(f"http://127.0.0.1:{port}/", timeout=5) as reply:
            assert reply.read() == b"reached\n"
        asks = [shlex.join((PYTHON, "-c", ASK, str(one), "127.0.0.1")) for one in (port, 61118)]
        closed = " && ".join(f"{ask} | grep ConnectionRefused" for ask in asks)
        criteria = [{"type": "run_command", "command": f"{closed} && ! test -e /var/run/proctor"}]
        assert proctor.trial(proctor.manifest("true", criteria))["outcome"] == "Passed"
        assert len(came) == 1
