"""Provider keys of the user's environment: read once, handed to the gateway only."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from proctor.api.errors import UserError
from proctor.api.evalrun import ModelsMode
from proctor.gateway.providers import (
    ANTHROPIC_MODELS,
    GOOGLE_MODELS,
    OPENAI_MODELS,
    Provider,
    providers_from_environment,
)
from proctor.local.planned import PlannedRun
from proctor.wire.formats import FORMATS

NAMESPACE = "local"

_ASKING = (ModelsMode.LIVE, ModelsMode.RECORD)


def find_providers(
    runs: Sequence[PlannedRun], environment: Mapping[str, str]
) -> tuple[Provider, ...]:
    """The providers whose keys the environment holds.

    Raises:
        UserError: When an address or a key cannot be one (it may hold a password, so it is not
            shown), or when a run needs a model that none of them serves; it names the variable.
    """
    needed = live_models(runs)
    wrong = [*_bad_addresses(environment), *_bad_keys(environment)]
    if wrong and needed:
        raise UserError("\n".join(wrong))
    found = providers_from_environment(environment)
    missing = [model for model in needed if not _is_served(model, found)]
    if missing:
        raise UserError("\n".join(f"{_users(model, runs)}: {_missing(model)}" for model in missing))
    return found


def _bad_addresses(environment: Mapping[str, str]) -> Iterator[str]:
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        address = environment.get(name)
        if address and not _is_address(address):
            yield f"{name} is no address of a server: write http(s)://HOST or http(s)://HOST:PORT"


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(text)
        return (
            url.scheme in ("http", "https")
            and bool(url.hostname)
            and url.port != 0
            and text.isprintable()
            and " " not in text
        )
    except ValueError:
        return False


def _bad_keys(environment: Mapping[str, str]) -> Iterator[str]:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        key = environment.get(name, "")
        if not (key.isascii() and key.isprintable()) or " " in key:
            yield f"{name} is no key: it holds spaces, line ends or other characters that none has"


def live_models(runs: Sequence[PlannedRun]) -> tuple[str, ...]:
    """Models that a real provider must answer for, sorted, each once."""
    cells = [cell for run in runs for cell in run.plan.cells.values()]
    return tuple(
        sorted(
            {
                cell.model
                for cell in cells
                if cell.model and cell.needs_model and cell.models in _ASKING
            }
        )
    )


def _is_served(model: str, providers: Sequence[Provider]) -> bool:
    return any(
        provider.serves(model, wire_format, NAMESPACE)
        for provider in providers
        for wire_format in FORMATS.values()
    )


def _users(model: str, runs: Sequence[PlannedRun]) -> str:
    """Names of the runs that need the model."""
    return ", ".join(run.source.name for run in runs if model in live_models([run]))


def _missing(model: str) -> str:
    official = (
        ("ANTHROPIC", ANTHROPIC_MODELS),
        ("OPENAI", OPENAI_MODELS),
        ("GEMINI", GOOGLE_MODELS),
    )
    for name, patterns in official:
        if any(model.startswith(pattern.rstrip("*")) for pattern in patterns):
            return (
                f"the model {model!r} needs a key: set {name}_API_KEY, or use models.mode Scripted"
            )
    return (
        f"the model {model!r} is not one of Anthropic's, OpenAI's or Google's: set "
        "OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL to a server that has it"
    )
