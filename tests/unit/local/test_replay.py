"""A demo that was recorded once replays with equal verdicts and asks nobody."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.gateway.account import Account
from proctor.gateway.cassette import Cassette
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.embed import LocalGateway
from proctor.wire.script_text import parse_script

EXAMPLES = Path(__file__).parents[3] / "examples"
DEMO = EXAMPLES / "demo" / "evalrun-demo.yaml"
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL")


def proctor(*arguments: str | Path, exit_code: int = 0, **environment: str) -> dict[str, Any]:
    """``run.json`` of a run by the command line; no key is in its environment unless given."""
    main = "from proctor.cli.main import main; main()"
    command = [sys.executable, "-c", main, "run", "--json", "-q", "-j", "3"]
    kept = {name: value for name, value in os.environ.items() if name not in KEYS}
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env={**kept, **environment},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == exit_code, done.stderr.decode()
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def verdicts(run: Mapping[str, Any]) -> dict[tuple[str, str], tuple[Any, ...]]:
    return {
        (one["task"], one["variant"]): (one["outcome"], one["score"], one["reason"])
        for one in run["trials"]
    }


async def record(cassette: Path, output: Path) -> tuple[dict[str, Any], int]:
    """Record the demo; what asks a provider is answered by the demo's own script."""
    script = yaml.safe_load(DEMO.read_text())["spec"]["models"]["script"]["inline"]
    async with LocalGateway() as upstream:
        account = Account("upstream", 1, mode="Scripted", script=parse_script(script))
        key = upstream.admit(account).agent
        run = await asyncio.to_thread(
            proctor,
            *(DEMO, "--record", cassette, "--output", output),
            ANTHROPIC_BASE_URL=upstream.url,
            ANTHROPIC_API_KEY=key,
        )
        return run, upstream.bill("upstream", 1).calls


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int, Path]:
    folder = tmp_path_factory.mktemp("recorded")
    run, calls = asyncio.run(record(folder / "demo.yaml", folder / "run"))
    return run, calls, folder / "demo.yaml"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return proctor(EXAMPLES / "replay", "--output", tmp_path_factory.mktemp("replayed") / "run")


def of_example() -> Cassette:
    text = (EXAMPLES / "replay" / "configmap-demo-cassette.yaml").read_text()
    return parse_cassette(yaml.safe_load(text)["data"]["cassette.yaml"])


def test_the_example_replays_with_the_verdicts_of_the_recording(
    recorded: tuple[dict[str, Any], int, Path], replayed: dict[str, Any]
) -> None:
    run, _, _ = recorded
    assert verdicts(replayed) == verdicts(run)
    assert len(verdicts(replayed)) == 6


def test_replayed_money_is_shown_and_nothing_is_spent(
    recorded: tuple[dict[str, Any], int, Path], replayed: dict[str, Any]
) -> None:
    run, _, _ = recorded
    assert (run["models"], replayed["models"]) == ("Record", "Replay")
    assert replayed["status"]["costUsd"] == "0"
    assert replayed["status"]["scriptedCostUsd"] == run["status"]["costUsd"]
    assert run["status"]["scriptedCostUsd"] is None


def test_the_example_is_what_the_demo_records_today(
    recorded: tuple[dict[str, Any], int, Path],
) -> None:
    _, calls, path = recorded
    fresh, kept = parse_cassette(path.read_text("utf-8")), of_example()
    assert len(fresh.calls) == len(kept.calls) == calls
    told = "regenerate examples/replay: `proctor run examples/demo --record FILE`"
    assert [c.asked for c in fresh.calls] == [c.asked for c in kept.calls], told
    assert [c.trial for c in fresh.calls] == [c.trial for c in kept.calls], told


def test_a_file_replays_as_a_config_map_does(
    recorded: tuple[dict[str, Any], int, Path], replayed: dict[str, Any], tmp_path: Path
) -> None:
    _, _, path = recorded
    again = proctor(DEMO, "--replay", path, "--output", tmp_path / "run")
    assert verdicts(again) == verdicts(replayed)


def test_a_changed_prompt_is_an_error_of_nobodys_and_names_the_nearest_call(
    recorded: tuple[dict[str, Any], int, Path], tmp_path: Path
) -> None:
    _, _, path = recorded
    spec = yaml.safe_load(DEMO.read_text())
    spec["spec"]["tasks"] = spec["spec"]["tasks"][:1]
    spec["spec"]["tasks"][0]["prompt"] = "Write bye.py."
    del spec["spec"]["variants"], spec["spec"]["gate"]
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump(spec))
    run = proctor(changed, "--replay", path, "--output", tmp_path / "run", exit_code=3)
    (trial,) = run["trials"]
    assert (trial["outcome"], trial["score"]) == ("InfraFailed", None)
    assert "the cassette has no such call: nearest is call" in trial["reason"]
