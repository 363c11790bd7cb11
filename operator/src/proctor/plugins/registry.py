"""The one registry of agents and criteria. Immutable: adding a plugin makes another registry."""

from collections.abc import Callable, Mapping
from typing import Any, Self

from proctor.api.catalog import CatalogEntry
from proctor.api.errors import Problem, SpecError
from proctor.api.task import CriterionSpec
from proctor.api.validation import read_model
from proctor.planning.kinds import ResolvedCriterion
from proctor.plugins.registrar import RegisteredAgent, RegisteredCriterion, Registrar
from proctor.plugins.resolving import resolve_criterion


class Registry:
    """All known types. Planning asks it through ``planning.kinds.Kinds``."""

    def __init__(
        self,
        criteria: Mapping[str, RegisteredCriterion] | None = None,
        agents: Mapping[str, RegisteredAgent] | None = None,
    ) -> None:
        self._criteria = dict(sorted((criteria or {}).items()))
        self._agents = dict(sorted((agents or {}).items()))

    def adding(self, register: Callable[[Registrar], None]) -> Self:
        """This registry and all that ``register`` claims, or what it raises and nothing changed."""
        registrar = Registrar(self._criteria, self._agents)
        register(registrar)
        return type(self)(registrar.criteria, registrar.agents)

    def catalog(self) -> tuple[CatalogEntry, ...]:
        """What there is, as data: agents first, then criteria, each sorted by type."""
        agents = (
            CatalogEntry(
                kind="agent",
                type=name,
                options=agent.options.model_json_schema(),
                factory=agent.factory,
            )
            for name, agent in self._agents.items()
        )
        criteria = (
            CatalogEntry(
                kind="criterion",
                type=criterion.type,
                options=criterion.model.model_json_schema(),
                traits=criterion.traits,
            )
            for criterion in self._criteria.values()
        )
        return (*agents, *criteria)

    def agent_types(self) -> tuple[str, ...]:
        """All agent types, sorted."""
        return tuple(self._agents)

    def criterion_types(self) -> tuple[str, ...]:
        """All criterion types, sorted."""
        return tuple(self._criteria)

    def check(self, type_: str) -> RegisteredCriterion:
        """The criterion of a known type; ``KeyError`` for another."""
        return self._criteria[type_]

    def agent_factory(self, type: str) -> str:  # noqa: A002 - named by Kinds
        """``module:attribute`` of a known agent type's adapter; ``KeyError`` for another."""
        return self._agents[type].factory

    def agent_options(
        self,
        type: str,  # noqa: A002 - named by Kinds
        options: Mapping[str, Any],
        field: str,
    ) -> tuple[Mapping[str, Any], tuple[Problem, ...]]:
        """Options of a known agent type with defaults filled in, or what is wrong with them."""
        try:
            checked = read_model(self._agents[type].options, dict(options), field)
        except SpecError as error:
            return {}, error.problems
        return checked.model_dump(mode="json", by_alias=True), ()

    def criterion(self, spec: CriterionSpec, field: str) -> ResolvedCriterion | tuple[Problem, ...]:
        """The criterion that ``spec`` describes, or what is wrong with it."""
        registered = self._criteria.get(spec.type)
        if registered is None:
            known = ", ".join(self._criteria)
            message = f"unknown criterion type {spec.type!r}"
            return (Problem(f"{field}.type", message, f"known types: {known}"),)
        return resolve_criterion(registered, spec, field)
