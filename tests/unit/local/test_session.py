"""All runs of one ``proctor run``: what one that fails leaves to itself and to the others."""

from contextlib import asynccontextmanager

import pytest

from builders_local import FakeGateway, FakePhases, FakeReporter, a_planned_run, argument, ending
from builders_planning import a_task
from proctor.api.errors import UserError
from proctor.api.report import EXIT_GIT_REFUSED
from proctor.local.folder import read_run
from proctor.local.interrupt import Interrupt
from proctor.local.phases import PhaseEnd
from proctor.local.places import RunPlaces
from proctor.local.session import Session
from proctor.local.source_file import write_source
from proctor.local.start import LOCK

REFUSED = ending(EXIT_GIT_REFUSED, "proctor.runner: GitRefusedError: Error: the server says 404")


@asynccontextmanager
async def a_gateway(run, folder):
    yield FakeGateway()


def full(order):
    raise OSError("no space left on device")


def a_session(output, phases, **fields):
    return Session(a_gateway, phases, FakeReporter(), output=output, **fields)


def a_git_run(name="run", url="https://git.test/shop"):
    workspace = {"git": {"url": url, "commit": "0" * 40}}
    return a_planned_run(name=name, tasks=[a_task("a", workspace=workspace)])


@pytest.mark.parametrize(
    "fetch", [pytest.param(REFUSED, id="refused"), pytest.param(full, id="machine-is-full")]
)
async def test_a_run_whose_repository_does_not_come_can_be_resumed(tmp_path, fetch):
    run, out = a_git_run(), tmp_path / "out"
    failing = a_session(out, FakePhases({"fetch": fetch}))
    end = await failing.run([run], Interrupt())
    assert end.failed == ("run",)
    assert read_run(out) == end.files[0]
    assert [line.outcome for line in end.files[0].trials] == [None]
    assert (end.files[0].status.trials.pending, end.files[0].status.state) == (1, "Pending")
    assert [(name, str(folder)) for name, folder, _ in failing.reporter.failures] == [
        ("run", str(out))
    ]

    again = await a_session(None, FakePhases(), resume=out).run([run], Interrupt())
    assert (again.failed, again.files[0].status.trials.passed) == ((), 1)
    assert again.files[0].uid == end.files[0].uid


async def test_the_same_command_works_once_the_repository_comes(tmp_path):
    run, out = a_git_run(), tmp_path / "out"
    await a_session(out, FakePhases({"fetch": REFUSED})).run([run], Interrupt())
    again = await a_session(out, FakePhases()).run([run], Interrupt())
    assert (again.failed, again.files[0].status.trials.passed) == ((), 1)


async def test_a_gateway_that_cannot_be_opened_leaves_a_folder_that_can_be_resumed(tmp_path):
    @asynccontextmanager
    async def broken(run, folder):
        folder.places.ledger.mkdir()
        raise OSError("no port is left")
        yield

    run, out = a_planned_run(), tmp_path / "out"
    with pytest.raises(OSError, match="no port is left"):
        await Session(broken, FakePhases(), FakeReporter(), output=out).run([run], Interrupt())
    again = await a_session(None, FakePhases(), resume=out).run([run], Interrupt())
    assert again.files[0].status.trials.passed == 1


async def test_a_run_that_is_resumed_keeps_what_its_file_says_when_it_fails_again(tmp_path):
    run, out = a_git_run(), tmp_path / "out"
    before = await a_session(out, FakePhases({"grade": ending(1)})).run([run], Interrupt())
    assert before.files[0].status.trials.errored == 1
    failing = a_session(None, FakePhases({"fetch": REFUSED}), resume=out)
    end = await failing.run([run], Interrupt())
    assert (end.failed, end.files) == (("run",), before.files)
    assert read_run(out) == before.files[0]


async def test_a_run_that_fails_keeps_no_other_from_starting(tmp_path):
    def fetch(order):
        away = argument(order, "--git").endswith("away")
        return PhaseEnd(EXIT_GIT_REFUSED) if away else PhaseEnd(0)

    runs = [a_git_run("first", "https://git.test/away"), a_git_run("second")]
    session = a_session(tmp_path, FakePhases({"fetch": fetch}))
    end = await session.run(runs, Interrupt())
    assert end.failed == ("first",)
    assert [(file.name, file.status.trials.passed) for file in end.files] == [
        ("first", 0),
        ("second", 1),
    ]


async def test_a_folder_that_cannot_be_used_is_told_before_the_first_run_starts(tmp_path):
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "mine.txt").touch()
    phases = FakePhases()
    runs = [a_planned_run(name="first"), a_planned_run(name="second")]
    with pytest.raises(UserError, match="second is not empty"):
        await a_session(tmp_path, phases).run(runs, Interrupt())
    assert phases.orders == []


async def test_a_folder_that_another_command_used_meanwhile_is_left_as_it_is(tmp_path):
    def agent(order):
        (tmp_path / "second" / "trials").mkdir()
        return PhaseEnd(0)

    runs = [a_planned_run(name="first"), a_planned_run(name="second")]
    with pytest.raises(UserError, match="second is not empty"):
        await a_session(tmp_path, FakePhases({"agent": agent})).run(runs, Interrupt())
    assert sorted(path.name for path in (tmp_path / "second").iterdir()) == [LOCK, "trials"]


@pytest.mark.parametrize(("user", "mode"), [("NonRoot", 0o755), ("Image", 0o700)])
async def test_nobody_else_enters_a_folder_in_which_root_of_an_image_may_leave_programs(
    tmp_path, user, mode
):
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o755)
    run = a_planned_run(sandbox={"user": user})
    await a_session(out, FakePhases()).run([run], Interrupt())
    assert out.stat().st_mode & 0o777 == mode


async def test_runs_that_an_interruption_keeps_from_starting_leave_no_folder(tmp_path):
    interrupt = Interrupt()

    def agent(order):
        interrupt.signalled()
        return PhaseEnd(0)

    runs = [a_planned_run(name="first"), a_planned_run(name="second")]
    end = await a_session(tmp_path, FakePhases({"agent": agent})).run(runs, interrupt)
    assert [file.name for file in end.files] == ["first"]
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


async def test_run_file_is_there_before_the_first_trial_starts(tmp_path):
    def agent(order):
        assert (tmp_path / "out" / "run.json").exists()
        return PhaseEnd(0)

    phases = FakePhases({"agent": agent})
    end = await a_session(tmp_path / "out", phases).run([a_planned_run()], Interrupt())
    assert end.files[0].status.trials.passed == 1


async def test_a_folder_that_was_left_before_its_run_file_can_be_used_and_says_so(tmp_path):
    """As by a power cut: before that the folder could neither be used nor resumed."""
    run, out = a_planned_run(), tmp_path / "out"
    out.mkdir()
    (out / LOCK).touch()
    write_source(RunPlaces(out), run)
    with pytest.raises(UserError, match="nothing of it has started: leave --resume away"):
        await a_session(None, FakePhases(), resume=out).run([run], Interrupt())
    end = await a_session(out, FakePhases()).run([run], Interrupt())
    assert end.files[0].status.trials.passed == 1


async def test_a_file_of_the_user_is_never_taken_for_a_runs_own(tmp_path):
    (tmp_path / "evalrun.json").write_text("{}")
    with pytest.raises(UserError, match="is not empty"):
        await a_session(tmp_path, FakePhases()).run([a_planned_run()], Interrupt())
    assert (tmp_path / "evalrun.json").read_text() == "{}"
