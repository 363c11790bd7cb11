"""What goes to a provider: Azure, Bedrock, Vertex and servers of one's own by their own ways."""

from dataclasses import replace
from typing import Any

import pytest

from builders_gateway import body
from proctor.gateway.providers import Manner
from proctor.gateway.sending import place, sent_headers
from proctor.gateway.upstream import Forward
from proctor.wire.format import WireFormat
from proctor.wire.formats import ANTHROPIC_MESSAGES, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES

CONTENTS = body(contents=[])


def a_forward(wire_format: WireFormat = OPENAI_CHAT, model: str = "m", **changes: Any) -> Forward:
    data = CONTENTS if wire_format is GEMINI else body(model=model, messages=[], input="x")
    request = wire_format.parse(data, f"{model}:streamGenerateContent")
    return replace(Forward(wire_format, request, data), **changes)


AZURE = Manner(
    auth_header="api-key",
    path="/openai/deployments/{model}/chat/completions",
    query="api-version=2025-04-01",
)
VERTEX = Manner(
    auth_header="authorization",
    auth_scheme="Bearer",
    path="/publishers/google/models/{model}:{method}",
)


@pytest.mark.parametrize(
    ("forward", "manner", "expected"),
    [
        pytest.param(a_forward(), Manner(), "/chat/completions", id="openai"),
        pytest.param(a_forward(OPENAI_RESPONSES), Manner(), "/responses", id="responses"),
        pytest.param(
            a_forward(), AZURE, "/openai/deployments/m/chat/completions?api-version=2025-04-01",
            id="azure",
        ),
        pytest.param(
            a_forward(GEMINI, query="alt=sse"),
            VERTEX,
            "/publishers/google/models/m:streamGenerateContent?alt=sse",
            id="vertex",
        ),
        pytest.param(
            a_forward(query="beta=true"), Manner(query="x=1"), "/chat/completions?beta=true&x=1",
            id="both-queries",
        ),
        pytest.param(
            a_forward(ANTHROPIC_MESSAGES, operation="count"), Manner(),
            "/v1/messages/count_tokens", id="count",
        ),
        pytest.param(
            a_forward(GEMINI, operation="count"), VERTEX,
            "/publishers/google/models/m:countTokens", id="count-at-vertex",
        ),
        pytest.param(
            a_forward(operation="list"), AZURE, "/models?api-version=2025-04-01", id="list"
        ),
        pytest.param(
            a_forward(operation="list", listed="a/b c"), Manner(), "/models/a%2Fb%20c", id="one"
        ),
        pytest.param(
            a_forward(model="../../admin?x="), AZURE,
            "/openai/deployments/%2E%2E%2F%2E%2E%2Fadmin%3Fx%3D/chat/completions"
            "?api-version=2025-04-01",
            id="a-name-that-leads-elsewhere",
        ),
    ],
)  # fmt: skip
def test_a_call_goes_to_its_providers_place(
    forward: Forward, manner: Manner, expected: str
) -> None:
    assert place(forward, manner) == expected


@pytest.mark.parametrize(
    ("wire_format", "manner", "expected"),
    [
        pytest.param(OPENAI_CHAT, Manner(), {"authorization": "Bearer k"}, id="openai"),
        pytest.param(ANTHROPIC_MESSAGES, Manner(), {"x-api-key": "k"}, id="anthropic"),
        pytest.param(GEMINI, Manner(), {"x-goog-api-key": "k"}, id="google"),
        pytest.param(OPENAI_CHAT, AZURE, {"api-key": "k"}, id="azure"),
        pytest.param(GEMINI, VERTEX, {"authorization": "Bearer k"}, id="vertex"),
    ],
)
def test_the_key_goes_where_the_provider_wants_it(
    wire_format: WireFormat, manner: Manner, expected: dict[str, str]
) -> None:
    sent = dict(sent_headers(a_forward(wire_format), manner, "k"))
    assert sent == {**expected, "accept-encoding": "identity"}


def test_headers_of_the_provider_replace_the_clients() -> None:
    forward = a_forward(
        headers=(("OpenAI-Organization", "theirs"), ("x-kept", "1"), ("x-goog-api-key", "agent"))
    )
    manner = Manner(headers={"openai-organization": "ours"})
    assert sent_headers(forward, manner, None) == [
        ("x-kept", "1"),
        ("openai-organization", "ours"),
        ("accept-encoding", "identity"),
    ]
