"""Errors as OpenAI's APIs write them. Pure, standard library only."""

from collections.abc import Mapping
from typing import Any

from proctor.wire.fields import mapping, text, write_json

_ERRORS: Mapping[int, tuple[str, str | None]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def error_body(status: int, message: str) -> bytes:
    """An error for an HTTP status."""
    default = ("server_error" if status >= 500 else "invalid_request_error", None)
    kind, code = _ERRORS.get(status, default)
    error = {"message": message, "type": kind, "param": None, "code": code}
    return write_json({"error": error})


def error_text(body: Mapping[str, Any]) -> str | None:
    """What an answer says that went wrong; None: nothing."""
    if not body.get("error"):
        return None
    error = mapping(body["error"])
    kind = text(error.get("type")) or text(error.get("code")) or "error"
    return f"{kind}: {text(error.get('message')) or body['error']}"


def bearer(api_key: str | None) -> Mapping[str, str]:
    """The key as a bearer token."""
    return {} if api_key is None else {"authorization": f"Bearer {api_key}"}
