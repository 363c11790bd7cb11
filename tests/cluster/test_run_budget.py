"""Fifty trials, one budget, and a gateway that is killed while they call: nothing is forgotten.

Real money is what a budget is for, so the trials are Live, against a provider in the cluster that
knows what it took for each call.
"""

import threading
from decimal import Decimal

import pytest
import yaml

from cluster.conftest import REPOSITORY
from cluster.killing import kill_component
from cluster.provider import start_provider, upgrade

pytestmark = pytest.mark.alone

TRIALS = 50
BUDGET = Decimal("1.5")
MAX_TOKENS = 500
DEAREST = Decimal(MAX_TOKENS * 10 + 1000) / 1_000_000
KILLS = 2
SIDE_BY_SIDE = TRIALS - 5
SMALL = {"cpu": "30m", "memory": "128Mi", "ephemeralStorage": "600Mi"}
"""So that fifty pods fit on a node with two cores; the runner itself takes a part of the disk."""

PROVIDER = """
import json, random, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock, chance, taken, seen, began = threading.Lock(), random.Random(7), [], set(), []

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        asked = json.loads(body)
        with lock:
            began.append(time.monotonic())
            seen.add(asked["messages"][0]["content"])
            tokens = chance.randint(1, len(body) // 4), chance.randint(1, asked["max_tokens"])
            taken.append(tokens)
        while len(seen) < SIDE_BY_SIDE and time.monotonic() < began[0] + 500:
            time.sleep(0.2)  # all trials are to call side by side
        time.sleep(chance.uniform(0.2, 1))
        self.answer({
            "id": "m", "type": "message", "role": "assistant", "model": asked["model"],
            "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        })

    def do_GET(self):
        with lock:
            self.answer({"calls": len(taken), "trials": len(seen),
                         "input": sum(t[0] for t in taken), "output": sum(t[1] for t in taken)})

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("", 8080), Handler).serve_forever()
""".replace("SIDE_BY_SIDE", str(SIDE_BY_SIDE))

AGENT = (
    """
import json, os, socket, time, urllib.error, urllib.request
body = json.dumps({"model": "m", "max_tokens": MAX_TOKENS, "messages": [
    {"role": "user", "content": socket.gethostname() + " " + "hello " * 50}]}).encode()
headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, headers)
while True:
    try:
        urllib.request.urlopen(request, timeout=600).read()
    except urllib.error.HTTPError as error:
        if error.headers.get("x-should-retry") == "false":
            print(error.read().decode())
            break
        time.sleep(0.5)
    except OSError:
        time.sleep(0.5)
open("out.txt", "w").write("done")
"""
).replace("MAX_TOKENS", str(MAX_TOKENS))


@pytest.fixture(scope="module")
def provider(kube, system, images):
    """What the provider took so far; the gateway is told of it while this file runs."""
    url, answer = start_provider(kube, images["default"], PROVIDER)
    chart = yaml.safe_load((REPOSITORY / "charts" / "proctor" / "values.yaml").read_text())
    price = {"model": "m", "inputUsdPerMtok": 1, "outputUsdPerMtok": 10, "source": "for this test"}
    fake = {"name": "fake", "format": "anthropic-messages", "baseUrl": url, "models": ["m"]}
    upgrade({
        "gateway": {"providers": [fake], "prices": [price]},
        "trials": {"gradeResources": SMALL},
    })  # fmt: skip

    yield answer
    upgrade({"gateway": {"providers": [], "prices": []}, "trials": chart["trials"]})


def wait_for_calls(provider, count):
    pause = threading.Event()
    for _ in range(1200):
        if provider()["calls"] >= count:
            return
        pause.wait(0.5)
    raise AssertionError(f"the provider saw {provider()} and never {count} calls")


def a_run():
    return {
        "agent": {"type": "command", "model": "m", "options": {"command": f"python3 -c '{AGENT}'"}},
        "tasks": [
            {
                "name": "spend",
                "prompt": "Spend it.",
                "criteria": [{"type": "file_exists", "path": "out.txt"}],
            }
        ],
        "repeats": TRIALS,
        "parallelism": TRIALS,
        "budget": {"usd": float(BUDGET)},
        "limits": {
            "taskTimeoutSeconds": 900,
            "turnTimeoutSeconds": 900,
            "gradeTimeoutSeconds": 300,
        },
        "sandbox": {"resources": SMALL},
        "failurePolicy": {"pendingTimeoutSeconds": 900},
    }


@pytest.fixture(scope="module")
def spent(kube, system, busybox_image, provider):
    """The run in the end, its trials, and what the provider took."""
    kube.run("budget", a_run())
    for number in range(KILLS):
        wait_for_calls(provider, 100 + 150 * number)
        kill_component(system, busybox_image, "gateway", number)
    run = kube.finished("budget", timeout=1500)
    return run["status"], kube.trials("budget"), provider()


def test_nothing_that_was_spent_is_forgotten(spent):
    status, _, taken = spent
    real = Decimal(taken["input"] + 10 * taken["output"]) / 1_000_000
    assert Decimal(status["costUsd"]) >= real
    assert status["costComplete"] is False, "what a kill interrupts is an estimate, and says so"


def test_the_budget_is_overshot_by_at_most_the_calls_in_flight(spent):
    status, _, taken = spent
    assert BUDGET <= Decimal(status["costUsd"]) < BUDGET + TRIALS * DEAREST
    assert taken["trials"] >= SIDE_BY_SIDE, "they called side by side"


def test_the_run_says_that_its_budget_is_used_up(spent):
    status, _, _ = spent
    conditions = {one["type"]: one for one in status["conditions"]}
    assert conditions["BudgetExceeded"]["status"] == "True"
    assert conditions["BudgetExceeded"]["reason"] == "BudgetUsedUp"
    assert conditions["Complete"]["reason"] == "AllTrialsFinished"


def test_trials_that_were_refused_name_the_runs_budget(spent):
    _, trials, _ = spent
    refused = [
        one["status"]
        for one in trials
        if one["status"]["outcome"] not in ("Cancelled", "InfraFailed")
    ]
    assert {status["outcome"] for status in refused} == {"CostBudgetExceeded"}
    assert all("spec.budget.usd" in status["reason"] for status in refused)
    assert yaml.safe_dump(refused).count("refused: budget") == len(refused)


def test_no_agent_is_blamed_for_a_call_that_the_kill_cut(spent):
    _, trials, _ = spent
    ours = [one["status"] for one in trials if one["status"]["outcome"] == "InfraFailed"]
    assert len(trials) - len(ours) >= SIDE_BY_SIDE - 5 * KILLS
    assert all("model gateway" in status["reason"] for status in ours), ours
    assert not any("score" in status for status in ours)
