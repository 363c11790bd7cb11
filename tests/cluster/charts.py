"""What Helm makes of the chart, for tests that read it."""

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from proctor.controller.settings import OperatorSettings

CHART = Path(__file__).parents[2] / "charts" / "proctor"
NAMES = ("operator", "gateway", "results", "runner", "task")
IMAGES = {"images": {name: f"images.test/{name}:1" for name in NAMES}}


def helm(
    command: Sequence[str], values: Mapping[str, Any] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of Helm on the chart, whatever it says."""
    return subprocess.run(
        ["helm", *command, CHART, "--namespace=system", "--values=-"],
        input=json.dumps({**IMAGES, **(values or {})}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def render(
    values: Mapping[str, Any] | None = None, release: str = "proctor"
) -> list[Mapping[str, Any]]:
    """All objects of the chart."""
    result = helm(["template", release], values)
    assert result.returncode == 0, result.stderr
    return [document for document in yaml.safe_load_all(result.stdout) if document]


def of_kind(documents: Iterable[Mapping[str, Any]], kind: str) -> dict[str, Mapping[str, Any]]:
    """Those of a kind, by name."""
    return {one["metadata"]["name"]: one for one in documents if one["kind"] == kind}


def pod_specs(documents: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Any]:
    """The spec of each pod, by kind and name of what makes it."""
    return {
        (one["kind"], one["metadata"]["name"]): one["spec"]["template"]["spec"]
        for one in documents
        if one["kind"] in ("Deployment", "StatefulSet", "Job")
    }


def operator_settings(values: Mapping[str, Any] | None = None) -> OperatorSettings:
    """What the operator reads of the chart's ConfigMap."""
    (text,) = of_kind(render(values), "ConfigMap")["proctor-operator"]["data"].values()
    return OperatorSettings.model_validate(yaml.safe_load(text))
