"""Secrets that an agent is given reach it, and nothing that is kept of it."""

import base64
import json

import pytest

from builders_runner import (
    a_shell,
    agent_orders,
    checks_orders,
    grade_orders,
    run_command,
    some_commands,
)
from proctor.api.report import EXIT_NOT_STARTED

VALUE = "s3cr3t/value+1"
SECRETS = {"TOOL_API_KEY": VALUE}
LEAK = "echo $TOOL_API_KEY; echo $TOOL_API_KEY | base64; echo $TOOL_API_KEY > leak.txt"


def written(folder):
    """All bytes below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_agent_and_its_pre_run_get_the_variable_under_its_own_name(folders):
    orders = agent_orders(
        "printf %s $TOOL_API_KEY > agent; env | grep -c ^PROCTOR_SECRET > ours || true",
        secret_env=("TOOL_API_KEY",),
        pre_run=(a_shell("printf %s $TOOL_API_KEY > before"),),
    )

    assert folders.agent(orders, secrets=SECRETS).code == 0
    assert (folders.workspace / "agent").read_text() == VALUE
    assert (folders.workspace / "before").read_text() == VALUE
    assert (folders.workspace / "ours").read_text() == "0\n"


def test_what_the_agent_says_of_its_secret_is_not_kept(folders):
    orders = agent_orders(
        LEAK, secret_env=("TOOL_API_KEY",), pre_run=(a_shell("echo $TOOL_API_KEY"),)
    )

    ended = folders.agent(orders, secrets=SECRETS)

    assert VALUE not in ended.out + ended.err
    assert VALUE.encode() not in written(folders.agent_evidence)
    assert "[redacted:TOOL_API_KEY]" in folders.events()[-1]["output"]
    assert folders.agent_report().pre_run[0].output == "[redacted:TOOL_API_KEY]\n"


def test_the_agents_own_key_is_not_kept_in_its_transcript(folders, tmp_path, listener):
    key = tmp_path / "key"
    key.write_text("key-of-this-trial\n")
    orders = agent_orders("echo $ANTHROPIC_API_KEY; exit 3")

    folders.agent(orders, "--gateway", listener, "--key-file", str(key))

    assert b"key-of-this-trial" not in written(folders.agent_evidence)
    assert folders.events()[-1]["output"] == "[redacted:gateway key]\n"


def test_a_secret_that_comes_in_pieces_is_not_kept(folders):
    orders = agent_orders(adapter="script_agent:DribblingAgent", secret_env=("TOOL_API_KEY",))

    folders.agent(orders, secrets=SECRETS)

    texts = [event["text"] for event in folders.events() if event["event"] == "TextChunk"]
    assert "".join(texts) == "it is [redacted:TOOL_API_KEY] indeed"


@pytest.mark.parametrize("value", ["", "12345", " 1234 "])
def test_a_value_too_short_to_be_redacted_is_refused_before_the_agent_starts(folders, value):
    orders = agent_orders("touch started", secret_env=("PIN",))

    assert folders.agent(orders, secrets={"PIN": value}).code == 0
    report = folders.agent_report()
    assert (report.status, report.started) == ("setup_failed", False)
    assert "agent.secretEnv PIN: its value has" in report.reason
    assert not (folders.workspace / "started").exists()


def test_a_secret_that_the_pod_does_not_have_is_a_fault_of_ours(folders):
    ended = folders.agent(agent_orders(secret_env=("TOOL_API_KEY",)))
    assert ended.code == EXIT_NOT_STARTED


def test_grade_takes_secrets_out_of_verdict_log_and_record(folders):
    folders.agent(agent_orders(LEAK, secret_env=("TOOL_API_KEY",)), secrets=SECRETS)
    folders.checks(checks_orders(some_commands("cat leak.txt >&2; base64 leak.txt; exit 1")))

    ended = folders.grade(grade_orders(run_command("cat leak.txt")), secrets=SECRETS)

    assert ended.code == 0, ended.err
    assert "[redacted:TOOL_API_KEY]" in ended.out
    assert VALUE not in ended.out + ended.err
    assert VALUE not in folders.verdict_file.read_text()
    record = written(folders.record)
    assert VALUE.encode() not in record
    assert base64.b64encode(VALUE.encode())[:12] not in record
    checks = json.loads((folders.record / "evidence" / "checks.json").read_text())
    assert VALUE.encode() not in base64.b64decode(checks["results"]["0"][0]["stderr"])
