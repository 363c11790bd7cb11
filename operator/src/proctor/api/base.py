"""The frozen base of every model that people write or that crosses a process boundary.

snake_case in Python, camelCase on the wire. ``Spec`` refuses unknown fields, ``Status`` ignores
them, so that an older reader survives a newer writer, and ``Open`` keeps them for whoever knows
the type (a plugin's criterion, an agent's options).
"""

from decimal import Decimal
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from proctor.api.ratio import cut, ratio_text

_COMMON = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

GROUP = "proctor.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"


class Spec(BaseModel):
    """What a person writes: an unknown field is an error that names it."""

    model_config = ConfigDict(**_COMMON, extra="forbid")


class Status(BaseModel):
    """What a process writes and a later one reads back: unknown fields are ignored."""

    model_config = ConfigDict(**_COMMON, extra="ignore")


class Open(BaseModel):
    """An object whose other fields belong to the type that it names."""

    model_config = ConfigDict(**_COMMON, extra="allow")


_MONEY_SCHEMA = {"type": "string", "pattern": r"^[0-9]{1,9}(\.[0-9]{1,9})?$", "maxLength": 19}
_RATIO_SCHEMA = {"type": "string", "pattern": r"^(0(\.[0-9]{1,6})?|1(\.0{1,6})?)$", "maxLength": 8}


def _plain(value: Decimal) -> str:
    """Write a decimal without exponent and without trailing zeros."""
    text = f"{value:f}"
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


def _usd(value: Decimal) -> str:
    """Nine digits: a single token may cost less than a millionth of a dollar."""
    return _plain(value.quantize(Decimal("1e-9")))


UsdText = Annotated[
    Decimal,
    Field(ge=0),
    PlainSerializer(_usd, return_type=str),
    WithJsonSchema(_MONEY_SCHEMA),
]
"""US dollars in a status or record: a decimal string, never a float."""

RatioText = Annotated[
    Decimal,
    Field(ge=0, le=1),
    AfterValidator(cut),
    PlainSerializer(ratio_text, return_type=str),
    WithJsonSchema(_RATIO_SCHEMA),
]
"""A number in [0, 1] in a status or record: a decimal string of six digits, the rest cut off."""

SecondsText = Annotated[
    Decimal,
    Field(ge=0),
    PlainSerializer(_plain, return_type=str),
    WithJsonSchema(_MONEY_SCHEMA),
]
"""A duration in seconds in a status or record: a decimal string, never a float."""

Name = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", min_length=1, max_length=63)
]
"""A Kubernetes-style name."""

TaskName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)*$",
        min_length=1,
        max_length=120,
    ),
]
"""A task's name: letters, digits and ``- _ . /``; ``web/login`` groups it under ``web``."""

RelativePath = Annotated[
    str,
    StringConstraints(pattern=r"^[^/\x00-\x1f][^\x00-\x1f]*$", min_length=1, max_length=512),
]
"""A path below the workspace; it may not be absolute (``..`` is refused at load)."""
