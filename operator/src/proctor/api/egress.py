"""What a trial may reach besides itself."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from proctor.api.base import Spec

HTTPS_PORT = 443
MAX_HOSTS = 32


class EgressMode(StrEnum):
    """How far a trial's network reaches."""

    NONE = "None"
    MODEL_ONLY = "ModelOnly"
    ALLOW_LIST = "AllowList"
    OPEN = "Open"


LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
PORT = r"([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
EgressHost = Annotated[
    str,
    StringConstraints(
        pattern=rf"^({LABEL}\.)+[a-z]([-a-z0-9]{{0,61}}[a-z0-9])?(:{PORT})?$", max_length=259
    ),
]
"""A host's full name in lower case, never an address; ``:PORT`` when it is not 443."""


class Egress(Spec):
    """What the trial's pod may reach."""

    mode: Annotated[
        EgressMode,
        Field(
            description="ModelOnly: the model gateway. None: not even that, the agent gets no "
            "key. AllowList: also the named hosts, by TLS through a proxy. Open: every public "
            "address, and DNS."
        ),
    ]
    hosts: Annotated[
        tuple[EgressHost, ...],
        Field(
            max_length=MAX_HOSTS,
            description="For AllowList: names such as pypi.org, or name:port when it is not 443.",
        ),
    ] = ()


def host_and_port(entry: str) -> tuple[str, int]:
    """Name and port of an entry of ``hosts``."""
    name, _, port = entry.partition(":")
    return name, int(port) if port else HTTPS_PORT
