"""`workspace.git` with `proctor run`: fetched once for all trials, as git itself would be told."""

import asyncio
import json
import os
import sys

import pytest
import yaml

from builders_egress import a_pass
from builders_git import a_git_proxy
from builders_local import FakePhases, a_planned_run, argument, ending
from git_server import PASSWORD, USERNAME, a_repository, certificate, serving
from proctor.api.errors import UserError
from proctor.api.report import EXIT_GIT_REFUSED, EXIT_GIT_UNREACHABLE
from proctor.local.git_logins import find_logins
from proctor.local.phases import PhaseEnd
from proctor.local.places import RunPlaces
from proctor.local.repositories import fetch_repositories

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = {"url": "https://git.test/closed/shop", "commit": COMMIT}
LOCKED = {**GIT, "secretRef": {"name": "shop-reader"}}


def a_run(*repositories, repeats=1):
    tasks = [
        {
            "name": f"task-{number}",
            "prompt": "Go.",
            "workspace": {"git": git},
            "criteria": [{"type": "file_exists", "path": "app.py"}],
        }
        for number, git in enumerate(repositories)
    ]
    return a_planned_run(tasks=tasks, repeats=repeats)


def a_program(folder, text):
    """A program for GIT_ASKPASS."""
    program = folder / "askpass"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o700)
    return str(program)


async def test_a_repository_is_fetched_once_for_all_trials(tmp_path):
    phases, places = FakePhases(), RunPlaces(tmp_path)
    run = a_run(GIT, GIT, {**GIT, "commit": "f" * 40}, repeats=20)
    found = await fetch_repositories(run, places, phases, {})
    assert [argument(order, "--commit") for order in phases.orders] == [COMMIT, "f" * 40]
    assert sorted(map(str, found.values())) == sorted(
        argument(order, "--fetch-to") for order in phases.orders
    )


async def test_a_server_that_fails_is_asked_three_times(tmp_path):
    ends = [PhaseEnd(EXIT_GIT_UNREACHABLE), PhaseEnd(EXIT_GIT_UNREACHABLE), PhaseEnd(0)]
    phases = FakePhases({"fetch": lambda _: ends.pop(0)})
    assert len(await fetch_repositories(a_run(GIT), RunPlaces(tmp_path), phases, {})) == 1


@pytest.mark.parametrize(
    ("code", "tries"),
    [
        pytest.param(EXIT_GIT_REFUSED, 1, id="refused"),
        pytest.param(EXIT_GIT_UNREACHABLE, 3, id="away"),
    ],
)
async def test_a_repository_that_does_not_come_ends_the_run_before_any_trial(tmp_path, code, tries):
    line = "proctor.runner: GitRefusedError: the server says 404: check the URL"
    phases = FakePhases({"fetch": ending(code, line)})
    with pytest.raises(UserError, match=r"no trial has started: the server says 404: check"):
        await fetch_repositories(a_run(GIT), RunPlaces(tmp_path), phases, {})
    assert phases.names == ["fetch"] * tries


def test_user_name_and_password_are_asked_of_the_program_that_git_would_ask(tmp_path):
    program = a_program(tmp_path, 'case "$1" in Username*git.test*) echo ada;; *) echo "$1";; esac')
    (told,) = find_logins([a_run(LOCKED)], {"GIT_ASKPASS": program}).values()
    assert told["GIT_USERNAME"] == "ada"
    assert told["GIT_PASSWORD"] == "Password for 'https://ada@git.test': "


def test_nobody_is_asked_for_a_public_repository(tmp_path):
    program = a_program(tmp_path, "exit 1")
    (told,) = find_logins([a_run(GIT)], {"GIT_ASKPASS": program}).values()
    assert told == {}


@pytest.mark.parametrize(
    "text", [pytest.param("exit 1", id="fails"), pytest.param("true", id="says-nothing")]
)
def test_a_program_without_an_answer_ends_the_run(tmp_path, text):
    environment = {"GIT_ASKPASS": a_program(tmp_path, text)}
    with pytest.raises(UserError, match="has no answer to"):
        find_logins([a_run(LOCKED)], environment)


def test_without_such_a_program_the_run_says_what_to_set():
    with pytest.raises(UserError, match="set GIT_ASKPASS"):
        find_logins([a_run(LOCKED)], {})


@pytest.mark.parametrize(
    ("around", "used"),
    [
        pytest.param("", True, id="none"),
        pytest.param("example.org", True, id="another"),
        pytest.param("git.test", False, id="host"),
        pytest.param("localhost, .test", False, id="domain"),
        pytest.param("*", False, id="all"),
    ],
)
def test_the_machines_own_proxy_is_used_unless_the_host_is_reached_without(around, used):
    environment = {"https_proxy": "http://proxy.test:3128", "no_proxy": around}
    (told,) = find_logins([a_run(GIT)], environment).values()
    assert ("GIT_PROXY" in told) is used


def test_a_file_of_certificates_that_is_not_there_is_named():
    with pytest.raises(UserError, match=r"GIT_SSL_CAINFO /none"):
        find_logins([a_run(GIT)], {"GIT_SSL_CAINFO": "/none"})


async def test_an_agent_works_in_the_repository_and_the_record_names_it(tmp_path):
    name = a_repository(tmp_path / "served" / "shop", {"app.py": "print(1)\n"})
    edit = "git log --format=%H > seen && echo 'print(2)' > app.py && git diff --stat >> seen"
    task = {
        "name": "edit",
        "prompt": "Print 2.",
        "workspace": {
            "git": {**LOCKED, "commit": name},
            "files": [{"path": "NOTES.md", "content": "Be brief.\n"}],
        },
        "criteria": [
            {"type": "run_command", "command": "python3 app.py", "expectedStdout": "2"},
            {"type": "file_contains", "path": "seen", "includes": [name, "1 insertion(+)"]},
            {"type": "file_exists", "path": "NOTES.md"},
        ],
    }
    agent = {"type": "command", "options": {"command": edit}}
    document = {
        "apiVersion": "proctor.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": "shop"},
        "spec": {"agent": agent, "tasks": [task], "repeats": 2},
    }
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(document))
    answer = f'case "$1" in Username*) echo {USERNAME};; *) echo {PASSWORD};; esac'
    pair = certificate(tmp_path, "git.test")
    # A system's bundle is longer than a variable of a process may be: 128 KiB.
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("# an authority\n" * 10_000 + pair[0].read_text())
    with serving(tmp_path / "served", pair) as server:
        async with a_git_proxy(server.port) as proxy:
            environment = {
                **os.environ,
                "https_proxy": f"http://proctor:{a_pass('git.test')}@{proxy}",
                "no_proxy": "",
                "GIT_SSL_CAINFO": str(bundle),
                "GIT_ASKPASS": a_program(tmp_path, answer),
            }
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "from proctor.cli.main import main; main()",
                "run", "run.yaml", "-o", "out",
                cwd=tmp_path,
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            text = (await process.communicate())[0].decode()
    assert process.returncode == 0, text
    places = RunPlaces(tmp_path / "out")
    assert not places.repositories.exists()
    records = list((tmp_path / "out").rglob("execution.json"))
    assert len(records) == 2
    for record in records:
        execution = json.loads(record.read_text())
        assert execution["context"]["git"] == f"{GIT['url']} {name}"
        assert execution["workspaceNotes"] == []
    assert PASSWORD not in "".join(
        file.read_text(errors="replace") for file in (tmp_path / "out").rglob("*") if file.is_file()
    )
