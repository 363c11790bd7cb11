"""What planning, operator and CLI know of agents and criteria without importing any plugin."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Source = Literal["files", "transcript", "reference"]


class Traits(BaseModel):
    """What a criterion needs, known before any of its code runs.

    An undeclared read raises in both engines.
    """

    model_config = ConfigDict(frozen=True)

    reads: frozenset[Source] = frozenset()
    checks: Annotated[bool, Field(description="Its commands need the container `checks`.")] = False
    needs_agent: Annotated[bool, Field(description="Refused with agent none.")] = False


class CatalogEntry(BaseModel):
    """One type of agent or criterion.

    ``options`` is the JSON Schema of its model. ``factory`` is ``module:attribute`` of an agent's
    adapter, None for a criterion. ``artifact`` is the SHA-256 of the site folder that brings it,
    None for a built-in.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["agent", "criterion"]
    type: str
    options: dict[str, Any]
    traits: Traits = Traits()
    factory: str | None = None
    artifact: str | None = None
