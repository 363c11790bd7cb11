"""What one criterion gets to see: the frozen workspace, hidden files, results of its commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.api.evidence import CommandResult
from proctor.api.orders import FileOrder
from proctor.runner.capture import CapturedWorkspace
from proctor.runner.globs import parse_glob


@dataclass(frozen=True, slots=True)
class TrialEvidence:
    """Implements ``proctor.api.evidence.Evidence``."""

    workspace: CapturedWorkspace
    hidden: Sequence[FileOrder]
    results: Sequence[CommandResult] = ()

    def files(self, glob: str) -> Mapping[str, bytes]:
        """See ``Evidence.files``."""
        return self.workspace.files(glob)

    def is_directory(self, path: str) -> bool:
        """See ``Evidence.is_directory``."""
        return self.workspace.is_directory(path)

    def reference(self, glob: str) -> Mapping[str, bytes]:
        """See ``Evidence.reference``."""
        known = {file.path: file.data for file in self.hidden}
        if glob in known:
            return {glob: known[glob]}
        pattern = parse_glob(glob)
        return {path: data for path, data in sorted(known.items()) if pattern.matches(path)}

    def commands(self) -> Sequence[CommandResult]:
        """See ``Evidence.commands``."""
        return self.results
