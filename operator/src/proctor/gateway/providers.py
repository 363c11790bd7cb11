"""Providers: where a model is reached, with which key, and for whom."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from proctor.api.errors import PlatformError
from proctor.wire.format import WireFormat
from proctor.wire.formats import ANTHROPIC_MESSAGES, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES

ANTHROPIC_MODELS = ("claude-*",)
GOOGLE_MODELS = ("gemini-*", "gemma-*")
OPENAI_MODELS = ("gpt-*", "chatgpt-*", "codex-*", "o1*", "o3*", "o4*", "ft:*")


class KeySource(Protocol):
    """Where a provider's key comes from."""

    def read(self) -> str | None:
        """The key now; None: this provider needs none.

        Raises:
            PlatformError: When it cannot be read; the message never holds the key.
        """


@dataclass(frozen=True, slots=True)
class FixedKey:
    """A key that stays the same; it never shows in a representation."""

    key: str | None = field(repr=False)

    def read(self) -> str | None:
        """The key."""
        return self.key


class FileKey:
    """A key in a file, read again when the file has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._key = ""

    def read(self) -> str:
        """The key without surrounding white space."""
        try:
            stat = os.stat(self._path)
            seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if seen != self._seen:
                self._key, self._seen = self._path.read_text("utf-8").strip(), seen
        except (OSError, UnicodeDecodeError) as error:
            raise PlatformError(f"key file {self._path}: {type(error).__name__}") from None
        if not self._key:
            raise PlatformError(f"key file {self._path} is empty")
        return self._key


@dataclass(frozen=True, slots=True)
class Manner:
    """How a provider is asked, where that differs from how its API's maker is.

    Args:
        auth_header: Header that takes the key; None: the API's own.
        auth_scheme: Word before the key in that header; empty: none.
        headers: Sent with each call; they replace the client's of the same name.
        path: Path of calls below the base URL with ``{model}`` and ``{method}``; None: the API's
            own.
        query: Added to each call's query, such as ``api-version=2025-04-01``; empty: nothing.
    """

    auth_header: str | None = None
    auth_scheme: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None
    query: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """One place where models are reached.

    Args:
        wire_formats: APIs that it speaks, at least one.
        base_url: As the provider's own SDK takes it, without a slash at the end.
        models: Shell-style patterns of the names that it serves.
        namespaces: Patterns of the namespaces that may use its key.
    """

    name: str
    wire_formats: tuple[WireFormat, ...]
    base_url: str
    key: KeySource
    models: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)
    manner: Manner = field(default_factory=Manner)

    def lists(self, wire_format: WireFormat, namespace: str) -> bool:
        """Whether it tells this namespace its models in this format."""
        return any(own.name == wire_format.name for own in self.wire_formats) and any(
            fnmatchcase(namespace, pattern) for pattern in self.namespaces
        )

    @property
    def counts(self) -> bool:
        """Whether it has a place where tokens are counted, that is not the one of calls."""
        return self.manner.path is None or "{method}" in self.manner.path

    def serves(self, model: str, wire_format: WireFormat, namespace: str) -> bool:
        """Whether it takes a request for ``model`` in this format from this namespace."""
        return self.lists(wire_format, namespace) and any(
            fnmatchcase(model, pattern) for pattern in self.models
        )


def route(
    providers: Iterable[Provider], model: str, wire_format: WireFormat, namespace: str
) -> Provider | None:
    """The first provider that serves a request; None when there is none."""
    return next((p for p in providers if p.serves(model, wire_format, namespace)), None)


def providers_from_environment(environment: Mapping[str, str]) -> tuple[Provider, ...]:
    """Providers by the usual variables of their makers: ``*_API_KEY`` and ``*_BASE_URL``.

    Google's are ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``, and ``GOOGLE_GEMINI_BASE_URL``. A
    base URL of one's own may serve any model and may need no key; the official one needs both.
    """
    found = (_from_environment(environment, maker) for maker in _MAKERS)
    return tuple(provider for provider in found if provider is not None)


@dataclass(frozen=True, slots=True)
class _Maker:
    name: str
    wire_formats: tuple[WireFormat, ...]
    official_url: str
    models: tuple[str, ...]
    key_names: tuple[str, ...]
    url_name: str


_MAKERS = (
    _Maker(
        name="anthropic",
        wire_formats=(ANTHROPIC_MESSAGES,),
        official_url="https://api.anthropic.com",
        models=ANTHROPIC_MODELS,
        key_names=("ANTHROPIC_API_KEY",),
        url_name="ANTHROPIC_BASE_URL",
    ),
    _Maker(
        name="openai",
        wire_formats=(OPENAI_CHAT, OPENAI_RESPONSES),
        official_url="https://api.openai.com/v1",
        models=OPENAI_MODELS,
        key_names=("OPENAI_API_KEY",),
        url_name="OPENAI_BASE_URL",
    ),
    _Maker(
        name="google",
        wire_formats=(GEMINI,),
        official_url="https://generativelanguage.googleapis.com",
        models=GOOGLE_MODELS,
        key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_name="GOOGLE_GEMINI_BASE_URL",
    ),
)


def _from_environment(environment: Mapping[str, str], maker: _Maker) -> Provider | None:
    keys = (environment.get(name) for name in maker.key_names)
    key = next((key for key in keys if key), None)
    base_url = environment.get(maker.url_name) or None
    if key is None and base_url is None:
        return None
    url = (base_url or maker.official_url).rstrip("/")
    served = maker.models if base_url is None else ("*",)
    return Provider(maker.name, maker.wire_formats, url, FixedKey(key), served)
