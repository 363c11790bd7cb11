"""`proctor run --container` with podman: every test fails where podman cannot start."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from podman import BUSYBOX, Podman, running_podman

ROOTS = "localhost/roots:test"
TOOL = Path(__file__).parents[1] / "cluster" / "images"


@pytest.fixture(scope="session")
def podman():
    with running_podman() as found:
        yield found


@pytest.fixture(scope="session")
def images(podman) -> Mapping[str, str]:
    """Names of our own images, loaded into podman: ``runner``, ``default`` and ``testbed``."""
    command = [sys.executable, TOOL, "runner", "default", "testbed"]
    built = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    for image in built.values():
        podman("load", "--quiet", "--input", image["archive"])
    return {name: image["reference"] for name, image in built.items()}


@pytest.fixture
def roots(podman):
    """Name of the small image, made for root."""
    made = podman("create", BUSYBOX, "none").strip()
    podman("commit", "--change", "USER 0", made, ROOTS)
    podman("rm", made)
    yield ROOTS
    podman("rmi", ROOTS)


@dataclass(frozen=True)
class Proctor:
    """The command, in a folder, with an engine."""

    podman: Podman
    runner: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.podman.environment}

    def command(self, *words: object) -> list[str]:
        program = str(Path(sys.executable).with_name("proctor"))
        return [program, "run", "--container", "--runner-image", self.runner, *map(str, words)]

    def run(self, *words: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    def start(self, *words: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def manifest(self, command: str, criteria: list[dict[str, object]], **task: object) -> Path:
        """An EvalRun of one task whose agent is a shell's command line; JSON is YAML."""
        body = {
            "apiVersion": "proctor.dev/v1alpha1",
            "kind": "EvalRun",
            "metadata": {"name": "run"},
            "spec": {
                "agent": {"type": "command", "options": {"command": command}},
                "limits": {"taskTimeoutSeconds": 60, "gradeTimeoutSeconds": 60},
                "models": {
                    "mode": "Scripted",
                    "script": {"inline": "rules: [{answer: {text: hi}}]"},
                },
                "failurePolicy": {"infraRetries": 0},
                "sandbox": {"image": BUSYBOX, "resources": {"cpu": "1", "memory": "256Mi"}},
                "tasks": [{"name": "task", "prompt": "Do it.", "criteria": criteria, **task}],
            },
        }
        path = self.folder / "run.yaml"
        path.write_text(json.dumps(body))
        return path

    def trial(self, *words: object) -> dict[str, object]:
        """The line of the only trial in ``run.json``."""
        done = self.run(*words, "--json", "--output", self.folder / "out", "--keep-workspaces")
        assert done.returncode in (0, 1, 3), done.stderr
        (trial,) = json.loads(done.stdout)["trials"]
        return trial

    @property
    def work(self) -> Path:
        """The trial's folder ``work``."""
        return self.folder / "out/trials/task/default/0/work"


@pytest.fixture
def proctor(podman, images, tmp_path):
    made = Proctor(podman, images["runner"], tmp_path)
    yield made
    assert podman.names() == []
