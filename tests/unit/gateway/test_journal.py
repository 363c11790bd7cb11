from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from builders_gateway import MORNING, an_account, an_ask, prices
from proctor.api.errors import PlatformError
from proctor.api.usage import Usage
from proctor.gateway.journal import FolderJournal, bring_to_disk
from proctor.gateway.ledger import Ending, Ledger, OpenCall
from proctor.gateway.ledger_files import open_ledger
from proctor.wire.format import Reading

DONE = Ending(
    200, Reading(Usage(1000, 100, 5, 6), complete=True, stop_reason="end_turn", tools=("ls",))
)
HELD = Usage(300, 40)


def a_life(folder: Path, *endings: Ending | None, started: int = 0) -> Ledger:
    """A process that made calls (None: it was killed before the end) and is gone."""
    ledger, journal = open_ledger(folder, prices(), lambda: MORNING + timedelta(seconds=started))
    assert journal is not None
    account = an_account(max_model_calls=3)
    for ending in endings:
        call = ledger.open_call(account, an_ask(reserved=HELD))
        if isinstance(call, OpenCall) and ending is not None:
            ledger.end_call(call, ending)
    journal.close()
    return ledger


def reopened(folder: Path) -> Ledger:
    return a_life(folder, started=60)


def a_file(folder: Path) -> Path:
    (path,) = folder.glob("*/*.jsonl")
    return path


def test_a_ledger_goes_on_where_the_last_process_ended(tmp_path: Path) -> None:
    before = a_life(tmp_path, DONE, Ending(529, provider_failure="busy", spent_nothing=True))
    after = reopened(tmp_path)
    assert after.bill("trial-1", 1, MORNING) == before.bill("trial-1", 1, MORNING)
    assert after.entries("trial-1", 1) == before.entries("trial-1", 1)


def test_a_call_that_a_kill_left_open_is_spent_as_far_as_it_was_reserved(tmp_path: Path) -> None:
    a_life(tmp_path, DONE, None)
    for _ in range(2):  # the second time finds it settled
        bill = reopened(tmp_path).bill("trial-1", 1, MORNING)
        assert (bill.calls, bill.usage) == (2, Usage(1000, 100, 5, 6) + HELD)
        # 1,011 × 1 + 100 × 10, and 300 × 1 + 40 × 10 millionths
        assert (bill.cost_usd, bill.cost_complete) == (Decimal("0.002711"), False)
        assert bill.provider_error == "the model gateway was stopped in the middle of a call"


def test_a_lost_call_is_marked_as_an_estimate_in_the_entries(tmp_path: Path) -> None:
    a_life(tmp_path, None)
    ledger = reopened(tmp_path)
    ledger.bill("trial-1", 1, None)
    (entry,) = ledger.entries("trial-1", 1)
    assert (entry["estimated"], entry["complete"], entry["usage"]["input"]) == (True, False, 300)


def test_refusals_and_closings_are_kept(tmp_path: Path) -> None:
    ledger = a_life(tmp_path, DONE, DONE, DONE, DONE)
    assert ledger.bill("trial-1", 1, None).refused == "maxModelCalls"
    assert reopened(tmp_path).bill("trial-1", 1, None).refused == "maxModelCalls"
    second, journal = open_ledger(tmp_path, prices(), lambda: MORNING)
    assert journal is not None
    second.close(an_account())
    journal.close()
    assert not isinstance(reopened(tmp_path).open_call(an_account(), an_ask()), OpenCall)


@pytest.mark.parametrize(
    "torn",
    [
        pytest.param(b'\n{"fact": "CallOp', id="in-a-line"),
        pytest.param(b"\n", id="before-a-line"),
        pytest.param(b"\nnull", id="no-object"),
        pytest.param(b'\n{"fact": "CallOpened"}', id="no-fact"),
        pytest.param(b"\n\xff\xfe{", id="no-text"),
    ],
)
def test_a_torn_last_line_spoils_neither_what_was_before_nor_what_comes_after(
    tmp_path: Path, torn: bytes
) -> None:
    a_life(tmp_path, DONE)
    path = a_file(tmp_path)
    path.write_bytes(path.read_bytes() + torn)
    a_life(tmp_path, DONE)
    assert reopened(tmp_path).bill("trial-1", 1, None).calls == 2


def test_every_prefix_of_a_ledger_can_be_read(tmp_path: Path) -> None:
    a_life(tmp_path, DONE, DONE)
    path = a_file(tmp_path)
    whole = path.read_bytes()
    calls = []
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        calls.append(reopened(tmp_path).bill("trial-1", 1, None).calls)
    assert calls == sorted(calls), "more bytes never tell of fewer calls"
    assert calls[-1] == 2


def test_half_a_character_in_a_models_name_loses_no_line(tmp_path: Path) -> None:
    words = Ending(400, Reading(error="no \ud83d", tools=("rm \udc00",)), provider_failure="\ud800")
    ledger, journal = open_ledger(tmp_path, prices(), lambda: MORNING)
    assert journal is not None
    call = ledger.open_call(an_account(), an_ask(model="claude-\ud83d"))
    assert isinstance(call, OpenCall)
    ledger.end_call(call, words)
    journal.close()
    (entry,) = reopened(tmp_path).entries("trial-1", 1)
    assert (entry["model"], entry["error"], entry["tools"]) == ("claude-?", "?", ["rm ?"])


def test_a_ledger_of_an_older_version_is_read(tmp_path: Path) -> None:
    a_life(tmp_path, DONE)
    about = '"trial_uid":"trial-1","attempt":1,"at":"2026-03-01T08:00:00+00:00"'
    figures = '{"input":7,"output":1,"cache_read":0,"cache_write":0}'
    with a_file(tmp_path).open("a") as file:
        opened = '"call":"c2","mode":"Live","model":"cheap","provider":"p","wire_format":"f"'
        file.write(f'\n{{"fact":"CallOpened",{about},{opened},"reserved":{figures}}}')
        ended = f'"call":"c2","status":200,"usage":{figures},"details":{{"reasoning":1}}'
        kept = '"cost_usd":"0.000017","complete":true,"tools":["ls"]'
        hashes = '"digests":{"request":"a","response":null}'
        file.write(f'\n{{"fact":"CallEnded",{about},{ended},{kept},{hashes}}}')
    bill = reopened(tmp_path).bill("trial-1", 1, MORNING)
    assert (bill.calls, bill.usage, bill.cost_complete) == (2, Usage(1007, 101, 5, 6), True)
    assert reopened(tmp_path).entries("trial-1", 1)[1]["details"] == {"reasoning": 1}


def test_fields_of_a_newer_version_are_ignored(tmp_path: Path) -> None:
    a_life(tmp_path, DONE)
    path = a_file(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'{"fact"', b'{"new":1,"fact"'))
    assert reopened(tmp_path).bill("trial-1", 1, None).calls == 1


def test_only_its_owner_reads_the_ledger(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    a_life(folder, DONE)
    assert folder.stat().st_mode & 0o077 == 0
    assert a_file(folder).stat().st_mode & 0o077 == 0


def test_a_folder_belongs_to_one_process_at_a_time(tmp_path: Path) -> None:
    first = FolderJournal(tmp_path, MORNING)
    with pytest.raises(PlatformError, match="in use by another gateway"):
        FolderJournal(tmp_path, MORNING)
    first.close()
    FolderJournal(tmp_path, MORNING).close()


def test_an_account_that_is_older_than_the_folder_is_not_complete(tmp_path: Path) -> None:
    a_life(tmp_path, DONE)
    ledger = reopened(tmp_path)
    assert ledger.bill("trial-1", 1, MORNING).cost_complete
    assert not ledger.bill("trial-1", 1, MORNING - timedelta(seconds=1)).cost_complete


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".", ".hidden", "x" * 129])
def test_an_id_that_is_no_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no id"):
        list(FolderJournal(tmp_path, MORNING).of_attempt("run", name, 1))


def test_old_runs_are_removed_and_young_ones_stay(tmp_path: Path) -> None:
    a_life(tmp_path, DONE)
    journal = FolderJournal(tmp_path, MORNING)
    assert journal.prune(MORNING - timedelta(days=9999)) == 0
    assert journal.prune(MORNING + timedelta(days=99_999)) == 1
    assert list(journal.of_run("trial-1")) == []
    journal.close()


def test_what_was_written_is_brought_to_the_disk_once(tmp_path: Path) -> None:
    ledger, journal = open_ledger(tmp_path, prices(), lambda: MORNING)
    assert journal is not None
    ledger.open_call(an_account(), an_ask())
    written = journal.take_written()
    bring_to_disk([*written, tmp_path / "gone"])
    assert written == {a_file(tmp_path)}
    assert journal.take_written() == set()
    journal.close()
