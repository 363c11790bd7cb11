"""``file_matches_regex``: a file matches a regular expression, or does not."""

from typing import Annotated, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from proctor.api.catalog import Traits
from proctor.api.evidence import Evidence
from proctor.api.verdict import Scored, Verdict
from proctor.criteria.contract import Criterion
from proctor.criteria.fields import FilePath, RegexFlags, RegexText, compiled
from proctor.criteria.reading import read_one
from proctor.criteria.wording import shortened


class FileMatchesRegex(Criterion):
    """A regular expression is found in a file, or must not be."""

    type: ClassVar[str] = "file_matches_regex"
    traits: ClassVar[Traits] = Traits(reads=frozenset({"files"}))

    path: FilePath
    regex_flags: RegexFlags = 0
    pattern: Annotated[
        RegexText,
        Field(description="Python regular expression, searched for anywhere in the file."),
    ]
    must_match: Annotated[
        bool, Field(description="False: the file must exist and must not match.")
    ] = True

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str, info: ValidationInfo) -> str:
        compiled(pattern, info.data.get("regex_flags", 0))
        return pattern


def check_file_matches_regex(criterion: FileMatchesRegex, evidence: Evidence, /) -> Verdict:
    """Score 1 when ``re.search`` says what ``mustMatch`` expects, else 0; a missing file is 0."""
    file = read_one(evidence, criterion.path)
    if isinstance(file, Scored):
        return file
    match = compiled(criterion.pattern, criterion.regex_flags).search(file.text)
    pattern = f"/{shortened(criterion.pattern)}/"
    if match is None:
        return Scored(float(not criterion.must_match), f"{file.name} does not match {pattern}")
    line = file.text.count("\n", 0, match.start()) + 1
    return Scored(float(criterion.must_match), f"{file.name} matches {pattern} in line {line}")
