"""What an agent starts with, and what is hidden from it: files, and where they come from."""

from typing import Annotated

from pydantic import Field, StringConstraints

from proctor.api.base import RelativePath, Spec
from proctor.api.container import AbsolutePath
from proctor.api.secret_refs import ObjectName

Text = Annotated[str, StringConstraints(max_length=65_536)]

MAX_FILE_BYTES = 600_000
"""Of one trial's files on either side: a ConfigMap holds 1 MiB, and base64 adds a third."""

_MAX_BASE64 = 820_000
"""``MAX_FILE_BYTES`` in base64, with its line breaks."""


class WorkspaceFile(Spec):
    """One file to lay into a workspace before the agent starts."""

    path: Annotated[RelativePath, Field(description="Path below the workspace.")]
    content: Annotated[
        Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None,
        Field(description="Text of the file, in UTF-8."),
    ] = None
    content_base64: Annotated[
        Annotated[str, StringConstraints(max_length=_MAX_BASE64)] | None,
        Field(description="Bytes of the file in base64, for what is not text."),
    ] = None
    executable: Annotated[bool, Field(description="Whether the file may be executed.")] = False


class Files(Spec):
    """A set of files."""

    files: Annotated[
        tuple[WorkspaceFile, ...],
        Field(
            max_length=200, description="Files; later ones replace earlier ones of the same path."
        ),
    ] = ()


class ImageFolder(Spec):
    """A folder of the task's image."""

    path: Annotated[
        AbsolutePath,
        Field(description="Such as /testbed. The workspace is at this path, not at /workspace."),
    ]


class ConfigMapFiles(Spec):
    """A ConfigMap of the run's namespace, each key a file."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253),
        Field(description="Its name. What it holds when the run is accepted counts."),
    ]
    path: Annotated[
        RelativePath | None,
        Field(description="Folder below the workspace. Absent: the workspace itself."),
    ] = None


class GitSecret(Spec):
    """A Secret of the run's namespace for a git server, such as one of type basic-auth."""

    name: Annotated[
        ObjectName,
        Field(
            description="Its name. Key password holds a password or an access token; username "
            "(default git) and ca.crt, certificates in PEM that are trusted too, may be there."
        ),
    ]


class GitRepository(Spec):
    """One commit of a git repository, fetched before the agent starts."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=512),
        Field(description="By https, such as https://github.com/acme/shop.git."),
    ]
    commit: Annotated[
        str,
        StringConstraints(min_length=1, max_length=64),
        Field(
            description="Full id, 40 hexadecimal digits: every trial starts from the same files, "
            "so it is neither a branch nor a tag."
        ),
    ]
    path: Annotated[
        RelativePath | None,
        Field(
            description="Folder of the repository: its files alone are the workspace. Absent: all "
            "of it, with a repository of that one commit in .git."
        ),
    ] = None
    secret_ref: Annotated[
        GitSecret | None,
        Field(
            description="Who asks; absent: nobody. `proctor run` asks the program that "
            "GIT_ASKPASS names instead."
        ),
    ] = None


class Workspace(Files):
    """What the agent starts with: a folder of the image or a repository, then files."""

    image: Annotated[
        ImageFolder | None,
        Field(
            description="A folder of the task's image, copied first. "
            "Needs a cluster or `proctor run --container`."
        ),
    ] = None
    git: Annotated[
        GitRepository | None,
        Field(description="A commit of a repository. Not beside image."),
    ] = None
    config_map: Annotated[
        ConfigMapFiles | None, Field(description="Files of a ConfigMap, below those of files.")
    ] = None
