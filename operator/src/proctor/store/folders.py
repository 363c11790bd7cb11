"""The store's nouns: which folder, and what it is made of."""

from dataclasses import dataclass

from proctor.api.record import MANIFEST, RecordManifest
from proctor.api.stored import StoredFolder


class ConflictError(Exception):
    """What is sent contradicts what is there; sending it again changes nothing."""


class NotOfferedError(Exception):
    """Nobody sent this folder's manifest, or the index that knew it was lost: send it again."""


@dataclass(frozen=True, slots=True)
class FolderKey:
    """Which folder; a namespace that was made again has another UID."""

    namespace_uid: str
    kind: str
    digest: str

    @classmethod
    def of(cls, folder: StoredFolder) -> "FolderKey":
        """The key of a folder."""
        return cls(folder.namespace_uid, folder.kind, folder.digest)

    @property
    def note(self) -> str:
        """Key of the object that says what the folder is."""
        return f"folders/{self.namespace_uid}/{self.kind}/{self.digest}.json"

    def blob(self, sha256: str) -> str:
        """Key of the object that holds a part, shared by all folders of the namespace."""
        return f"blobs/{self.namespace_uid}/{sha256[:2]}/{sha256}"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a folder; the manifest is one of them."""

    path: str
    sha256: str
    size_bytes: int


def parts_of(manifest: RecordManifest, digest: str, manifest_bytes: int) -> tuple[Part, ...]:
    """Every part that a manifest names, and itself."""
    named = (Part(one.path, one.sha256, one.size) for one in manifest.parts)
    return (Part(MANIFEST, digest, manifest_bytes), *named)
