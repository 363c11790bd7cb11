import subprocess
import sys

import pytest

from builders_runner import agent_orders, checks_orders, some_commands

LOOK = """
import os, sys
from proctor.runner import __main__ as runner
def say(code):
    looked_for = {"pydantic", "asyncio", "proctor.plugins", "dulwich", "urllib3"}
    print(code, *sorted(set(sys.modules) & looked_for))
    sys.stdout.flush(); real(code)
real, os._exit = os._exit, say
runner.main()
"""


def modules_after(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *arguments], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("0"), done.stdout + done.stderr
    return set(done.stdout.split()[1:])


def test_agent_phase_imports_no_pydantic(folders):
    orders = agent_orders(adapter="proctor.agents.command:CommandAgent", options={"argv": ["true"]})
    modules = modules_after(
        *("agent", "--orders", folders.orders("agent", orders.to_json())),
        *("--workspace", str(folders.workspace), "--home", str(folders.home)),
        *("--evidence", str(folders.agent_evidence)),
    )

    assert folders.agent_report().started
    assert modules == {"asyncio"}


def test_checks_phase_imports_neither_pydantic_nor_asyncio(folders):
    folders.agent(agent_orders())
    orders = folders.orders("checks", checks_orders(some_commands("true")).to_json())
    modules = modules_after(
        *("checks", "--orders", orders, "--frozen-workspace", str(folders.workspace)),
        *("--workspace", str(folders.copy), "--home", str(folders.copy_home)),
        *("--evidence", str(folders.checks_evidence), "--scratch", str(folders.scratch)),
    )

    assert folders.checks_report().results[0][0].exit_code == 0
    assert modules == set()


def test_stage_imports_what_fetches_repositories_only_when_there_is_one(tmp_path):
    (tmp_path / "from").mkdir()
    assert modules_after(
        "stage", "--from", str(tmp_path / "from"), "--to", str(tmp_path / "to")
    ) <= {"asyncio"}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="no-phase"),
        pytest.param(["no-such-phase"], id="unknown-phase"),
        pytest.param(["agent"], id="missing-arguments"),
    ],
)
def test_wrong_command_line_is_refused_with_usage(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "proctor.runner", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "usage" in done.stderr
