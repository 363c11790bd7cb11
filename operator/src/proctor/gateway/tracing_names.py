"""Names that traces use.

Source: OpenTelemetry's semantic conventions for generative AI, spans of inference
(https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/), registry of 1.41; they are in
development, so that they stand in this one place.
"""

from collections.abc import Mapping

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
"""All input, cached input included."""
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
ERROR_TYPE = "error.type"
STATUS_CODE = "http.response.status_code"

RUN_UID = "proctor.run.uid"
TRIAL_UID = "proctor.trial.uid"
TRIAL = "proctor.trial.name"
ATTEMPT = "proctor.trial.attempt"
ROLE = "proctor.role"
MODE = "proctor.models.mode"
PROVIDER_CONFIGURED = "proctor.provider"
TOOLS = "proctor.tools"
COST_USD = "proctor.cost_usd"
NAMESPACE = "k8s.namespace.name"

UNANSWERED = "unanswered"
"""``error.type`` of a call without an answer; of any other it is the HTTP status."""

FLAVOURS: Mapping[str, tuple[str, str]] = {
    "anthropic-messages": ("chat", "anthropic"),
    "openai-chat": ("chat", "openai"),
    "openai-responses": ("chat", "openai"),
    "gemini": ("generate_content", "gcp.gemini"),
}
"""Operation and provider by wire format: the provider names the flavour of the API, whoever runs
it; the name in Proctor's configuration stands beside it."""
