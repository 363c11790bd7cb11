"""Spellings of one model: what providers, regions and gateways put around its name. Pure."""

import re
from collections.abc import Iterator

_ROUTES = (
    "bedrock/converse/",
    "bedrock/",
    "converse/",
    "vertex_ai/",
    "azure_ai/",
    "azure/",
    "openrouter/",
    "anthropic/",
    "openai/",
    "google/",
    "gemini/",
    "models/",
)
_PATH = re.compile(r"^(?:arn:.*|.*/models|.*/endpoints)/([^/]+)$")
_REGION = re.compile(r"^(?:[a-z]{2}(?:-[a-z]+)?(?:-\d)?|apac|global|regional)\.(?=[a-z0-9]+\.)")
_VENDOR = re.compile(r"^(?:anthropic|openai|google)\.")
_BEDROCK_VERSION = re.compile(r"-v\d+(?::\d+(?::\d+k)?)?$")
_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_BEDROCK = re.compile(r"^(?:[a-z0-9-]+\.)?[a-z0-9]+\.[a-z]")


def spellings(model: str) -> tuple[str, ...]:
    """The name and what is left of it, from the most exact to the shortest; all in lower case.

    Prefixes of routes (``bedrock/``, ``openrouter/``, ``models/``), ARNs and resource paths, then
    regions (``us.``), vendors (``anthropic.``), Bedrock's versions (``-v1:0``) and dates are taken
    away one by one.
    """
    return tuple(dict.fromkeys(_shorter(model.strip().lower())))


def _shorter(name: str) -> Iterator[str]:
    yield name
    path = _PATH.match(name)
    if path:
        yield (name := path[1])
    while route := next((route for route in _ROUTES if name.startswith(route)), None):
        yield (name := name.removeprefix(route))
    for pattern in (_REGION, _VENDOR, _BEDROCK_VERSION):
        yield (name := pattern.sub("", name))
    yield name.replace("@", "-")
    yield _DATE.sub("", name)


def sellers(model: str) -> tuple[str, ...]:
    """Whose prices hold for the name, in the catalog's words, the nearest one first.

    A name in Bedrock's or OpenRouter's own spelling is bought there; any other from its maker.
    """
    name = model.strip().lower()
    if name.startswith("openrouter/"):
        return ("openrouter",)
    path = _PATH.match(name)
    bare = (path[1] if path else name).removeprefix("bedrock/").removeprefix("converse/")
    is_bedrock = bare != name or name.startswith("arn:aws:bedrock") or _BEDROCK.match(bare)
    makers = ("anthropic", "openai", "google")
    return ("aws", *makers) if is_bedrock else makers
