"""Secrets that a run hands to its agents on purpose, and what the status says of them."""

from typing import Annotated

from pydantic import Field, StringConstraints

from proctor.api.base import Spec, Status

MAX_SECRETS = 64
"""Uses of Secrets that a run may have, so that its status can name all of them."""

ObjectName = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)
]
"""Name of a Secret, ConfigMap or claim."""

ObjectKey = Annotated[
    str, StringConstraints(pattern=r"^[-._a-zA-Z0-9]+$", min_length=1, max_length=253)
]
"""Key in the data of a Secret or ConfigMap."""


class SecretKey(Spec):
    """A key of a Secret in the run's namespace."""

    name: Annotated[ObjectName, Field(description="Name of the Secret.")]
    key: Annotated[ObjectKey, Field(description="Key in its data.")]


class SecretEnvVar(Spec):
    """A variable of the agent whose value is a secret."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128),
        Field(description="Name of the variable."),
    ]
    secret_ref: Annotated[
        SecretKey,
        Field(
            description="Where its value stands. `proctor run` takes the variable of this name "
            "from your own environment instead."
        ),
    ]


class SecretUse(Status):
    """One way in which agents of the run get a Secret."""

    name: Annotated[str, Field(max_length=253, description="The Secret.")]
    key: Annotated[
        str | None, Field(max_length=253, description="Key in it; absent: all or several.")
    ] = None
    variable: Annotated[
        str | None, Field(max_length=128, description="The agent's variable; absent: none.")
    ] = None
    mount_path: Annotated[
        str | None, Field(max_length=255, description="Folder in the container; absent: none.")
    ] = None
