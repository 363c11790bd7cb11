"""What planning must know of agents and criteria; the registry of ``plugins`` provides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.api.catalog import Traits
from proctor.api.errors import Problem
from proctor.api.evidence import Command
from proctor.api.task import CriterionSpec


@dataclass(frozen=True, slots=True)
class ResolvedCriterion:
    """One criterion whose type is known and whose fields were checked.

    Args:
        name: As written; None leaves the name (type and position) to planning.
        pass_threshold: In [0, 1]; the type's default is filled in.
        options: Its own fields as JSON, in camelCase, defaults filled in.
        commands: What ``checks`` must run for it, in order; empty for most types.
    """

    type: str
    name: str | None
    pass_threshold: float
    traits: Traits
    options: Mapping[str, Any]
    commands: tuple[Command, ...] = ()


class Kinds(Protocol):
    """The known agents and criteria.

    ``field`` is the path of the object that is looked at; problems begin with it. An unknown type
    is a problem whose remedy names the known ones.
    """

    def agent_types(self) -> Sequence[str]:
        """All agent types, sorted."""

    def agent_options(
        self, agent_type: str, options: Mapping[str, Any], field: str, /
    ) -> tuple[Mapping[str, Any], tuple[Problem, ...]]:
        """Checked options with defaults filled in, and what is wrong with them.

        With problems the options mean nothing. ``agent_type`` is a known one.
        """

    def agent_factory(self, agent_type: str, /) -> str:
        """``module:attribute`` of the adapter's factory. ``agent_type`` is a known one."""

    def criterion(
        self, spec: CriterionSpec, field: str, /
    ) -> ResolvedCriterion | tuple[Problem, ...]:
        """The criterion that ``spec`` describes, or what is wrong with it."""
