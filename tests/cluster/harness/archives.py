"""Image archives: writing one from a folder, and telling what is in one.

No cluster and no image tool is needed, so tests can make the images that they run.
"""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.harness.errors import HarnessError

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Archive:
    """One image in an archive: its name as a pod writes it, and a digest of its content."""

    name: str
    digest: str


def write_docker_archive(
    tree: Path,
    name: str,
    output: Path,
    *,
    entrypoint: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Archive:
    """Write a docker-archive with one layer, the files below ``tree``, all owned by root.

    Args:
        tree: Folder that becomes the image's root.
        name: Full image name with its tag.
        output: The archive to write.
        entrypoint: Command of the image; empty when each pod names its own.
        environ: Environment beside ``PATH``.

    Returns:
        What ``load-image`` will find; equal trees give equal digests.
    """
    layer = _layer(tree)
    variables = {"PATH": DEFAULT_PATH, **(environ or {})}
    config = {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {
            "Entrypoint": list(entrypoint) or None,
            "Env": [f"{key}={value}" for key, value in variables.items()],
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_sha256(layer)}"]},
        "history": [],
    }
    encoded = json.dumps(config).encode()
    file = f"{_sha256(encoded)}.json"
    manifest = [{"Config": file, "RepoTags": [name], "Layers": ["layer.tar"]}]
    members = {file: encoded, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    with tarfile.open(output, "w") as archive:
        for member, data in members.items():
            entry = tarfile.TarInfo(member)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return Archive(name, f"sha256:{_sha256(encoded)}")


def read_archive(path: Path) -> tuple[Archive, ...]:
    """Images in a docker-archive or an oci-archive, one for each name.

    Raises:
        HarnessError: it is neither, or an image in it has no full name.
    """
    try:
        with tarfile.open(path) as archive:
            names = {name.removeprefix("./") for name in archive.getnames()}
            for index, read in (("manifest.json", _docker), ("index.json", _oci)):
                if index in names:
                    return read(json.loads(_member(archive, index)), path)
    except (OSError, tarfile.TarError) as error:
        raise HarnessError(f"{path} is not a readable archive: {error}") from error
    raise HarnessError(
        f"{path} is neither a docker-archive nor an oci-archive; "
        "write one with `buildah push IMAGE docker-archive:FILE:NAME:TAG`"
    )


def _docker(manifest: Any, path: Path) -> tuple[Archive, ...]:
    found = []
    for image in manifest:
        digest = "sha256:" + image["Config"].removesuffix(".json").rpartition("/")[2]
        found += [Archive(name, digest) for name in image["RepoTags"] or ()]
    if not found:
        raise HarnessError(f"no image in {path} has a name; push it with NAME:TAG")
    return tuple(found)


def _oci(index: Any, path: Path) -> tuple[Archive, ...]:
    found = []
    for image in index["manifests"]:
        notes = image.get("annotations", {})
        name = notes.get("io.containerd.image.name") or notes.get(
            "org.opencontainers.image.ref.name", ""
        )
        if "/" not in name and ":" not in name:
            raise HarnessError(f"image {name!r} in {path} has no full name; push it with NAME:TAG")
        found.append(Archive(name, image["digest"]))
    return tuple(found)


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    for candidate in (name, f"./{name}"):
        try:
            member = archive.extractfile(candidate)
        except KeyError:
            continue
        if member is not None:
            return member.read()
    raise HarnessError(f"{name} in {archive.name!r} is not a file")


def _layer(tree: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for path in sorted(tree.rglob("*")):
            layer.add(path, path.relative_to(tree).as_posix(), recursive=False, filter=_as_root)
    return buffer.getvalue()


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = 0
    return entry


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
