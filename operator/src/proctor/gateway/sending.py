"""What is sent to a provider: where to, and with which headers. Pure."""

from urllib.parse import quote

from proctor.gateway.providers import Manner
from proctor.gateway.upstream import Forward

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_NOT_SENT = HOP_BY_HOP | {
    "accept-encoding",
    "api-key",
    "authorization",
    "content-encoding",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "x-api-key",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-goog-api-key",
    "x-goog-fieldmask",
    "x-real-ip",
}


def place(forward: Forward, manner: Manner) -> str:
    """Path and query below the provider's base URL."""
    query = "&".join(part for part in (forward.query, manner.query) if part)
    path = _path(forward, manner)
    return f"{path}?{query}" if query else path


def _path(forward: Forward, manner: Manner) -> str:
    wire_format, request = forward.wire_format, forward.request
    if forward.operation == "list":
        listed = f"/{quote(forward.listed, safe=':@')}" if forward.listed else ""
        return wire_format.models_path + listed
    own = wire_format.path(request)
    if forward.operation == "count":
        own = wire_format.count_path(request) or own
    if manner.path is None:
        return own
    # A model named `..` would lead to another path with our key.
    model = quote(request.model, safe="").replace("..", "%2E%2E")
    return manner.path.format(model=model, method=own.rpartition(":")[2] if ":" in own else "")


def sent_headers(forward: Forward, manner: Manner, key: str | None) -> list[tuple[str, str]]:
    """The client's headers, but for its key and what concerns only its connection, and ours."""
    ours = {**_key_headers(forward, manner, key), **manner.headers}
    replaced = {name.lower() for name in ours}
    headers = [
        (name, value)
        for name, value in forward.headers
        if (lower := name.lower()) not in _NOT_SENT and lower not in replaced
    ]
    # Usage is read from the answer as it passes by: it must not be compressed.
    return [*headers, *ours.items(), ("accept-encoding", "identity")]


def _key_headers(forward: Forward, manner: Manner, key: str | None) -> dict[str, str]:
    if manner.auth_header is None:
        return dict(forward.wire_format.headers(key))
    return {} if key is None else {manner.auth_header: f"{manner.auth_scheme} {key}".strip()}
