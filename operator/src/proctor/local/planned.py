"""A run that is ready to start: its plan, the script of its models, and what identifies it."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from proctor.engine.model import DesiredTrial, desired_trials
from proctor.planning.layers import Layer
from proctor.planning.model import RunPlan, RunSource

_MUTABLE = {"parallelism", "suspend", "cancelled", "ttl_seconds_after_finished", "gate", "budget"}
"""What may change between a run and its resumption without changing any trial."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run whose every problem has been found.

    Args:
        script: Text of the scripted answers, wherever it came from; None for mode Live.
        parallelism: Trials at the same time.
        cassette: Text of the cassette that answers in mode Replay; None in any other.
        contained: Whether its trials run in containers.
    """

    source: RunSource
    plan: RunPlan
    script: str | None
    parallelism: int
    cassette: str | None = None
    contained: bool = False

    @property
    def name(self) -> str:
        """The run's name."""
        return self.source.name

    @property
    def models(self) -> str:
        """Who answers its model calls."""
        models = self.source.spec.models
        return "Live" if models is None else models.mode.value

    @property
    def suite(self) -> str:
        """Its identity over time."""
        return self.source.spec.suite or self.source.name

    @property
    def budget_usd(self) -> Decimal | None:
        """What the run may spend, in US dollars; None: no limit."""
        budget = self.source.spec.budget
        return None if budget is None else Decimal(str(budget.usd))

    def desired(self) -> Sequence[DesiredTrial]:
        """All trials as the engine wants them, in the order of their start."""
        return desired_trials(self.plan)

    def fingerprint(self) -> str:
        """SHA-256 of all that decides what its trials are."""
        answers = [self.script] if self.cassette is None else [self.script, self.cassette]
        place = ["container"] if self.contained else []
        text = json.dumps([source_body(self.source), *answers, *place], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def source_body(source: RunSource) -> dict[str, Any]:
    """What was asked for, as JSON, without what may change between a run and its resumption."""
    return {
        "name": source.name,
        "seed": source.seed,
        "spec": source.spec.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude=_MUTABLE
        ),
        "overrides": None if source.overrides is None else layer_body(source.overrides),
        **config_maps_body(source),
    }


def config_maps_body(source: RunSource) -> dict[str, Any]:
    """What its ConfigMaps hold, as JSON; nothing when it names none."""
    if not source.config_maps:
        return {}
    held = {
        name: {key: base64.b64encode(data).decode() for key, data in sorted(one.items())}
        for name, one in sorted(source.config_maps.items())
    }
    return {"configMaps": held}


def layer_body(layer: Layer) -> dict[str, Any]:
    """A layer as JSON; only what it says."""
    parts = {"agent": layer.agent, "limits": layer.limits, "sandbox": layer.sandbox}
    return {
        name: part.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for name, part in parts.items()
        if part is not None
    }
