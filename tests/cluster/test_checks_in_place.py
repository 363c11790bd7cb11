"""`sandbox.checks: InPlace` on a real pod: the machine is checked, and its agent learns nothing."""

from cluster.kube import a_command_run, the_trial

HIDDEN = {"files": [{"path": "expected.txt", "content": "forty-two"}]}


def in_place(command, *criteria, **sandbox):
    return a_command_run(
        command, *criteria, reference=HIDDEN, sandbox={"checks": "InPlace", **sandbox}
    )


def test_what_the_agent_changed_on_the_machine_is_checked_there(baseline, images):
    spec = in_place(
        "echo forty-two > /etc/answer; ln -s /etc/answer /usr/local/bin/answer",
        {"type": "run_command", "command": 'diff -Z /etc/answer "$REFERENCE_DIR/expected.txt"'},
        {"type": "run_command", "command": "cat /usr/local/bin/answer; id -u",
         "expectedStdout": "forty-two\n0"},
        image=images["testbed"],
        user="Image",
    )  # fmt: skip
    status = the_trial(baseline, "machine", spec)
    assert status["outcome"] == "Passed", status
    (pod,) = [
        one
        for one in baseline.list("pods")
        if one["metadata"]["labels"].get("proctor.dev/run") == "machine"
    ] or [None]
    assert pod is None or "checks" not in {one["name"] for one in pod["spec"]["initContainers"]}


def test_commands_get_hidden_files_and_data_criteria_what_the_agent_left(kube):
    spec = in_place(
        "echo guess > answer.txt; sleep 300 & (setsid sleep 300 &)",
        {"type": "run_command", "command": 'cp "$REFERENCE_DIR/expected.txt" answer.txt'},
        {"type": "run_command", "command": "cat answer.txt", "expectedStdout": "forty-two"},
        {"type": "run_command", "command": "! ps -A -o comm= | grep sleep"},
        {"type": "file_contains", "path": "answer.txt", "includes": ["guess"]},
    )
    status = the_trial(kube, "hand-over", spec)
    assert status["outcome"] == "Passed", status


def test_an_agent_that_asks_floods_and_impersonates_loop_learns_nothing(kube):
    spy = r"""
import glob, os, socket, threading, time
def take(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
said = b"".join(take(path) for path in glob.glob("/var/run/proctor/loop/*"))
said += b"".join(take(path) for path in glob.glob("/scratch/*"))
for host in ("127.0.0.1", socket.gethostbyname(socket.gethostname())):
    for line in (b"", b"\n", b"0" * 32 + b" " + b"0" * 64 + b"\n", b"x" * 100000):
        try:
            with socket.create_connection((host, 61117), timeout=3) as loop:
                loop.sendall(line)
                said += loop.recv(100000)
        except OSError:
            pass
for host in ("127.0.0.1", "0.0.0.0"):
    try:
        with socket.create_server((host, 61117)):
            open("bound", "a").write(host)
    except OSError:
        pass
held = []
for _ in range(300):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", 61117))
    held.append(s)
open("said", "wb").write(said)
"""
    spec = in_place(
        "python3 spy.py; true",
        {"type": "run_command", "command": "! grep -r forty-two said; cat said | wc -c",
         "expectedStdout": "0"},
        {"type": "run_command", "command": "test -e said && test ! -e bound"},
        {"type": "run_command", "command": 'cat "$REFERENCE_DIR/expected.txt"',
         "expectedStdout": "forty-two"},
    )  # fmt: skip
    spec["tasks"][0]["workspace"] = {"files": [{"path": "spy.py", "content": spy}]}
    status = the_trial(kube, "spy", spec)
    assert status["outcome"] == "Passed", status
