"""``file_exists``: something is there."""

from typing import Annotated, ClassVar

from pydantic import Field

from proctor.api.catalog import Traits
from proctor.api.evidence import Evidence
from proctor.api.verdict import Scored, Verdict
from proctor.criteria.contract import Criterion
from proctor.criteria.fields import RelativePath
from proctor.criteria.reading import missing
from proctor.criteria.wording import listed, shortened


class FileExists(Criterion):
    """A file or folder is in the workspace."""

    type: ClassVar[str] = "file_exists"
    traits: ClassVar[Traits] = Traits(reads=frozenset({"files"}))

    path: Annotated[
        RelativePath,
        Field(description="File or folder below the workspace, or a glob (* ? [) for files."),
    ]


def check_file_exists(criterion: FileExists, evidence: Evidence, /) -> Verdict:
    """Score 1 when a folder or at least one file is at the path, else 0."""
    if evidence.is_directory(criterion.path):
        return Scored(1.0, f"{shortened(criterion.path)} is a folder")
    matches = sorted(evidence.files(criterion.path))
    if matches:
        return Scored(1.0, f"{listed(matches)} found")
    return Scored(0.0, missing(evidence, criterion.path))
