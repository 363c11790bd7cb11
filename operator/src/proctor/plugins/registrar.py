"""What a plugin's ``register(registry)`` is given: it notes claims and refuses impossible ones.

Built-ins register through the same two calls. Nothing takes effect before the whole plugin has
registered; ``Registry.adding`` sees to that.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from proctor.api.catalog import Traits
from proctor.criteria.contract import Check, Criterion
from proctor.plugins.errors import PluginError, TypeConflictError

_CRITERION_TYPE = re.compile(r"[a-z][a-z0-9_]{0,62}")
_AGENT_TYPE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_FACTORY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
T = TypeVar("T")
_ENVELOPE = frozenset({"type", "name", "weight", "passThreshold"})


@dataclass(frozen=True, slots=True)
class RegisteredCriterion:
    """A criterion type: the model of its fields, and the function that judges."""

    model: type[Criterion]
    check: Check[Any]

    @property
    def type(self) -> str:
        """Its name in manifests."""
        return self.model.type

    @property
    def traits(self) -> Traits:
        """What it needs."""
        return self.model.traits

    @property
    def default_pass_threshold(self) -> float:
        """Score from which it counts as passed where nobody says, in [0, 1]."""
        return self.model.default_pass_threshold


@dataclass(frozen=True, slots=True)
class RegisteredAgent:
    """An agent type. ``factory`` is ``module:attribute``, imported only in the phase ``agent``."""

    options: type[BaseModel]
    factory: str


class Registrar:
    """Notes claims on types. The same claim again is a no-op, another one a conflict."""

    def __init__(
        self,
        criteria: Mapping[str, RegisteredCriterion],
        agents: Mapping[str, RegisteredAgent],
    ) -> None:
        self.criteria = dict(criteria)
        self.agents = dict(agents)

    def criterion(self, model: type[Criterion], check: Check[Any]) -> None:
        """Claim the criterion type ``model.type``.

        Raises:
            PluginError: When the model's type or fields cannot be used.
            TypeConflictError: When another pair has that type.
        """
        type_ = getattr(model, "type", None)
        if not (isinstance(type_, str) and _CRITERION_TYPE.fullmatch(type_)):
            raise PluginError(f"{model.__name__}.type is {type_!r}, not a name of a-z, 0-9 and _")
        taken = _ENVELOPE & {info.alias or name for name, info in model.model_fields.items()}
        if taken:
            raise PluginError(f"criterion {type_!r} has a field {min(taken)!r}; every one has it")
        _claim(self.criteria, type_, RegisteredCriterion(model, check))

    def agent(self, type_: str, options: type[BaseModel], factory: str) -> None:
        """Claim an agent type; ``factory`` is not imported.

        Raises:
            PluginError: When ``type_`` or ``factory`` has not its form.
            TypeConflictError: When another pair has that type.
        """
        if not _AGENT_TYPE.fullmatch(type_):
            raise PluginError(f"agent type {type_!r} is not a name of a-z, 0-9 and inner -")
        if not _FACTORY.fullmatch(factory):
            raise PluginError(f"factory {factory!r} of agent {type_!r} is not 'module:attribute'")
        _claim(self.agents, type_, RegisteredAgent(options, factory))


def _claim(claims: dict[str, T], type_: str, claim: T) -> None:
    if claims.setdefault(type_, claim) != claim:
        raise TypeConflictError(f"type {type_!r} is claimed by {claims[type_]} and by {claim}")
