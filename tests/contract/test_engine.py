"""The port ``Engine``: one suite over the fake and, where the environment says so, podman."""

import asyncio
import os
from pathlib import Path

import pytest

from builders_local import Lifeline
from fakes.engine import FakeEngine
from podman import BUSYBOX, REQUIRED, running_podman
from proctor.local.command_engine import CommandEngine
from proctor.local.engine import Container, ContainerEnd, EngineError, Share

SECONDS = 60.0
SAY = "echo hello"
FAIL = "exit 3"
WRITE = "echo made > /out/file"
WRITE_READ_ONLY = "echo made > /in/file"
ASK_VARIABLE = 'test "$WORD" = value'
ASK_USER = 'test "$(id -u)" = 1 && touch /out/file'
"""What the image says that it runs as."""

HANG = "echo started > /line; while :; do sleep 1; done"
MISSING = "/no/such/program"


def _share(container, target):
    return next(one for one in container.shares if one.target == target)


async def _say(container, say):
    say("hello")
    return ContainerEnd(0)


async def _fail(container, say):
    return ContainerEnd(3)


async def _write(container, say):
    (_share(container, "/out").source / "file").write_text("made\n")
    return ContainerEnd(0)


async def _write_read_only(container, say):
    return ContainerEnd(0 if _share(container, "/in").writable else 1)


async def _ask_variable(container, say):
    return ContainerEnd(0 if container.variables.get("WORD") == "value" else 1)


async def _ask_user(container, say):
    return ContainerEnd(0 if container.image_user else 1)


async def _hang(container, say):
    _share(container, "/line").source.write_text("started")
    await asyncio.Event().wait()


PROGRAMS = {
    SAY: _say,
    FAIL: _fail,
    WRITE: _write,
    WRITE_READ_ONLY: _write_read_only,
    ASK_VARIABLE: _ask_variable,
    ASK_USER: _ask_user,
    HANG: _hang,
}


@pytest.fixture(scope="module")
def podman():
    with running_podman() as found:
        yield found


@pytest.fixture(params=["fake", *(["podman"] if os.environ.get(REQUIRED) == "required" else [])])
def engine(request):
    if request.param == "fake":
        return FakeEngine({BUSYBOX: {"/data/file.txt": b"of the image\n"}}, PROGRAMS)
    podman = request.getfixturevalue("podman")
    return CommandEngine("podman", podman.environment, grace_seconds=1)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def line(tmp_path):
    line = Lifeline(tmp_path / "line")
    yield line
    line.close()


@pytest.fixture
async def hanging(engine, tmp_path, log, line):
    """A container that has started and does not end by itself."""
    container = a_container(tmp_path, HANG, Share(line.path, "/line", writable=True))
    running = asyncio.ensure_future(engine.run(container, log, SECONDS))
    await asyncio.to_thread(line.wait_for, "started")
    yield running
    running.cancel()
    await asyncio.wait([running])


def a_container(folder: Path, script: str, *shares: Share, **changes) -> Container:
    fields = {
        "name": f"proctor-{folder.name}",
        "image": BUSYBOX,
        "command": ("/bin/sh", "-c", script),
        "shares": shares,
        "folder": folder,
        "owner": folder,
        "cpus": "0.5",
        "memory_bytes": 64 << 20,
    }
    return Container(**{**fields, **changes})


async def test_what_a_container_prints_is_in_its_log(engine, tmp_path, log):
    end = await engine.run(a_container(tmp_path, SAY), log, SECONDS)
    assert end == ContainerEnd(0)
    assert log.read_text() == "hello\n"


async def test_exit_code_is_that_of_its_program(engine, tmp_path, log):
    assert await engine.run(a_container(tmp_path, FAIL), log, SECONDS) == ContainerEnd(3)


async def test_what_is_written_to_a_share_is_there_afterwards(engine, tmp_path, log):
    (tmp_path / "out").mkdir()
    share = Share(tmp_path / "out", "/out", writable=True)
    await engine.run(a_container(tmp_path, WRITE, share), log, SECONDS)
    assert (tmp_path / "out/file").read_text() == "made\n"


async def test_a_share_is_read_only_unless_it_says_so(engine, tmp_path, log):
    (tmp_path / "in").mkdir(mode=0o777)
    share = Share(tmp_path / "in", "/in")
    end = await engine.run(a_container(tmp_path, WRITE_READ_ONLY, share), log, SECONDS)
    assert end.exit_code != 0
    assert not (tmp_path / "in/file").exists()


async def test_commas_colons_and_quotes_in_paths_are_taken_literally(engine, tmp_path, log):
    folder = tmp_path / 'a,b:c "d" = $e'
    folder.mkdir()
    share = Share(folder, "/out", writable=True)
    end = await engine.run(a_container(tmp_path, WRITE, share), log, SECONDS)
    assert end.exit_code == 0, log.read_text()
    assert (folder / "file").exists()


async def test_variables_reach_the_program(engine, tmp_path, log):
    container = a_container(tmp_path, ASK_VARIABLE, variables={"WORD": "value"})
    assert await engine.run(container, log, SECONDS) == ContainerEnd(0)


@pytest.mark.parametrize(
    ("asked", "code"), [pytest.param(True, 0, id="asked"), pytest.param(False, 1, id="not-asked")]
)
async def test_it_runs_as_the_images_user_when_it_is_asked_to(engine, tmp_path, log, asked, code):
    (tmp_path / "out").mkdir(mode=0o700)
    share = Share(tmp_path / "out", "/out", writable=True)
    container = a_container(tmp_path, ASK_USER, share, image_user=asked)
    assert await engine.run(container, log, SECONDS) == ContainerEnd(code), log.read_text()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"command": (MISSING,)}, id="program"),
        pytest.param({"image": "localhost/nobody/has:it"}, id="image"),
    ],
)
async def test_what_cannot_start_has_no_exit_code(engine, tmp_path, log, changes):
    end = await engine.run(a_container(tmp_path, SAY, **changes), log, SECONDS)
    assert end == ContainerEnd(None)
    assert engine.owners() == {}


async def test_one_that_takes_too_long_is_ended_and_says_so(engine, tmp_path, log, line):
    container = a_container(tmp_path, HANG, Share(line.path, "/line", writable=True))
    end = await engine.run(container, log, 2.0)
    assert (end.exit_code, end.timed_out) == (137, True)
    assert engine.owners() == {}


async def test_cancelled_it_returns_when_nothing_is_left(engine, tmp_path, hanging):
    assert list(engine.owners().values()) == [tmp_path]
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert engine.owners() == {}


async def test_cancelled_before_it_has_started_it_leaves_nothing(engine, tmp_path, log, line):
    container = a_container(tmp_path, HANG, Share(line.path, "/line", writable=True))
    running = asyncio.ensure_future(engine.run(container, log, SECONDS))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert engine.owners() == {}


async def test_killed_it_ends_at_once(engine, hanging):
    engine.kill()
    assert await hanging == ContainerEnd(137)
    assert engine.owners() == {}


async def test_containers_that_are_left_can_be_removed(engine, hanging):
    engine.remove([*engine.owners(), "no-such-container"])
    assert engine.owners() == {}


def test_an_image_that_is_here_has_an_id_and_others_have_none(engine):
    assert engine.image_id(BUSYBOX)
    assert engine.image_id("localhost/nobody/has:it") is None


def test_a_folder_of_an_image_is_copied(engine, tmp_path):
    engine.copy_out(BUSYBOX, "/data", tmp_path / "copy", tmp_path)
    assert (tmp_path / "copy/file.txt").read_bytes() == b"of the image\n"
    assert engine.owners() == {}


def test_a_folder_that_no_image_has_is_an_error(engine, tmp_path):
    with pytest.raises(EngineError):
        engine.copy_out(BUSYBOX, "/nothing", tmp_path / "copy", tmp_path)
