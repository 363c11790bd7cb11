"""Scripts of scripted models, looked at before anything runs: an agent never answers for one."""

import json
from collections.abc import Iterator

from proctor.api.errors import Problem, SpecError
from proctor.planning.documents import DOCUMENT, read_documents
from proctor.wire.script import Script, ScriptedAnswer
from proctor.wire.script_text import parse_script


def script_problems(text: str, field: str) -> Iterator[Problem]:
    """All that is wrong with a script; ``field`` is where its text stands."""
    problems = tuple(_text_problems(text, field))
    if problems:
        yield from problems
        return
    try:
        yield from _value_problems(parse_script(text, field), field)
    except SpecError as error:
        yield from error.problems
    except ValueError as error:  # such as the date 2024-13-01
        yield Problem(field, f"has a value that is none: {error}", "put it in quotes")


def _text_problems(text: str, field: str) -> Iterator[Problem]:
    try:
        documents = read_documents(text)
        problems = [problem for document in documents for problem in document.problems]
    except SpecError as error:
        problems = list(error.problems)
    for problem in problems:
        where = field if problem.field == DOCUMENT else f"{field}.{problem.field}"
        line = f" (line {problem.line} of the script)" if problem.line else ""
        yield Problem(where, f"{problem.message}{line}", problem.remedy)


def _value_problems(script: Script, field: str) -> Iterator[Problem]:
    for index, rule in enumerate(script.rules):
        for tool in rule.then.tools if isinstance(rule.then, ScriptedAnswer) else ():
            try:
                json.dumps(tool.input, allow_nan=False)
            except (TypeError, ValueError) as error:
                where = f"{field}.rules[{index}].answer.tools"
                yield Problem(where, f"input of {tool.name} is not JSON: {error}", "quote dates")
