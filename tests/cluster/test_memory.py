"""Memory that an agent takes: its own loss, and nobody else's."""

from cluster.kube import a_command_run, the_trial

GREEDY = """
import time
kept = []
while True:
    kept.append(bytearray(4_000_000)); time.sleep(0.02)
"""
LITTLE = {"resources": {"cpu": "400m", "memory": "256Mi"}}


def test_a_greedy_child_is_ended_and_the_agent_goes_on(kube):
    spec = a_command_run(
        "setsid python3 greedy.py; echo $? > code",
        {"type": "file_contains", "path": "code", "includes": ["137"]},
        workspace={"files": [{"path": "greedy.py", "content": GREEDY}]},
        sandbox=LITTLE,
    )
    status = the_trial(kube, "greedy", spec)
    assert status["outcome"] == "Passed", status


def test_a_greedy_check_scores_0_and_the_next_one_is_run(kube):
    spec = a_command_run(
        "echo x > x",
        {"type": "run_command", "command": "exec python3 greedy.py", "weight": 0},
        {"type": "run_command", "command": "cat x", "expectedStdout": "x"},
        workspace={"files": [{"path": "greedy.py", "content": GREEDY}]},
        sandbox=LITTLE,
    )
    status = the_trial(kube, "greedy-check", spec)
    assert status["outcome"] == "Passed", status
    assert [one["score"] for one in status["criteria"]] == ["0", "1"]


def test_shared_memory_is_emptied_when_the_agent_ends(kube):
    spec = a_command_run(
        "head -c 40000000 /dev/zero > /dev/shm/big; ls /dev/shm > seen",
        {"type": "file_contains", "path": "seen", "includes": ["big"]},
        {"type": "run_command", "command": "ls -A /dev/shm", "expectedStdout": ""},
    )
    status = the_trial(kube, "shared", spec)
    assert status["outcome"] == "Passed", status
