"""Evidence in memory, as criteria see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from proctor.api.evidence import CommandResult, EvidenceLimitError


@dataclass(frozen=True, slots=True)
class FakeEvidence:
    """``limit_bytes`` is what all matches together may have."""

    workspace: Mapping[str, bytes] = field(default_factory=dict)
    references: Mapping[str, bytes] = field(default_factory=dict)
    results: Sequence[CommandResult] = ()
    limit_bytes: int = 1_000_000

    def files(self, glob: str) -> Mapping[str, bytes]:
        matches = _matching(self.workspace, glob)
        size = sum(map(len, matches.values()))
        if size > self.limit_bytes:
            raise EvidenceLimitError(f"{glob} has {size} bytes, more than {self.limit_bytes}")
        return matches

    def is_directory(self, path: str) -> bool:
        return any(name.startswith(f"{path}/") for name in self.workspace)

    def reference(self, glob: str) -> Mapping[str, bytes]:
        return _matching(self.references, glob)

    def commands(self) -> Sequence[CommandResult]:
        return self.results


def _matching(files: Mapping[str, bytes], glob: str) -> Mapping[str, bytes]:
    if glob in files:
        return {glob: files[glob]}
    return {name: data for name, data in files.items() if fnmatchcase(name, glob)}
