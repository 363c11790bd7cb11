"""The phase ``agent`` from its command line to its evidence, as a real process."""

import pytest

from builders_runner import a_file, a_shell, agent_orders
from proctor.api.report import EXIT_NOT_STARTED
from proctor.api.usage import Bill


def test_honest_agent_leaves_its_files_a_report_and_a_transcript(folders):
    ended = folders.agent(agent_orders("cat in.txt > out.txt", files=(a_file("in.txt", "hello"),)))

    assert ended.code == 0, ended.err
    report = folders.agent_report()
    assert (report.status, report.started, report.turns) == ("completed", True, 3)
    assert (folders.workspace / "out.txt").read_text() == "hello"
    assert [event["event"] for event in folders.events()] == ["AgentStart", "AgentEnd"]


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_text("secret-1\n")
    return path


def test_the_agents_key_ends_with_the_agent(folders, gateway, key):
    url = gateway(Bill(), key="secret-1")

    ended = folders.agent(agent_orders("true"), "--gateway", url, "--key-file", str(key))

    assert (ended.code, gateway.closed) == (0, [204])
    assert "stays open" not in ended.out


def test_a_key_that_cannot_be_ended_is_told_and_not_shown(folders, gateway, key):
    url = gateway(Bill(), key="another")

    ended = folders.agent(agent_orders("true"), "--gateway", url, "--key-file", str(key))

    assert (ended.code, gateway.closed) == (0, [401])
    assert "the agent's account at the gateway stays open until grade: 401" in ended.out
    assert "secret-1" not in ended.out


def test_a_key_that_no_agent_had_is_left_alone(folders, gateway, key):
    url = gateway(Bill(), key="secret-1")

    folders.agent(agent_orders(agent="none"), "--gateway", url, "--key-file", str(key))

    assert gateway.closed == []


def test_agent_gets_the_gateway_under_the_names_that_clients_look_for(folders, gateway, key):
    url = gateway(Bill(), key="secret-1")
    script = 'echo "$ANTHROPIC_BASE_URL $ANTHROPIC_API_KEY $OPENAI_BASE_URL $PROCTOR_MODEL" > env'
    orders = agent_orders(script, model="m-1")

    ended = folders.agent(orders, "--gateway", f"{url}/", "--key-file", str(key))

    assert ended.code == 0, ended.err
    expected = f"{url} secret-1 {url}/v1 m-1\n"
    assert (folders.workspace / "env").read_text() == expected


def test_agent_lives_in_its_home_without_the_runners_variables(folders):
    folders.agent(agent_orders('echo "$HOME $USER $PWD ${PATH%%:*}" > env'))

    home, workspace = folders.home, folders.workspace
    expected = f"{home} agent {workspace} {home}/.local/bin\n"
    assert (folders.workspace / "env").read_text() == expected


def test_pre_run_prepares_the_workspace_and_its_services_live_on_for_the_agent(folders):
    service = a_shell("mkfifo pipe; (echo served > pipe) >/dev/null 2>&1 &")
    folders.agent(agent_orders("cat pipe > got; rm pipe", pre_run=(service,)))

    assert (folders.workspace / "got").read_text() == "served\n"
    assert [one.exit_code for one in folders.agent_report().pre_run] == [0]


def test_pre_run_that_fails_is_a_setup_that_failed_and_starts_no_agent(folders):
    orders = agent_orders("touch started", pre_run=(a_shell("echo no such package >&2; exit 4"),))

    assert folders.agent(orders).code == 0
    report = folders.agent_report()
    assert (report.status, report.started) == ("setup_failed", False)
    assert "exit code 4" in report.reason
    assert "no such package" in report.reason
    assert not (folders.workspace / "started").exists()


def test_pre_run_that_may_fail_does_not_keep_the_agent_from_starting(folders):
    folders.agent(agent_orders(pre_run=(a_shell("exit 4", must_succeed=False),)))

    assert folders.agent_report().status == "completed"


def test_agent_none_gets_its_files_and_is_not_run(folders):
    orders = agent_orders("touch started", agent="none", files=(a_file("a/b.txt", "x"),))

    assert folders.agent(orders).code == 0
    assert folders.agent_report().status == "not_run"
    assert (folders.workspace / "a/b.txt").read_text() == "x"
    assert not (folders.workspace / "started").exists()


@pytest.mark.parametrize(
    ("adapter", "status", "reason"),
    [
        pytest.param("RaisingAgent", "crashed", "adapter is broken", id="raises"),
        pytest.param("ExitingAgent", "crashed", "SystemExit", id="exits"),
        pytest.param("HangingAgent", "timeout", "no answer", id="hangs-and-swallows-cancellation"),
    ],
)
def test_adapter_that_misbehaves_ends_as_the_agents_failure(folders, adapter, status, reason):
    orders = agent_orders(adapter=f"script_agent:{adapter}", turn_timeout_seconds=1)

    assert folders.agent(orders).code == 0
    report = folders.agent_report()
    assert (report.status, report.started) == (status, True)
    assert reason in report.reason
    assert folders.events()[-1]["event"] == "AgentEnd"


def test_adapter_that_blocks_the_event_loop_has_timed_out(folders):
    orders = agent_orders(adapter="script_agent:BlockingAgent", task_timeout_seconds=1)

    assert folders.agent(orders).code == 0
    assert folders.agent_report().status == "timeout"
    assert "blocked" in folders.agent_report().reason


def test_adapter_that_cannot_be_imported_is_a_setup_that_failed(folders):
    assert folders.agent(agent_orders(adapter="no_such_module:Agent")).code == 0

    report = folders.agent_report()
    assert (report.status, report.started) == ("setup_failed", False)
    assert "no_such_module" in report.reason


def test_agent_that_takes_too_long_has_timed_out(folders):
    folders.agent(agent_orders("sleep 60", turn_timeout_seconds=1))

    assert folders.agent_report().status == "timeout"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param("workspace", "is used already", id="used-workspace"),
        pytest.param("orders", "version 99", id="orders-of-another-version"),
        pytest.param("gateway", "gateway", id="no-such-gateway-key"),
    ],
)
def test_faults_before_anything_ran_have_an_exit_code_of_their_own(folders, spoil, message):
    more = []
    orders = agent_orders()
    if spoil == "workspace":
        folders.workspace.mkdir()
        (folders.workspace / "left.txt").touch()
    elif spoil == "orders":
        orders = agent_orders(version=99)
    else:
        more = ["--key-file", str(folders.root / "gateway-key-is-missing")]

    ended = folders.agent(orders, *more)

    assert ended.code == EXIT_NOT_STARTED
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_lost_and_found_does_not_make_a_workspace_used(folders):
    (folders.workspace / "lost+found").mkdir(parents=True)

    assert folders.agent(agent_orders()).code == 0


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("../out.txt", id="parent"),
        pytest.param("/tmp/out.txt", id="absolute"),
        pytest.param("a/../../out.txt", id="inner-parent"),
    ],
)
def test_ordered_file_outside_the_workspace_fails_the_setup(folders, path):
    assert folders.agent(agent_orders(files=(a_file(path),))).code == 0

    assert folders.agent_report().status == "setup_failed"


def test_later_file_replaces_an_earlier_one_and_executables_can_run(folders):
    files = (a_file("run", "#!/bin/sh\nexit 1\n"), a_file("run", "#!/bin/sh\n", executable=True))

    folders.agent(agent_orders("./run", files=files))

    assert folders.agent_report().status == "completed"


def test_transcript_is_bounded_and_keeps_its_end(folders):
    orders = agent_orders(adapter="script_agent:TalkativeAgent")

    folders.agent(orders)

    assert (folders.agent_evidence / "transcript.jsonl").stat().st_size < 9 * 2**20
    events = folders.events()
    assert [event["event"] for event in events[-2:]] == ["AgentEnd", "Truncated"]
    assert events[-1]["dropped"] > 0
