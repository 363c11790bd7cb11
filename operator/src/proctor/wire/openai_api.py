"""What OpenAI's APIs have in common: keys, errors, models, text. Pure, standard library only."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.wire import openai_answer
from proctor.wire.fields import mapping, mappings, text, write_json

SYSTEM_ROLES = ("system", "developer")

_ERRORS: Mapping[int, tuple[str, str | None]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


class OpenAIApi:
    """The part of a format that is the same in all of them."""

    models_path = "/models"
    # Codex asks again after a 402 and a 403.
    refusal_status = 400

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """The key as a bearer token."""
        return {} if api_key is None else {"authorization": f"Bearer {api_key}"}

    def error(self, status: int, message: str) -> bytes:
        """Write an error body."""
        default = ("server_error" if status >= 500 else "invalid_request_error", None)
        kind, code = _ERRORS.get(status, default)
        error = {"message": message, "type": kind, "param": None, "code": code}
        return write_json({"error": error})

    def models(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Write a list of models."""
        return openai_answer.models(names)


def content_text(content: object) -> str:
    """Text of a content: a string, or parts of which some have text."""
    if isinstance(content, str):
        return content
    return "\n".join(text(part.get("text")) for part in mappings(content) if part.get("text"))


def error_text(body: Mapping[str, Any]) -> str | None:
    """What an answer says that went wrong; None: nothing."""
    if not body.get("error"):
        return None
    error = mapping(body["error"])
    kind = text(error.get("type")) or text(error.get("code")) or "error"
    return f"{kind}: {text(error.get('message')) or body['error']}"
