from pathlib import Path

import pytest

from proctor.runner.environment import (
    agent_environment,
    checks_environment,
    command_environment,
)

HOME, WORKSPACE = Path("/h"), Path("/w")


@pytest.mark.parametrize(
    "name",
    [
        "PROCTOR_SECRET",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "XDG_CONFIG_HOME",
    ],
)
def test_runners_variables_and_provider_keys_are_not_passed_on(name):
    assert name not in command_environment({name: "x"}, HOME, WORKSPACE)


def test_image_variables_are_kept_and_installs_land_in_home():
    env = command_environment(
        {"PATH": "/img/bin", "LANG": "C", "PYTHONPATH": "/app"}, HOME, WORKSPACE
    )

    assert (env["LANG"], env["PYTHONPATH"]) == ("C", "/app")
    assert env["PATH"] == "/h/.local/bin:/img/bin"
    assert (env["HOME"], env["USER"], env["PWD"]) == ("/h", "agent", "/w")
    assert env["PYTHONUSERBASE"] == env["NPM_CONFIG_PREFIX"] == "/h/.local"


def test_image_without_path_gets_the_usual_one():
    assert command_environment({}, HOME, WORKSPACE)["PATH"].endswith(":/usr/bin:/sbin:/bin")


def test_programs_of_the_image_win_over_those_of_the_agent_in_checks():
    env = checks_environment({"PATH": "/img/bin:/bin"}, HOME, WORKSPACE)

    assert env["PATH"] == "/img/bin:/bin:/h/.local/bin"
    assert env["HOME"] == "/h"


def test_virtual_environment_keeps_pip_usable():
    env = command_environment({"VIRTUAL_ENV": "/v"}, HOME, WORKSPACE)

    assert "PIP_USER" not in env


def test_without_a_gateway_an_agent_gets_no_key():
    assert agent_environment({"A": "1"}, None, None, None) == {"A": "1"}
