"""Checks in the agent's own container: hidden orders come from ``loop``, and only then."""

import json
import socket
import threading

import pytest

from builders_runner import (
    a_file,
    agent_orders,
    checks_orders,
    file_contains,
    file_exists,
    grade_orders,
    run_command,
    some_commands,
)
from proctor.runner.handover import HandoverError, answer, ask, nonce_of, request

HIDDEN = a_file("expected.txt", "forty-two")
SECRET = b"known to both"


def in_place(folders, script, checks, grade=None):
    """Agent with loop beside it, then grade; the agent's end."""
    with folders.loop(checks) as loop:
        ended = folders.agent(agent_orders(script), *loop)
    assert ended.code == 0, ended.err
    if grade is not None:
        evidence = ("--checks-evidence", str(folders.agent_evidence))
        graded = folders.grade(grade, *evidence, "--kept", str(folders.kept))
        assert graded.code == 0, graded.err
    return ended


def report(folders):
    return json.loads((folders.agent_evidence / "checks.json").read_bytes())


def test_commands_run_in_the_agents_own_workspace_with_hidden_files_beside_them(folders):
    line = 'cat left; cat "$REFERENCE_DIR/expected.txt"; echo "$HOME"'
    checks = checks_orders(some_commands(line), reference=(HIDDEN,))
    in_place(folders, "echo mine > left", checks, grade_orders(run_command(line)))

    assert folders.verdict().score == 1
    body = json.loads((folders.record / "evidence" / "checks.json").read_bytes())
    assert body["setup_failed"] is None
    assert list(folders.scratch.glob("*/*")) == []


def test_what_the_agent_left_in_the_background_is_dead_before_hidden_files_come(folders):
    spy = f'(setsid sh -c "while :; do cat {folders.scratch}/*/* >> stolen; done" &) >&-'
    checks = checks_orders(some_commands("sleep 0.3"), reference=(HIDDEN,))
    in_place(folders, f"{spy} 2>&-", checks)

    stolen = folders.workspace / "stolen"
    assert not stolen.exists() or stolen.read_text() == ""


def test_a_trojan_that_copies_the_answer_changes_nothing_that_is_graded_as_data(folders):
    line = 'cp "$REFERENCE_DIR/expected.txt" answer.txt'
    checks = checks_orders(some_commands(line), reference=(HIDDEN,))
    criteria = (run_command(line), file_contains("answer.txt", "forty-two"))
    in_place(folders, "echo guess > answer.txt", checks, grade_orders(*criteria))

    assert (folders.workspace / "answer.txt").read_text() == "forty-two"
    assert folders.verdict().scores == (1, 0)


def test_a_link_to_where_hidden_files_will_lie_leads_nowhere(folders):
    link = f"ln -s {folders.scratch}/reference/expected.txt answer.txt"
    checks = checks_orders(some_commands("cat answer.txt"), reference=(HIDDEN,))
    in_place(folders, link, checks)

    (result,) = report(folders)["results"]["0"]
    assert (result["exit_code"], result["stdout"]) == (1, "")


def test_the_agent_finds_no_secret_and_cannot_make_loop_talk(folders):
    script = """
        ls -A "$HANDSHAKE" > seen
        for n in 1 2 3; do python3 - <<'END'
import os, socket
with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as loop:
    loop.sendall(b"0" * 32 + b" " + b"0" * 64 + b"\\n")
    open("said", "ab").write(loop.recv(1000))
END
        done
    """
    checks = checks_orders(some_commands("true"), reference=(HIDDEN,))
    with folders.loop(checks) as loop:
        env = {"PORT": loop[1], "HANDSHAKE": str(folders.handshake)}
        folders.agent(agent_orders(script, env=env), *loop)

    assert (folders.workspace / "seen").read_text() == ""
    assert (folders.workspace / "said").read_bytes() == b""
    assert report(folders)["setup_failed"] is None


def test_a_socket_leads_to_loop_where_there_is_no_common_network(folders, tmp_path):
    """The agent floods it from the background, up to its own end, and gets nothing."""
    at = tmp_path / "loop.sock"
    script = """
        cat > flood.py <<'END'
import os, socket
print(flush=True)
while True:
    loop = socket.socket(socket.AF_UNIX)
    loop.settimeout(0.1)
    try:
        loop.connect(os.environ["AT"])
        loop.sendall(b"0" * 32 + b" " + b"0" * 64 + b"\n")
        open("said", "ab").write(loop.recv(1000))
    except OSError:
        pass
END
        mkfifo started
        setsid python3 flood.py > started &
        read line < started
    """
    checks = checks_orders(some_commands('cat "$REFERENCE_DIR/expected.txt"'), reference=(HIDDEN,))
    with folders.loop(checks, at=at) as loop:
        ended = folders.agent(agent_orders(script, env={"AT": str(at)}), *loop)

    assert ended.code == 0, ended.err
    (result,) = report(folders)["results"]["0"]
    assert result["exit_code"] == 0
    said = folders.workspace / "said"
    assert not said.exists() or said.read_bytes() == b""


def test_loop_that_is_gone_means_that_nothing_is_checked_and_the_agent_gets_nothing(folders):
    checks = checks_orders(some_commands("true"))
    with folders.loop(checks) as loop:
        pass
    (folders.handshake / "secret").write_bytes(SECRET)
    with socket.create_server(("127.0.0.1", int(loop[1]))) as squatter:
        threading.Thread(target=_talk_nonsense, args=(squatter,), daemon=True).start()
        assert folders.agent(agent_orders("echo x > x"), *loop).code == 0
    criteria = (run_command("true"), file_exists("x"))
    evidence = ("--checks-evidence", str(folders.agent_evidence), "--kept", str(folders.kept))
    folders.grade(grade_orders(*criteria), *evidence)

    assert folders.verdict().scores == (0, 1)
    assert "loop" in report(folders)["setup_failed"]


def test_loop_that_was_started_again_hands_over_nothing(folders):
    checks = checks_orders(some_commands("true"))
    with folders.loop(checks) as loop:
        _wait_for(folders.handshake / "secret")
    secret = (folders.handshake / "secret").read_bytes()
    with folders.loop(checks) as loop, pytest.raises(HandoverError, match="did not answer"):
        ask(int(loop[1]), secret, connect_seconds=1)


def test_somebody_else_on_the_port_cannot_give_orders():
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        threading.Thread(target=_forge, args=(squatter,), daemon=True).start()
        with pytest.raises(HandoverError, match="somebody else"):
            ask(squatter.getsockname()[1], SECRET)


def test_an_answer_belongs_to_one_request():
    nonce = b"0" * 32
    assert nonce_of(request(SECRET, nonce), SECRET) == nonce
    assert nonce_of(request(b"a guess", nonce), SECRET) is None
    assert answer(SECRET, nonce, b"{}") != answer(SECRET, b"1" * 32, b"{}")


def _talk_nonsense(server):
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.close()


def _forge(server):
    connection, _ = server.accept()
    with connection:
        line = connection.recv(1000)
        connection.sendall(answer(b"another secret", line[:32], b'{"commands": []}'))


def _wait_for(path):
    for _ in range(1000):
        if path.exists():
            return
        threading.Event().wait(0.02)
    raise AssertionError(f"{path} never came")
