"""What a Dockerfile takes from its build context, read from its text."""

import json
import re
import shlex

CONTINUED = re.compile(r"\\\s*\n")
COPY = re.compile(r"^(?:COPY|ADD)\s+(?P<rest>.+)$", re.IGNORECASE | re.MULTILINE)
FLAG = re.compile(r"--(?P<name>\w+)(?:=\S+)?\s+")


def copied_paths(text: str) -> tuple[str, ...]:
    """List the context paths that a Dockerfile copies, sorted, each once.

    What comes from another stage or image is not of the context, and left out.
    """
    paths: set[str] = set()
    for instruction in COPY.finditer(CONTINUED.sub(" ", text)):
        flags, words = _flags_and_words(instruction["rest"].strip())
        if "from" not in flags:
            paths.update(words[:-1])
    return tuple(sorted(paths))


def _flags_and_words(rest: str) -> tuple[set[str], list[str]]:
    flags = set()
    while flag := FLAG.match(rest):
        flags.add(flag["name"].lower())
        rest = rest[flag.end() :]
    return flags, json.loads(rest) if rest.startswith("[") else shlex.split(rest)
