from pathlib import Path

import pytest

from cluster.harness import commands
from cluster.harness.cli import parse


@pytest.mark.parametrize(
    ("argv", "rest"),
    [
        pytest.param(["kubectl", "get", "-h"], ["kubectl", "get", "-h"], id="kubectl"),
        pytest.param(["kubectl", "--help"], ["kubectl", "--help"], id="kubectl-help"),
        pytest.param(["helm", "list", "-A"], ["helm", "list", "-A"], id="helm"),
        pytest.param(["exec", "--", "pytest", "-q"], ["pytest", "-q"], id="exec"),
        pytest.param(["exec", "sh", "-c", "a -- b"], ["sh", "-c", "a -- b"], id="exec-bare"),
        pytest.param(["exec", "a", "--", "b"], ["a", "--", "b"], id="only-the-first-dashes-go"),
    ],
)
def test_what_is_for_another_program_is_passed_on_unread(argv, rest):
    arguments = parse(argv)
    assert arguments.run is commands.execute
    assert arguments.rest == rest


def test_optional_components_are_named_one_by_one():
    assert parse(["up"]).extras == []
    assert parse(["up", "--with", "kwok", "--with", "kube-router"]).extras == [
        "kwok",
        "kube-router",
    ]


def test_archives_are_paths():
    assert parse(["load-image", "a.tar", "b.tar"]).archive == [Path("a.tar"), Path("b.tar")]


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["up", "--with", "x"], ["load-image"]])
def test_a_command_line_that_makes_no_sense_ends_with_the_usage(argv, capsys):
    with pytest.raises(SystemExit):
        parse(argv)
    assert "usage:" in capsys.readouterr().err


def test_help_tells_the_order_of_commands(capsys):
    with pytest.raises(SystemExit):
        parse(["--help"])
    assert "First time:  install, build" in capsys.readouterr().out
