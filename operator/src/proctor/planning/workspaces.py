"""A workspace that lives in the task's image: where it is, and what cannot be (pure)."""

from collections.abc import Iterator, Sequence

from proctor.api.errors import Problem
from proctor.api.task import Sandbox
from proctor.api.workspace import Workspace
from proctor.planning.model import WORKSPACE
from proctor.planning.reserved import RESERVED, SYSTEM, overlap


def image_path(*layers: Workspace | None) -> str | None:
    """Path of the image's folder, the last layer's that names one; None: the workspace is made."""
    paths = [one.image.path for one in layers if one is not None and one.image is not None]
    return paths[-1] if paths else None


def path_problems(workspace: Workspace | None, field: str) -> Iterator[Problem]:
    """A folder that cannot be covered by the workspace; ``field`` is the workspace's path."""
    if workspace is not None and workspace.config_map is not None:
        below = workspace.config_map.path
        if below is not None and ".." in below.split("/"):
            yield Problem(f"{field}.configMap.path", "has `..` in it", "write it without `..`")
    if workspace is None or workspace.image is None:
        return
    path = workspace.image.path
    taken = [own for own in (*RESERVED, *SYSTEM) if own != WORKSPACE and overlap(path, own)]
    if taken or ".." in path.split("/"):
        reason = f"overlaps {taken[0]}" if taken else "has `..` in it"
        yield Problem(
            f"{field}.image.path",
            f"{path!r} {reason}",
            "name a folder of the image's own, such as /testbed",
        )


def cell_problems(path: str | None, sandbox: Sandbox, field: str) -> Iterator[Problem]:
    """What only the merged sandbox tells of ``path``; ``field`` is the workspace's."""
    if path is None:
        return
    if sandbox.image is None:
        yield Problem(
            f"{field}.image",
            f"{path!r} is a folder of an image, and none is named",
            "set sandbox.image",
        )
    for persisted in _overlapping(path, sandbox.persist):
        yield Problem(
            f"{field}.image.path",
            f"{path!r} overlaps sandbox.persist {persisted!r}",
            "the workspace passes on by itself: take it out of persist",
        )


def local_problems(workspace: Workspace | None, field: str) -> Iterator[Problem]:
    """What ``proctor run`` cannot do: it has no image."""
    if workspace is not None and workspace.image is not None:
        yield Problem(
            f"{field}.image",
            f"{workspace.image.path!r} is a folder of an image, and there is none here",
            "run with --container or on a cluster, or give the files as workspace.files",
        )


def _overlapping(path: str, others: Sequence[str]) -> list[str]:
    return [other for other in others if overlap(path, other)]
