"""What the tool tells: where each image is, and the chart's values that name them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Built:
    """An image that is there: the name that pods use, and the archive to load."""

    reference: str
    archive: Path


def listing(images: Mapping[str, Built]) -> str:
    """Write each image under its short name."""
    document = {
        name: {"reference": built.reference, "archive": str(built.archive)}
        for name, built in images.items()
    }
    return json.dumps(document, indent=2)


VALUES = {
    "operator": "operator",
    "gateway": "gateway",
    "results": "results",
    "runner": "runner",
    "default": "task",
}
"""Short name of an image → its value of the chart, below ``images``."""


def chart_values(images: Mapping[str, Built]) -> str:
    """Write the references as values for Helm; JSON is YAML."""
    named = {VALUES[name]: built.reference for name, built in images.items() if name in VALUES}
    return json.dumps({"images": named}, indent=2) + "\n"
