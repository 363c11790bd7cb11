"""Labels of containers: whose they are, so that nothing but what is abandoned gets removed.

One engine may serve several machines, users and containers with folders of their own. Whether a
folder is gone or in use is seen only by who sees the same folders, so a container says where its
folder's name is to be understood.
"""

import os
from pathlib import Path

from proctor.local.engine import EngineError

FOLDER_LABEL = "proctor.dev/folder"
"""The folder of its run."""

PLACE_LABEL = "proctor.dev/place"
"""Where that folder is: see ``this_place``."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MOUNTS = Path("/proc/self/ns/mnt")


def this_place() -> str:
    """The same for all processes of this user and boot that see the same folders; for no other.

    Raises:
        EngineError: Without a complete ``/proc``.
    """
    try:
        boot, mounts, root = _BOOT.read_text().strip(), _MOUNTS.stat(), Path("/").stat()
    except OSError as error:
        raise EngineError(
            f"containers need {error.filename}, and here it is not ({error.strerror}): run without "
            "--container"
        ) from None
    return place_of(os.geteuid(), boot, mounts.st_ino, (root.st_dev, root.st_ino))


def place_of(uid: int, boot: str, mounts: int, root: tuple[int, int]) -> str:
    """A place by its user, boot id, mount namespace, and device and inode of its root folder."""
    return "-".join((str(uid), boot, str(mounts), *map(str, root)))


def labels(folder: Path, place: str) -> tuple[str, str]:
    """Words of ``create`` for a container of the run in this folder."""
    return f"--label={FOLDER_LABEL}={folder}", f"--label={PLACE_LABEL}={place}"
