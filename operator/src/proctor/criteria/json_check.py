"""``json_check``: a file is JSON, fits a schema, and claims about it hold."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from proctor.api.catalog import Source, Traits
from proctor.api.evidence import Evidence
from proctor.api.validation import refusal
from proctor.api.verdict import Scored, Unscored, Verdict
from proctor.criteria.contract import Criterion
from proctor.criteria.fields import FilePath, RelativePath
from proctor.criteria.json_assertion import JsonAssertion, failure
from proctor.criteria.json_schema import first_violation, schema_problem
from proctor.criteria.json_text import JsonTextError, parse_json
from proctor.criteria.reading import read_one
from proctor.criteria.wording import shortened

_SHOWN_FAILURES = 2


class JsonCheck(Criterion):
    """A JSON file is valid, fits a schema, and claims about it hold."""

    type: ClassVar[str] = "json_check"
    traits: ClassVar[Traits] = Traits(reads=frozenset({"files", "reference"}))

    path: FilePath
    json_schema: Annotated[
        dict[str, JsonValue] | None,
        Field(description="JSON Schema that the file must fit; draft 2020-12 unless $schema says."),
    ] = None
    schema_path: Annotated[
        RelativePath | None,
        Field(description="Reference file that holds the JSON Schema; instead of jsonSchema."),
    ] = None
    assertions: Annotated[
        tuple[JsonAssertion, ...], Field(max_length=100, description="Claims about the document.")
    ] = ()

    @field_validator("json_schema")
    @classmethod
    def _is_usable(cls, schema: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        problem = None if schema is None else schema_problem(schema)
        if problem is not None:
            raise refusal(f"the schema cannot be used: {problem}", "correct the schema")
        return schema

    @model_validator(mode="after")
    def _one_schema(self) -> Self:
        if self.json_schema is not None and self.schema_path is not None:
            raise refusal("both jsonSchema and schemaPath are given", "remove one of them")
        return self

    def reads(self) -> frozenset[Source]:
        """The reference only where the schema lies in it."""
        return self.traits.reads if self.schema_path else frozenset({"files"})


def check_json_check(criterion: JsonCheck, evidence: Evidence, /) -> Verdict:
    """Score the mean of the schema (1 or 0) and the share of assertions that hold.

    With neither, valid JSON scores 1. Text that is no JSON, and a document that breaks the
    schema, score 0 whatever the assertions say.

    Returns:
        ``Unscored`` when the schema's reference file is missing or cannot be used.
    """
    schema = _schema(criterion, evidence)
    if isinstance(schema, Unscored):
        return schema
    file = read_one(evidence, criterion.path)
    if isinstance(file, Scored):
        return file
    try:
        document = parse_json(file.data)
    except JsonTextError as error:
        return Scored(0.0, f"{file.name} is not valid JSON: {shortened(str(error))}")
    violation = None if schema is None else _violation(schema, document)
    if violation is not None:
        return Scored(0.0, f"{file.name} breaks the schema: {violation}")
    return _asserted(criterion, file.name, document)


def _schema(criterion: JsonCheck, evidence: Evidence) -> Any | Unscored:
    """The schema; None when none is wanted."""
    if criterion.schema_path is None:
        return criterion.json_schema
    files = evidence.reference(criterion.schema_path)
    if len(files) != 1:
        return Unscored(f"{len(files)} reference files match {criterion.schema_path}, expected one")
    (data,) = files.values()
    try:
        schema = parse_json(data)
    except JsonTextError as error:
        return Unscored(f"reference file {criterion.schema_path} is not valid JSON: {error}")
    problem = schema_problem(schema)
    if problem is not None:
        return Unscored(f"reference file {criterion.schema_path} is no usable schema: {problem}")
    return schema


def _violation(schema: Any, document: Any) -> str | None:
    try:
        return first_violation(schema, document)
    except RecursionError:
        return "it is nested too deeply to be checked"


def _asserted(criterion: JsonCheck, path: str, document: Any) -> Scored:
    has_schema = criterion.json_schema is not None or criterion.schema_path is not None
    shares = [1.0] if has_schema else []
    said = ["fits the schema" if has_schema else "is valid JSON"]
    if criterion.assertions:
        claims = [failure(assertion, document) for assertion in criterion.assertions]
        failures = [claim for claim in claims if claim is not None]
        held = len(claims) - len(failures)
        shares.append(held / len(claims))
        said.append(f"{held} of {len(claims)} assertions hold")
        said.extend(failures[:_SHOWN_FAILURES])
    return Scored(sum(shares) / len(shares) if shares else 1.0, f"{path}: {'; '.join(said)}")
