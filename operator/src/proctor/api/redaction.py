"""Takes secret values out of texts, by value and never by name. Standard library only.

A value is found as it is, escaped for JSON or a URL, in hexadecimal and in base64 at any offset.
Tokens that Kubernetes makes for Proctor's own audiences are found by what they say of themselves,
because the kubelet renews them while a pod runs.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

SECRET_PREFIX = "PROCTOR_SECRET_"
"""A variable of a phase's own process: what follows is the name of the agent's variable."""

SECRET_FOLDERS = "PROCTOR_REDACT_FOLDERS"
"""A variable of a phase's own process: folders of Secrets, with ``:`` between them."""

LEAST_CHARACTERS = 6
"""A shorter value stands in too many harmless texts to be taken out of them."""

_LEAST_LINE = 16  # of a value with several lines, such as a private key, each long line counts
_LEAST_PART = 8  # of a value that was cut off at the end or the beginning of a text
_JWT = re.compile(r"eyJ[\w-]{8,}\.(eyJ[\w-]{8,})\.[\w-]{16,}", re.ASCII)
_OUR_AUDIENCES = "proctor-"
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # memory grows as the text at most
_ENCODED = re.compile(rb'"([A-Za-z0-9+/]{8,}={0,2})"')


class Redactor:
    """Takes the values of some secrets out of texts.

    Args:
        secrets: Name, for the mark that is left, → value. White space around a value is not part
            of it; one shorter than six characters is not looked for.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        forms: dict[str, str] = {}
        for name, value in secrets.items():
            for needle, mark in _forms(value.strip(), f"[redacted:{name}]"):
                forms.setdefault(needle, mark)
        self._forms = sorted(forms.items(), key=lambda form: -len(form[0]))
        self._bytes = [(needle.encode(), mark.encode()) for needle, mark in self._forms]
        self._starting: dict[str, list[str]] = {}
        for needle, _ in self._forms:
            self._starting.setdefault(needle[0], []).append(needle)
        self._longest = max((len(needle) for needle in forms), default=0)

    def text(self, text: str) -> str:
        """The text without them; also without a part that was cut off at either end."""
        text = self.whole(text)
        held = self.beginning(text)
        if held >= _LEAST_PART:
            text = f"{text[:-held]}[redacted]"
        for needle, _ in self._forms:
            start = self._ending(text, needle)
            if start:
                return f"[redacted]{text[start:]}"
        return text

    def whole(self, text: str) -> str:
        """The text without whole values."""
        for needle, mark in self._forms:
            if needle in text:
                text = text.replace(needle, mark)
        return _JWT.sub(_without_token, text) if "eyJ" in text else text

    def beginning(self, text: str) -> int:
        """How many characters at the end of ``text`` may be the beginning of a value."""
        for start in range(max(0, len(text) - self._longest + 1), len(text)):
            for needle in self._starting.get(text[start], ()):
                if needle.startswith(text[start:]):
                    return len(text) - start
        return 0

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it redacted; keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def json(self, data: bytes) -> bytes:
        """JSON, or lines of it, with the texts in it redacted; it stays JSON.

        Numbers stay as they are, whatever their digits: they are not texts. A text that is base64,
        as what commands print is in evidence, is looked at decoded: it may hold any form.
        """
        data = _ENCODED.sub(self._encoded, data)
        if not any(needle in data for needle, _ in self._bytes) and b"eyJ" not in data:
            return data
        return _STRING.sub(lambda found: self.data(found[0]), data)

    def data(self, data: bytes) -> bytes:
        """Bytes of any kind without whole values."""
        for needle, mark in self._bytes:
            if needle in data:
                data = data.replace(needle, mark)
        if b"eyJ" not in data:
            return data
        return _JWT.sub(_without_token, data.decode("latin-1")).encode("latin-1")

    def _encoded(self, found: re.Match[bytes]) -> bytes:
        try:
            decoded = base64.b64decode(found[1], validate=True)
        except binascii.Error:
            return found[0]
        kept = self.data(decoded)
        return found[0] if kept == decoded else b'"%b"' % base64.b64encode(kept)

    @staticmethod
    def _ending(text: str, needle: str) -> int:
        """How long the end of a value is that ``text`` begins with; 0: it does not."""
        part = text[:_LEAST_PART]
        start = needle.find(part, 1) if len(part) == _LEAST_PART else -1
        while start > 0:
            if text.startswith(needle[start:]):
                return len(needle) - start
            start = needle.find(part, start + 1)
        return 0


class StreamRedactor:
    """Redacts a text that comes in pieces: a value may be split between them."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be passed on; what may be the beginning of a value is held back."""
        text = self._redactor.whole(self._held + piece)
        held = self._redactor.beginning(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def end(self) -> str:
        """What was held back, at the end of the text."""
        text, self._held = self._held, ""
        return self._redactor.text(text)


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets that a phase's process was given: name of the agent's variable → value."""
    return {
        name.removeprefix(SECRET_PREFIX): value
        for name, value in environ.items()
        if name.startswith(SECRET_PREFIX)
    }


def _forms(value: str, mark: str) -> Iterator[tuple[str, str]]:
    """Every form of a value that is looked for, with what is put in its place."""
    if len(value) < LEAST_CHARACTERS:
        return
    lines = [line.strip() for line in value.splitlines()]
    for part in {value, *(line for line in lines if len(line) >= _LEAST_LINE)}:
        yield from ((form, mark) for form in _escaped(part))
        data = part.encode(errors="surrogateescape")
        yield from ((form, mark) for form in (data.hex(), data.hex().upper()))
        for form in _base64_forms(data):
            yield form, ("REDACTED" * (len(form) // 8 + 1))[: len(form)]  # so that it decodes


def _escaped(value: str) -> Iterator[str]:
    yield value
    once = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    yield from once
    yield from (json.dumps(text)[1:-1] for text in once)
    quoted = {
        quote(value, safe="", errors="surrogateescape"),
        quote(value, errors="surrogateescape"),
        quote_plus(value, errors="surrogateescape"),
    }
    yield from quoted
    yield from (re.sub("%[0-9A-F]{2}", lambda hexes: hexes[0].lower(), text) for text in quoted)


def _base64_forms(data: bytes) -> Iterator[str]:
    """What is the same whatever stands before and after ``data``, at each of three offsets."""
    for offset in range(3):
        first, last = (8 * offset + 5) // 6, 8 * (offset + len(data)) // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            form = encode(b"\0" * offset + data).decode()[first:last]
            if len(form) >= LEAST_CHARACTERS:
                yield form


def _without_token(found: re.Match[str]) -> str:
    payload = found[1]
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        audiences = claims.get("aud") or ()
    except (binascii.Error, ValueError, AttributeError):
        return found[0]
    named = [audiences] if isinstance(audiences, str) else audiences
    ours = any(str(one).startswith(_OUR_AUDIENCES) for one in named)
    return "[redacted:token]" if ours else found[0]
