"""`stage` fetches through the egress proxy, with the pass that it is given."""

import asyncio
import os
import sys

import pytest

from builders_egress import PRIVATE, a_pass
from builders_git import a_git_proxy
from git_server import a_repository, certificate, serving
from proctor.api.report import EXIT_GIT_REFUSED, EXIT_GIT_UNREACHABLE
from proctor.runner.proof import NETWORK_CLOSED

HOST = "git.test"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("git")
    name = a_repository(folder / "repositories" / "shop", {"app.py": "print(1)\n"})
    with serving(folder / "repositories", certificate(folder, HOST)) as server:
        yield server, name


@pytest.fixture
def stage(served, tmp_path):
    """Run the phase; its exit code and its finding."""
    server, name = served
    runtime = tmp_path / "from"
    runtime.mkdir()

    async def stage(text, *addresses, place="", **secrets):
        (tmp_path / "pass").write_text(text)
        told = {"GIT_AUTHORITIES": server.authorities, **secrets}
        async with a_git_proxy(server.port, *addresses) as proxy:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "proctor.runner", "stage", "--from", runtime,
                "--to", tmp_path / "to", "--finding", tmp_path / "finding",
                "--git", f"https://{HOST}{place}/shop", "--commit", name,
                "--fetch-to", tmp_path / "fetched",
                "--egress-proxy", f"http://{proxy}", "--egress-pass-file", tmp_path / "pass",
                env={**os.environ, **{f"PROCTOR_SECRET_{key}": one for key, one in told.items()}},
                stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            code = await process.wait()
        return code, (tmp_path / "finding").read_text()

    return stage


async def test_a_pass_for_the_host_lets_it_through(stage, tmp_path):
    assert (await stage(a_pass(HOST)))[0] == 0
    assert (tmp_path / "fetched" / "tree" / "app.py").read_text() == "print(1)\n"


async def test_a_pass_that_is_over_is_the_platforms_fault_and_another_one_is_tried(stage):
    code, finding = await stage(a_pass(HOST, expires_at=-1))
    assert (code, "407" in finding) == (EXIT_GIT_UNREACHABLE, True), finding


async def test_a_host_that_is_inside_is_refused_by_the_proxy(stage):
    code, finding = await stage(a_pass(HOST), PRIVATE)
    assert (code, "no public address" in finding) == (EXIT_GIT_REFUSED, True), finding


async def test_the_finding_names_what_failed_and_no_password(stage):
    code, finding = await stage(a_pass(HOST), place="/echo", GIT_PASSWORD="wrong-and-long")
    assert (code, "403" in finding) == (EXIT_GIT_REFUSED, True), finding
    assert "wrong-and-long" not in finding
    assert NETWORK_CLOSED not in finding
