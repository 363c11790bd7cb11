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
from proctor.api.egress_pass import EgressPass
from proctor.api.orders import ArtifactsOrder
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


PASS = EgressPass("a-trial", 1, ("pypi.org",), 2_000_000_000).signed(b"k" * 48)
SHOW_PASS = (
    "echo $HTTPS_PROXY | tee proxy.txt; p=${https_proxy#http://}; p=${p%@*}; "
    "echo Proxy-Authorization: Basic $(printf %s $p | base64 -w0) | tee header.txt"
)


@pytest.fixture
def by_proxy(tmp_path):
    """Arguments of a phase that has a pass for the egress proxy."""
    (tmp_path / "pass").write_text(f"{PASS}\n")
    return ("--egress-proxy", "http://proxy.test:3128", "--egress-pass-file", f"{tmp_path}/pass")


def header(of):
    """What a client makes of the pass, without its two ends."""
    return base64.b64encode(f"proctor:{of}".encode()).decode()[16:-8]


def test_the_pass_for_the_egress_proxy_is_used_and_not_kept_in_transcripts_and_logs(
    folders, by_proxy
):
    orders = agent_orders(f"{SHOW_PASS}; mkfifo $p", pre_run=(a_shell("echo $HTTPS_PROXY"),))

    ended = folders.agent(orders, *by_proxy)

    assert (folders.workspace / "proxy.txt").read_text().strip().endswith("@proxy.test:3128")
    assert PASS in (folders.workspace / "proxy.txt").read_text()
    kept = written(folders.agent_evidence).decode() + ended.out + ended.err
    assert PASS not in kept
    assert header(PASS) not in kept
    assert "http://proctor:[redacted:egress pass]@proxy.test:3128" in kept


def test_grade_takes_the_pass_out_of_verdict_log_record_and_artifacts(folders, by_proxy):
    assert folders.agent(agent_orders(f"{SHOW_PASS}; mkfifo $p"), *by_proxy).code == 0
    commands = some_commands("echo $HTTPS_PROXY; cat header.txt >&2; exit 1")
    checked = folders.checks(checks_orders(commands), *by_proxy)
    assert "left out [redacted:egress pass]" in checked.out.replace("proctor:", "")
    assert PASS not in checked.out + checked.err

    orders = grade_orders(run_command("x"), artifacts=ArtifactsOrder(("*.txt",), 1 << 20))
    ended = folders.grade(orders, *by_proxy[2:])

    assert ended.code == 0, ended.err
    record = written(folders.record).decode()
    for text in (record, ended.out, ended.err, folders.verdict_file.read_text()):
        assert PASS not in text
        assert header(PASS) not in text
    kept = (folders.record / "artifacts" / "proxy.txt").read_text()
    assert kept == "http://proctor:[redacted:egress pass]@proxy.test:3128\n"
    checks = json.loads((folders.record / "evidence" / "checks.json").read_text())
    for stream in ("stdout", "stderr"):
        said = base64.b64decode(checks["results"]["0"][0][stream]).decode(errors="replace")
        assert said
        assert PASS not in said
        assert header(PASS) not in said


def test_checks_in_place_and_loop_do_not_name_the_pass_either(folders, by_proxy):
    script = f"{SHOW_PASS}; mkfifo $p; ln -s /proc ${{p}}-link"
    orders = checks_orders(some_commands("echo $HTTPS_PROXY"))

    with folders.loop(orders, *by_proxy[2:]) as loop:
        ended = folders.agent(agent_orders(script), *loop, *by_proxy)

    said = (folders.root / "loop.log").read_text()
    assert "left out proctor:[redacted:egress pass]" in said
    assert "taken away proctor:[redacted:egress pass]-link" in ended.out
    assert PASS not in said + ended.out + ended.err


def test_without_the_pass_grade_would_have_kept_it(folders, by_proxy):
    """So that the test above can fail."""
    folders.agent(agent_orders(SHOW_PASS), *by_proxy)

    folders.grade(grade_orders(artifacts=ArtifactsOrder(("*.txt",), 1 << 20)))

    assert PASS in (folders.record / "artifacts" / "proxy.txt").read_text()
    assert header(PASS) in (folders.record / "artifacts" / "header.txt").read_text()
