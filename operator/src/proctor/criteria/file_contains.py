"""``file_contains``: a file has some texts and lacks others."""

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from proctor.api.catalog import Traits
from proctor.api.evidence import Evidence
from proctor.api.verdict import Scored, Verdict
from proctor.criteria.contract import Criterion
from proctor.criteria.fields import FilePath
from proctor.criteria.reading import Found, read_one
from proctor.criteria.wording import listed, shown

Part = Annotated[str, StringConstraints(min_length=1, max_length=8192)]


class FileContains(Criterion):
    """A file contains texts, case-sensitively, and lacks others."""

    type: ClassVar[str] = "file_contains"
    traits: ClassVar[Traits] = Traits(reads=frozenset({"files"}))

    path: FilePath
    includes: Annotated[
        tuple[Part, ...], Field(max_length=100, description="Texts that the file must contain.")
    ] = ()
    excludes: Annotated[
        tuple[Part, ...], Field(max_length=100, description="Texts that it must not contain.")
    ] = ()


def check_file_contains(criterion: FileContains, evidence: Evidence, /) -> Verdict:
    """Score the mean of two shares: ``includes`` that were found, ``excludes`` that were not.

    An empty list does not count; with both empty the file only has to exist. A missing file is 0.
    """
    file = read_one(evidence, criterion.path)
    if isinstance(file, Scored):
        return file
    return _judge(criterion, file)


def _judge(criterion: FileContains, file: Found) -> Scored:
    text = file.text
    lacking = [part for part in criterion.includes if part not in text]
    present = [part for part in criterion.excludes if part in text]
    shares = [
        1 - len(wrong) / len(parts)
        for wrong, parts in ((lacking, criterion.includes), (present, criterion.excludes))
        if parts
    ]
    score = sum(shares) / len(shares) if shares else 1.0
    return Scored(score, _explained(criterion, file.name, lacking, present))


def _explained(criterion: FileContains, path: str, lacking: list[str], present: list[str]) -> str:
    said = []
    if criterion.includes:
        total = len(criterion.includes)
        said.append(f"{total - len(lacking)} of {total} expected texts found")
    if lacking:
        said.append(f"missing: {listed([shown(part) for part in lacking])}")
    if criterion.excludes:
        said.append(f"{len(present)} of {len(criterion.excludes)} excluded texts found")
    if present:
        said.append(f"not allowed: {listed([shown(part) for part in present])}")
    return f"{path}: {'; '.join(said) or 'exists'}"
