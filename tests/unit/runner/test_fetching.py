"""Fetching a commit from a real git server, by the phase that ``stage`` and ``proctor run`` use."""

import json
import os
import socket
import subprocess
import sys

import pytest

from git_server import (
    PASSWORD,
    USERNAME,
    a_repository,
    certificate,
    commit,
    git,
    serving,
)
from proctor.api.report import EXIT_GIT_REFUSED, EXIT_GIT_UNREACHABLE

FILES = {"app.py": "print(1)\n", "web/page.html": "<p>\n", "run.sh": "#!/bin/sh\n"}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with the repository ``shop``, and the commit in it."""
    folder = tmp_path_factory.mktemp("git")
    repository = folder / "repositories" / "shop"
    a_repository(repository, FILES)
    (repository / "run.sh").chmod(0o755)
    (repository / "inner").symlink_to("app.py")
    (repository / "outer").symlink_to("../../etc/passwd")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n"
    (repository / ".gitmodules").write_text(
        '[submodule "lib"]\npath = lib\nurl = https://a.test/\n'
    )
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    (repository / "lib").mkdir()
    name = commit(repository, {"model.bin": pointer})
    with serving(folder / "repositories", certificate(folder, "localhost")) as server:
        yield server, name


@pytest.fixture
def fetch(served, tmp_path):
    """Run the phase; its exit code and what it said, and where it laid the files."""
    server, name = served

    def fetch(path="/shop", commit=name, *more, trusts=True, **secrets):
        told = {**({"GIT_AUTHORITIES": server.authorities} if trusts else {}), **secrets}
        url = path if path.startswith("https:") else f"{server.url}{path}"
        done = subprocess.run(
            [sys.executable, "-m", "proctor.runner", "fetch", "--git", url, "--commit", commit,
             "--fetch-to", tmp_path / "fetched", *more],
            env={**os.environ, **{f"PROCTOR_SECRET_{key}": text for key, text in told.items()}},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    fetch.port = server.port
    fetch.tree = tmp_path / "fetched" / "tree"
    fetch.notes = tmp_path / "fetched" / "notes.json"
    return fetch


def test_a_commit_becomes_files_and_a_repository_of_that_one_commit(served, fetch):
    assert fetch()[0] == 0
    tree = fetch.tree
    assert {path: (tree / path).read_text() for path in FILES} == FILES
    assert git(tree, "log", "--format=%H %s").splitlines() == [f"{served[1]} Change things"]
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "diff-index", "HEAD") == ""
    assert git(tree, "remote") == ""
    assert "old.txt" not in git(tree, "ls-files")


def test_an_agent_can_commit_on_top_of_it(fetch):
    fetch()
    (fetch.tree / "app.py").write_text("print(2)\n")
    assert git(fetch.tree, "diff", "--stat").splitlines()[-1].startswith(" 1 file changed")
    commit(fetch.tree, {})
    assert len(git(fetch.tree, "log", "--format=%H").splitlines()) == 2
    assert git(fetch.tree, "fsck", "--no-dangling") == ""


def test_files_have_the_modes_of_the_tree_and_the_time_of_the_commit(fetch):
    fetch()
    modes = {path: (fetch.tree / path).stat().st_mode & 0o777 for path in ("app.py", "run.sh")}
    assert modes == {"app.py": 0o644, "run.sh": 0o755}
    assert (fetch.tree / "app.py").stat().st_mtime == 1714979289


def test_what_is_not_as_it_seems_is_noted(fetch):
    fetch()
    assert json.loads(fetch.notes.read_text()) == [
        "1 submodules are empty folders: 'lib'",
        "1 files are pointers of Git LFS, without what they point to: 'model.bin'",
        "1 links lead out of the workspace: 'outer'",
    ]
    assert list((fetch.tree / "lib").iterdir()) == []


def test_nothing_else_lies_beside_the_files(fetch):
    fetch()
    assert {path.name for path in fetch.tree.parent.iterdir()} == {"tree", "notes.json"}


def test_a_folder_of_it_is_laid_down_alone(served, fetch):
    assert fetch("/shop", served[1], "--git-path", "web")[0] == 0
    assert [path.name for path in fetch.tree.rglob("*")] == ["page.html"]


def test_another_start_begins_from_nothing(fetch):
    fetch()
    (fetch.tree / "left").write_text("of the first time")
    assert fetch()[0] == 0
    assert not (fetch.tree / "left").exists()


def test_who_has_the_password_is_let_in(fetch):
    code, _ = fetch("/closed/shop", GIT_USERNAME=USERNAME, GIT_PASSWORD=PASSWORD)
    assert code == 0
    assert PASSWORD not in (fetch.tree / ".git" / "config").read_text()


def test_a_redirect_on_the_same_host_is_followed(fetch):
    assert fetch("/moved/shop")[0] == 0


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("/none", "404", id="no-repository"),
        pytest.param("/page/shop", "no git server", id="a-page"),
        pytest.param("/closed/shop", "set workspace.git.secretRef", id="asks-for-a-password"),
        pytest.param("/faults/403/shop", "check the Secret", id="forbidden"),
        pytest.param("/away/shop", "leads to https://elsewhere.test", id="another-host"),
    ],
)
def test_what_no_other_try_helps_is_refused_with_a_remedy(fetch, path, said):
    code, text = fetch(path)
    assert (code, said in text) == (EXIT_GIT_REFUSED, True), text
    assert f"of https://localhost:{fetch.port}{path})" in text


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_fails_is_asked_again(fetch, status):
    code, text = fetch(f"/faults/{status}/shop")
    assert (code, str(status) in text) == (EXIT_GIT_UNREACHABLE, True), text


def test_a_server_that_is_away_is_asked_again(fetch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert fetch(f"https://localhost:{port}/shop")[0] == EXIT_GIT_UNREACHABLE


def test_a_commit_that_the_server_does_not_have_is_named(fetch):
    code, text = fetch("/shop", "0" * 39 + "1")
    assert code == EXIT_GIT_REFUSED
    assert "not our ref" in text
    assert "git ls-remote" in text


def test_a_commit_that_no_branch_ends_in_is_fetched_too(fetch):
    fetch()
    (parent,) = [
        line.removeprefix("parent ")
        for line in git(fetch.tree, "cat-file", "-p", "HEAD").splitlines()
        if line.startswith("parent ")
    ]
    assert fetch("/shop", parent)[0] == 0
    assert git(fetch.tree, "rev-parse", "HEAD") == parent
    assert "model.bin" not in git(fetch.tree, "ls-files")


def test_servers_of_the_first_protocol_are_asked_too(fetch):
    assert fetch("/old/shop")[0] == 0
    code, text = fetch("/old/shop", "0" * 39 + "1")
    assert (code, "not our ref" in text) == (EXIT_GIT_REFUSED, True), text


def test_an_id_of_something_else_is_no_commit(served, fetch, tmp_path):
    fetch()
    code, text = fetch("/shop", git(fetch.tree, "rev-parse", "HEAD^{tree}"))
    assert (code, "a tree's, not a commit's" in text) == (EXIT_GIT_REFUSED, True), text


def test_a_folder_that_the_commit_does_not_have_is_named(served, fetch):
    code, text = fetch("/shop", served[1], "--git-path", "wep")
    assert (code, "there is no folder 'wep'" in text) == (EXIT_GIT_REFUSED, True), text


def test_a_certificate_that_nobody_vouches_for_is_refused(fetch):
    code, text = fetch(trusts=False)
    assert (code, "ca.crt" in text) == (EXIT_GIT_REFUSED, True), text


def test_a_wrong_password_is_refused_and_never_shown(fetch):
    code, text = fetch("/closed/shop", GIT_PASSWORD="wrong-and-long")
    assert (code, "401" in text) == (EXIT_GIT_REFUSED, True), text
    assert "wrong-and-long" not in text


def test_a_password_that_http_cannot_carry_is_refused_and_never_shown(fetch):
    code, text = fetch("/closed/shop", GIT_PASSWORD="five-€-a-month")
    assert (code, "beyond Latin-1" in text) == (EXIT_GIT_REFUSED, True), text
    assert "a-month" not in text


def test_a_server_that_shows_the_password_shows_it_to_nobody(fetch):
    code, text = fetch("/echo/shop", GIT_PASSWORD="wrong-and-long")
    assert (code, "[redacted:GIT_PASSWORD]" in text) == (EXIT_GIT_REFUSED, True), text
