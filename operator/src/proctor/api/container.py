"""What containers are given: variables, compute, paths; and the services beside an agent."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from proctor.api.base import Spec
from proctor.api.quantity import Quantity


class EnvVar(Spec):
    """A plain environment variable."""

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


class ChecksPlace(StrEnum):
    """Where commands of criteria run."""

    SEPARATE = "Separate"
    IN_PLACE = "InPlace"


class SandboxUser(StrEnum):
    """Which user the task's containers run as."""

    NON_ROOT = "NonRoot"
    IMAGE = "Image"


ROOTS_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What package managers need of an image's root; neither tracing, nor raw sockets, nor mounts."""


ImageReference = Annotated[
    str, StringConstraints(pattern=r"^[^\s]+$", min_length=1, max_length=512)
]
MAX_SERVICES = 5


class Service(Spec):
    """A server beside the agent, such as a database, for as long as the trial lasts."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=40),
        Field(description="Unique in the sandbox; the agent reaches it as NAME:PORT."),
    ]
    image: Annotated[ImageReference, Field(description="Its image.")]
    port: Annotated[
        int,
        Field(
            ge=1,
            le=65_535,
            description="TCP port that it listens on, on all addresses. The agent starts once it "
            "can be connected to.",
        ),
    ]
    command: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=8192)], ...],
        Field(max_length=64, description="Replaces the image's entry point."),
    ] = ()
    args: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=8192)], ...],
        Field(max_length=64, description="Replaces the image's arguments."),
    ] = ()
    env: Annotated[
        tuple[EnvVar, ...], Field(max_length=64, description="Its environment variables.")
    ] = ()
    resources: Annotated[
        Resources | None,
        Field(description="Its compute. Default 500m CPU, 512Mi of memory, 1Gi of disk."),
    ] = None
    ready_timeout_seconds: Annotated[
        int | None,
        Field(ge=1, le=3600, description="How long its port may take to answer. Default 120."),
    ] = None
