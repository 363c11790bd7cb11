import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builders_local import DEADLINE_SECONDS, Lifeline
from proctor.cli.main import LazyGroup, cli

EXAMPLES = Path(__file__).parents[3] / "examples"
COMMAND = [sys.executable, "-c", "from proctor.cli.main import main; main()"]

RUN = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: NAME}
spec:
  agent: {type: command, options: {command: 'COMMAND'}}
  limits: {taskTimeoutSeconds: 60}
  tasks:
    - {name: first, prompt: Do it., criteria: [{type: file_exists, path: made.txt}]}
    - {name: second, prompt: Do it., criteria: [{type: file_exists, path: made.txt}]}
"""


def proctor(*arguments: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def a_manifest(folder: Path, command: str = "touch made.txt", name: str = "run") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(RUN.replace("NAME", name).replace("COMMAND", command))
    return path


def test_every_command_is_listed_and_can_be_imported():
    assert isinstance(cli, LazyGroup)
    names = cli.list_commands(None)
    assert [cli.get_command(None, name).name for name in names] == names


def test_hello_example_compares_two_variants(tmp_path):
    done = proctor("run", EXAMPLES / "evalrun-hello.yaml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("Failed", "Passed", "fifteenth line", "scripted", "tokens", "gate: Passed"):
        assert words in done.stdout
    trials = json.loads((tmp_path / "out/run.json").read_text())["trials"]
    outcomes = {(one["task"], one["variant"]): one["outcome"] for one in trials}
    assert outcomes == {
        ("greeting", "haiku"): "Passed",
        ("greeting", "sonnet"): "Passed",
        ("fizzbuzz", "haiku"): "Failed",
        ("fizzbuzz", "sonnet"): "Passed",
    }
    assert (tmp_path / "out" / trials[0]["folder"] / "record/manifest.json").exists()


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        pytest.param("touch made.txt", (), 0, id="passed"),
        pytest.param("true", (), 1, id="not-passed"),
        pytest.param("true", ("--set", "gate.minScore=0"), 0, id="gate-decides"),
        pytest.param("true", ("--set", "gate.minPassRatio=0.5"), 1, id="gate-missed"),
        pytest.param("true", ("--set", "nonsense=1"), 2, id="bad-flag"),
        pytest.param("true", ("--task", "third"), 2, id="no-such-task"),
        pytest.param("true", ("--agent", "nobody"), 2, id="no-such-agent"),
        pytest.param("true", ("--nonsense",), 2, id="no-such-option"),
        pytest.param("true", ("--model", "claude-haiku-4-5"), 2, id="no-key"),
    ],
)
def test_exit_code_says_what_happened(tmp_path, monkeypatch, command, arguments, code):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    run = a_manifest(tmp_path, command)
    done = proctor("run", run, "--limit", "1", *arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr


def test_keys_and_secrets_of_the_user_reach_no_agent_and_no_record(tmp_path, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN"):
        monkeypatch.setenv(name, "hush-hush")
    manifest = a_manifest(tmp_path, "env > made.txt")
    arguments = ("--limit", "1", "--keep-workspaces", "-v", "-o", "out")
    done = proctor("run", manifest, *arguments, cwd=tmp_path)
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert [path.name for path in files if path.name == "made.txt"]
    assert [path for path in files if b"hush-hush" in path.read_bytes()] == []
    assert "hush-hush" not in done.stdout + done.stderr


def test_json_is_the_run_file_and_nothing_else(tmp_path):
    done = proctor("run", a_manifest(tmp_path), "-o", "out", "--json", "-q", cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads((tmp_path / "out/run.json").read_text())
    assert done.stderr == ""


def test_a_push_of_a_bad_task_names_it_and_asks_no_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    manifest = a_manifest(tmp_path)
    manifest.write_text(manifest.read_text().replace("file_exists", "guessed"))
    done = proctor("push", manifest, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "criteria[0].type: unknown criterion type 'guessed'" in done.stderr
    assert "KUBECONFIG" not in done.stderr


def test_a_push_without_a_cluster_says_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    done = proctor("push", a_manifest(tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "only the tasks are sent, not agent, limits" in done.stderr
    assert "set KUBECONFIG" in done.stderr


def test_several_runs_follow_each_other_and_the_worst_counts(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    a_manifest(folder, name="good")
    a_manifest(folder, "true", name="poor")
    done = proctor("run", folder, "-o", "out", "--json", cwd=tmp_path)
    assert [file["name"] for file in json.loads(done.stdout)] == ["good", "poor"]
    assert (tmp_path / "out/good/run.json").exists()
    assert done.returncode == 1


def test_a_repository_that_does_not_come_breaks_its_run_and_no_other(tmp_path, monkeypatch):
    """Its folder could once neither be used nor resumed, and the runs after it never started."""
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    folder = tmp_path / "runs"
    folder.mkdir()
    away = a_manifest(folder, name="away")
    git = f"workspace: {{git: {{url: 'https://git.test/a', commit: '{'0' * 40}'}}}}, prompt"
    away.write_text(away.read_text().replace("prompt", git))
    a_manifest(folder, name="good")
    done = proctor("run", folder, "-o", "out", "--json", "-q", cwd=tmp_path)
    assert done.returncode == 3
    files = json.loads(done.stdout)
    assert [(one["name"], one["status"]["trials"]["passed"]) for one in files] == [
        ("away", 0),
        ("good", 2),
    ]
    told, remedy = done.stderr.splitlines()
    assert told.startswith("error: away: no trial has started: ")
    assert remedy == f"error: away: go on with --resume {tmp_path / 'out/away'}"

    away.write_text(away.read_text().replace(git, "prompt"))
    again = proctor("run", away, "-o", "out/away", cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_folder_alone_is_enough_to_resume(tmp_path):
    manifest = a_manifest(tmp_path)
    assert proctor("run", manifest, "-o", "out", cwd=tmp_path).returncode == 0
    (tmp_path / "out/trials/first/default/0/trial.json").unlink()
    manifest.unlink()
    again = proctor("run", "--resume", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "2 trials, 1 of them have a verdict already" in again.stderr


def test_containers_without_an_engine_are_bad_input_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = ("--container", "--set", "sandbox.image=a/b:1")
    done = proctor("run", a_manifest(tmp_path), *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: --container needs podman or docker, which is not on PATH: install it, or run "
        "without --container\n"
    )


@pytest.mark.parametrize(
    "option", [("--engine", "docker"), ("--runner-image", "a/b:1"), ("--allow-image-user",)]
)
def test_options_of_containers_mean_nothing_without_them(tmp_path, option):
    done = proctor("run", a_manifest(tmp_path), *option, cwd=tmp_path)
    assert (done.returncode, "for --container" in done.stderr) == (2, True)


def test_changed_run_is_not_resumed(tmp_path):
    assert proctor("run", a_manifest(tmp_path), "-o", "out", cwd=tmp_path).returncode == 0
    again = proctor("run", a_manifest(tmp_path, "true"), "--resume", "out", cwd=tmp_path)
    assert (again.returncode, "cannot be resumed" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [pytest.param((), id="nothing"), pytest.param(("missing.yaml",), id="no-such-file")],
)
def test_run_without_anything_to_run_is_bad_input(tmp_path, arguments):
    assert proctor("run", *arguments, cwd=tmp_path).returncode == 2


def test_validate_refuses_a_run_that_kubectl_apply_would_not_take(tmp_path):
    large = a_manifest(tmp_path, name="large")
    large.write_text(large.read_text().replace("prompt: Do it.", f"prompt: '{'<' * 30_000}'"))
    done = proctor("validate", large, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith(f"{large}:5: spec: EvalRun 'large' is 352 KiB, and `kubectl")
    assert "ConfigMap" in done.stdout
    assert "kubectl apply --server-side" in done.stdout
    assert proctor("validate", "--server-side", large, cwd=tmp_path).returncode == 0


def test_validate_prints_all_problems_with_their_places(tmp_path):
    (tmp_path / "a.yaml").write_text(RUN.replace("NAME", "Bad Name").replace("made.txt", "../x"))
    (tmp_path / "b.yaml").write_text("task_id: t\nnonsense: [")
    done = proctor("validate", "a.yaml", "b.yaml", cwd=tmp_path)
    assert done.returncode == 2
    places = [line.split(": ")[0] for line in done.stdout.splitlines()]
    assert [place for place in places if place.startswith("a.yaml:4")]
    assert [place for place in places if place.startswith("b.yaml")]
    body = json.loads(proctor("validate", "--json", "a.yaml", cwd=tmp_path).stdout)
    assert {"file", "line", "field", "message", "remedy"} == set(body["problems"][0])


def test_examples_are_valid(tmp_path):
    done = proctor("validate", EXAMPLES, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_version_is_printed(tmp_path):
    assert proctor("version", cwd=tmp_path).stdout.startswith("proctor ")


def test_help_does_not_wait_for_what_it_does_not_need():
    code = (
        "import sys\n"
        "from proctor.cli.main import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        "heavy = {'pydantic', 'rich', 'aiohttp', 'yaml'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def hanging(tmp_path):
    """A run whose first agent waits forever, with a process that left its session."""
    line = Lifeline(tmp_path / "lifeline")
    hold = f'exec 3>{line.path}; setsid sh -c "echo stray >&3; sleep 600" & echo agent >&3; wait'
    manifest = a_manifest(tmp_path, hold)
    process = subprocess.Popen(
        [*COMMAND, "run", str(manifest), "-o", "out", "-j", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line.wait_for("agent")
    line.wait_for("stray")
    yield process, line
    process.kill()
    process.communicate(timeout=DEADLINE_SECONDS)
    line.close()


def outcomes(folder: Path) -> list[str | None]:
    return [one["outcome"] for one in json.loads((folder / "run.json").read_text())["trials"]]


def test_interrupted_run_ends_every_process_and_leaves_its_records(tmp_path, hanging):
    process, line = hanging
    process.send_signal(signal.SIGINT)
    line.wait_for_end()
    assert process.wait(DEADLINE_SECONDS) == 130
    assert outcomes(tmp_path / "out") == ["Cancelled", "Cancelled"]


def test_second_interruption_does_not_wait(tmp_path, hanging):
    process, line = hanging
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    line.wait_for_end()
    assert process.wait(DEADLINE_SECONDS) == 130
    assert time.monotonic() - begun < DEADLINE_SECONDS


def test_killed_run_leaves_no_process_and_can_be_resumed(tmp_path, hanging):
    process, line = hanging
    process.kill()
    process.wait(DEADLINE_SECONDS)
    line.wait_for_end()
    assert outcomes(tmp_path / "out") == [None, None]
    flag = "agent.options.command=touch made.txt"
    refused = proctor("run", "--resume", "out", "--set", flag, cwd=tmp_path)
    assert (refused.returncode, "cannot be resumed" in refused.stderr) == (2, True)


def test_bytes_that_are_no_text_on_the_command_line_are_refused(tmp_path):
    manifest = a_manifest(tmp_path)
    done = proctor("run", manifest, "--seed", os.fsdecode(b"\xff"), cwd=tmp_path)
    assert (done.returncode, "is not UTF-8" in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_running_proctor_is_closed_to_agents_of_the_same_user():
    # Its environment, which holds the providers' keys, could be read below /proc.
    code = "import ctypes; from proctor.runner.hardening import hide; hide(); "
    code += "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
