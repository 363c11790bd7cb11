"""What containers are given: variables, compute, paths; and the services beside an agent."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from proctor.api.base import Spec


class EnvVar(Spec):
    """A plain environment variable of the agent."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128),
        Field(description="Name of the variable."),
    ]
    value: Annotated[
        str,
        StringConstraints(max_length=4096),
        Field(description="Its value. Do not put a secret here: it is readable in the spec."),
    ] = ""


Quantity = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$", max_length=20)
]


class Resources(Spec):
    """Compute of the trial's containers; requests equal limits."""

    cpu: Annotated[Quantity | None, Field(description="CPUs, such as 500m or 2. Default 1.")] = None
    memory: Annotated[Quantity | None, Field(description="Memory, such as 2Gi. Default 2Gi.")] = (
        None
    )
    ephemeral_storage: Annotated[
        Quantity | None,
        Field(description="Disk of workspace, HOME and evidence, such as 4Gi. Default 4Gi."),
    ] = None


AbsolutePath = Annotated[
    str, StringConstraints(pattern=r"^/[^\x00-\x1f:]*[^/\x00-\x1f:]$", min_length=2, max_length=255)
]


class SandboxUser(StrEnum):
    """Which user the task's containers run as."""

    NON_ROOT = "NonRoot"
    IMAGE = "Image"
