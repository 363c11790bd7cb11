"""``grade`` as a real process beside a real results server: the verdict stands, whatever breaks."""

import asyncio
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest
import pytest_asyncio

from builders_results import a_results_bench
from builders_runner import file_exists, grade_orders
from proctor.api.record_folder import read_record
from proctor.api.report import AgentReport
from proctor.runner.places import ResultsPlace
from proctor.runner.uploading import send_record


@pytest_asyncio.fixture
async def bench(tmp_path):
    async with a_results_bench(tmp_path) as bench:
        bench.api.add_trial("r-abc", attempt=1, uid="u-1", runUid="run-uid")
        yield bench


@pytest.fixture
def graded(folders):
    """Grade a trial that passes, and send its record to a URL."""
    folders.workspace.mkdir()
    (folders.workspace / "a").touch()
    folders.agent_evidence.mkdir()
    report = AgentReport("completed", started=True, turns=1, seconds=1.0)
    (folders.agent_evidence / "agent.json").write_text(json.dumps(report.to_json()))

    def arguments(url, token, seconds=20.0):
        file = folders.root / "results-token"
        file.write_text(token)
        return (
            "--results", url, "--results-token-file", str(file), "--upload-seconds", str(seconds),
        )  # fmt: skip

    async def grade(*more):
        ended = await asyncio.to_thread(folders.grade, grade_orders(file_exists("a")), *more)
        assert ended.code == 0, ended.err
        return folders.verdict()

    grade.arguments = arguments
    return grade


async def test_the_record_is_on_the_server_before_grade_ends(bench, graded, folders):
    async with bench.serving():
        await bench.ready()
        verdict = await graded(*graded.arguments(bench.upload_url, bench.grade))
        assert (verdict.outcome, verdict.stored, verdict.not_stored) == ("Passed", True, "")
        (item,) = await bench.listed()
        assert item["digest"] == verdict.digest == read_record(folders.record).digest


async def test_without_a_server_the_verdict_says_nothing_about_it(graded):
    verdict = await graded()
    assert (verdict.outcome, verdict.stored) == ("Passed", None)


async def test_a_server_that_is_not_there_costs_bounded_time_and_no_verdict(graded):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    verdict = await graded(*graded.arguments(url, "t", seconds=1))
    assert (verdict.outcome, verdict.stored) == ("Passed", False)
    assert "cannot be reached" in verdict.not_stored


async def test_a_refusal_is_not_asked_again(bench, graded):
    async with bench.serving():
        await bench.ready()
        verdict = await graded(*graded.arguments(bench.upload_url, "stolen", seconds=600))
    assert (verdict.outcome, verdict.stored) == ("Passed", False)
    assert "not valid" in verdict.not_stored


async def test_a_server_that_comes_back_takes_the_record(bench, graded):
    async with bench.serving():
        await bench.ready()
        bench.api.broken = 500
        running = asyncio.create_task(graded(*graded.arguments(bench.upload_url, bench.grade)))
        async with asyncio.timeout(20):
            while not any("tokenreviews" in one for one in bench.api.asked):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        bench.api.broken = None
        assert (await running).stored is True
        assert len(await bench.listed()) == 1


async def test_a_grade_that_is_killed_while_it_sends_leaves_its_verdict(graded, folders):
    # Nothing answers at this address: the connection waits in the listener's queue.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        more = graded.arguments(url, "t", seconds=600)
        command = await asyncio.to_thread(_start_grade, folders, more)
        connection, _ = await asyncio.to_thread(silent.accept)
        command.send_signal(signal.SIGKILL)
        await asyncio.to_thread(command.wait)
        connection.close()
    verdict = folders.verdict()
    assert (verdict.outcome, verdict.stored) == ("Passed", False)
    assert "was ended while it sent" in verdict.not_stored


def _start_grade(folders, more):
    arguments = [
        *("--orders", folders.orders("grade", grade_orders(file_exists("a")).to_json())),
        *("--workspace", str(folders.workspace)),
        *("--agent-evidence", str(folders.agent_evidence)),
        *("--verdict", str(folders.verdict_file), "--record", str(folders.record)),
        *("--run", "r", "--task", "t", "--variant", "v", "--repeat", "0"),
        *("--uid", "u-1", "--attempt", "1", *more),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "proctor.runner", "grade", *arguments],
        stdout=subprocess.DEVNULL,
        env=os.environ,
    )


def test_what_the_server_said_is_why_although_it_says_nothing_at_the_end(tmp_path):
    (tmp_path / "token").write_text("t")
    (tmp_path / "manifest.json").write_text('{"parts": []}')
    moments, bodies = iter(range(100)), iter([b'{"error": "the database is away"}'])

    class SaysOnce(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            if (body := next(bodies, None)) is not None:
                self.send_response(503)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_):
            """Be quiet."""

    with http.server.HTTPServer(("127.0.0.1", 0), SaysOnce) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = ResultsPlace(f"http://127.0.0.1:{server.server_port}", tmp_path / "token", 6.0)
        why = send_record(tmp_path, "d" * 64, place, lambda: next(moments), lambda _: None)
        server.shutdown()
    assert next(bodies, None) is None
    assert why == "the database is away"


def test_a_server_that_forgot_the_manifest_gets_it_again(tmp_path):
    (tmp_path / "token").write_text("t")
    part = {"path": "a.txt", "sha256": "a" * 64, "size": 1}
    (tmp_path / "manifest.json").write_text(json.dumps({"parts": [part]}))
    (tmp_path / "a.txt").write_text("a")
    asks = (202, b'{"missing": ["' + b"a" * 64 + b'"]}')
    answers = iter([asks, (412, b'{"error": "send it first"}'), asks, (204, b""),
                    (200, b'{"missing": []}')])  # fmt: skip

    class Forgets(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            status, body = next(answers)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Be quiet."""

    with http.server.HTTPServer(("127.0.0.1", 0), Forgets) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = ResultsPlace(f"http://127.0.0.1:{server.server_port}", tmp_path / "token", 6.0)
        why = send_record(tmp_path, "d" * 64, place, lambda: 0.0, lambda _: None)
        server.shutdown()
    assert (why, list(answers)) == ("", [])


def test_the_pauses_grow_and_end_with_the_time(tmp_path):
    moments, pauses = [0.0], []

    def sleep(seconds):
        pauses.append(seconds)
        moments[0] += seconds

    (tmp_path / "token").write_text("t")
    (tmp_path / "manifest.json").write_text('{"parts": []}')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = ResultsPlace(f"http://127.0.0.1:{free.getsockname()[1]}", tmp_path / "token", 30.0)
        why = send_record(tmp_path, "d" * 64, place, lambda: moments[0], sleep)
    assert "cannot be reached" in why
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
