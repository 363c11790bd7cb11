"""A symlink that an agent left must not lead a check into what is not the agent's."""

import os
from pathlib import Path

import pytest

from builders_runner import (
    a_file,
    agent_orders,
    checks_orders,
    grade_orders,
    graded,
    run_command,
    some_commands,
)
from proctor.api.outcome import Outcome
from proctor.runner.leading import remove_links_into

GUARDED = (Path("/proc"),)


@pytest.fixture
def tree(tmp_path):
    """A tree, with a guarded folder beside it."""
    (tmp_path / "tree" / "in").mkdir(parents=True)
    (tmp_path / "ours").mkdir()
    return tmp_path / "tree"


def names(tree):
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("/proc/self/cmdline", id="absolute"),
        pytest.param("../ours/hidden", id="relative"),
        pytest.param("../ours/not/there/yet", id="missing"),
        pytest.param("/dev/fd/0", id="by-a-link-of-the-system"),
        pytest.param("/proc/self/cwd/../etc", id="through-and-out-again"),
        pytest.param("/proc", id="itself"),
        pytest.param("in/../../ours", id="with-dots"),
    ],
)
def test_link_into_a_guarded_place_is_removed_and_named(tree, target):
    (tree / "link").symlink_to(target)

    removed = remove_links_into(tree, (*GUARDED, tree.parent / "ours"))

    assert names(tree) == ["in"]
    assert [line.partition(":")[0] for line in removed] == ["link"]


def test_link_that_goes_there_by_other_links_is_removed(tree):
    (tree / "root").symlink_to("/")
    (tree / "in" / "answer").symlink_to("../root/proc/self/cmdline")

    removed = remove_links_into(tree, GUARDED)

    assert names(tree) == ["in", "root"]
    assert removed == ("in/answer: a symlink into /proc",)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("/usr/bin/python3", id="virtual-environment"),
        pytest.param("in", id="inside"),
        pytest.param("nowhere", id="dangling"),
        pytest.param("loop", id="loop"),
        pytest.param("../ours-too", id="same-beginning"),
        pytest.param("/process", id="same-beginning-at-the-root"),
    ],
)
def test_other_links_stay(tree, target):
    (tree / "loop").symlink_to("loop")
    (tree / "link").symlink_to(target)

    assert remove_links_into(tree, (*GUARDED, tree.parent / "ours")) == ()
    assert os.readlink(tree / "link") == target


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("/proc/self/cmdline", id="command-line-of-the-check"),
        pytest.param("{root}/checks.json", id="orders"),
    ],
)
def test_check_that_greps_a_file_does_not_read_its_own_pattern_through_it(folders, target):
    """``grep -q 42 answer`` passed when answer led to the command line that holds the 42."""
    line = "grep -q 42 answer.txt"
    script = f"ln -s {target.format(root=folders.root)} answer.txt"

    verdict = graded(
        folders,
        agent_orders(script),
        grade_orders(run_command(line)),
        checks_orders(some_commands(line)),
    )

    assert (verdict.outcome, verdict.score) == (Outcome.FAILED, 0)


def test_check_that_writes_a_file_does_not_overwrite_the_hidden_one_through_it(folders):
    """What a check wrote to ``actual`` went into the hidden file that it then compared with."""
    line = 'echo 41 > actual; cmp actual "$REFERENCE_DIR/expected"'
    script = f"ln -s {folders.scratch}/reference/expected actual"

    verdict = graded(
        folders,
        agent_orders(script),
        grade_orders(run_command(line)),
        checks_orders(some_commands(line), reference=(a_file("expected", "42"),)),
    )

    assert (verdict.outcome, verdict.score) == (Outcome.FAILED, 0)
