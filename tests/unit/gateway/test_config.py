import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest

from proctor.api.errors import SpecError
from proctor.api.usage import Usage, UsageDetails
from proctor.gateway.config import FormatName, GatewayConfig, read_config
from proctor.gateway.providers import Manner
from proctor.gateway.retries import Retries
from proctor.pricing import Price
from proctor.wire.formats import FORMATS

EXAMPLE = """
providers:
  - name: anthropic
    format: anthropic-messages
    baseUrl: https://api.anthropic.com/
    apiKeyFile: /etc/proctor/keys/anthropic
    models: ["claude-*"]
    namespaces: [team-*]
  - name: own
    format: openai-chat
    baseUrl: http://vllm.models.svc:8000/v1
    apiKeyEnv: OWN_KEY
  - name: open
    format: openai-chat
    baseUrl: http://ollama:11434/v1
prices:
  - model: own-model
    inputUsdPerMtok: "0.5"
    outputUsdPerMtok: 2
    cacheReadUsdPerMtok: 0.1
    cacheWrite1hUsdPerMtok: 1
    source: internal price list, 2026-01-31
retries: {attempts: 1, baseSeconds: 0.1, longestSeconds: 5}
operatorServiceAccount: proctor-system/proctor-operator
"""


def test_a_file_gives_providers_prices_and_retries(tmp_path: Path) -> None:
    config = read_config(EXAMPLE, "gateway.yaml")
    first, own, free = (p.provider({"OWN_KEY": "secret"}) for p in config.providers)
    assert (first.base_url, first.models, first.namespaces) == (
        "https://api.anthropic.com",
        ("claude-*",),
        ("team-*",),
    )
    assert (own.key.read(), free.key.read(), free.models) == ("secret", None, ("*",))
    assert config.retries.retries() == Retries(1, 0.1, 5)
    assert config.operator_service_account == "proctor-system/proctor-operator"


def test_a_price_fills_its_gaps_with_that_of_other_input() -> None:
    prices = read_config(EXAMPLE, "gateway.yaml").overlay()
    # 100 × 0.5 + 10 × 2 + 100 × 0.1 + 6 × 0.5 + 4 × 1 = 87
    usage = Usage(100, 10, cache_read=100, cache_write=10)
    assert prices.cost_usd(usage, "own-model", UsageDetails(cache_write_1h=4)) == Decimal(
        "0.000087"
    )
    assert prices.is_priced("gpt-5")


def test_an_empty_file_is_a_gateway_for_scripts_only() -> None:
    assert read_config("", "gateway.yaml") == GatewayConfig()


PROVIDER = "providers: [{name: a, format: openai-chat, baseUrl: 'http://x', %s}]"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("a: [", "(file)", id="no-yaml"),
        pytest.param("[]", "(file)", id="a-list"),
        pytest.param("provider: []", "provider", id="unknown-field"),
        pytest.param("providers: [{}]", "providers.0.name", id="nothing-said"),
        pytest.param(PROVIDER % "apiKey: sk", "providers.0.apiKey", id="a-key-in-the-file"),
        pytest.param(PROVIDER % "models: []", "providers.0.models", id="serves-nothing"),
        pytest.param(PROVIDER % "apiKeyFile: /k, apiKeyEnv: K", "providers.0", id="two-keys"),
        pytest.param(PROVIDER % "format: soap", "providers.0.format.0", id="unknown-format"),
        pytest.param(PROVIDER % "format: []", "providers.0.format", id="no-format"),
        pytest.param(PROVIDER % "path: '/{key}'", "providers.0.path", id="path-of-nothing-known"),
        pytest.param(PROVIDER % "authHeader: 'a b'", "providers.0.authHeader", id="no-header"),
        pytest.param(
            "prices: [{model: a, inputUsdPerMtok: 1, outputUsdPerMtok: 1, source: x},"
            " {model: A, inputUsdPerMtok: 2, outputUsdPerMtok: 1, source: x}]",
            "(file)",
            id="two-prices-for-a-model",
        ),
        pytest.param("operatorServiceAccount: x", "operatorServiceAccount", id="no-namespace"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_field(text: str, field: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_config(text, "gateway.yaml")
    assert (caught.value.problems[0].file, caught.value.problems[0].field) == (
        "gateway.yaml",
        field,
    )


def test_a_provider_may_speak_several_formats_in_its_own_manner() -> None:
    text = """
providers:
  - name: azure
    format: [openai-chat, openai-responses]
    baseUrl: https://x.openai.azure.com/openai/v1/
    authHeader: api-key
    headers: {x-team: evals}
    query: api-version=preview
deployments: {my-deployment: gpt-5}
"""
    config = read_config(text, "gateway.yaml")
    provider = config.providers[0].provider({})
    assert [each.name for each in provider.wire_formats] == ["openai-chat", "openai-responses"]
    assert provider.manner == Manner(
        "api-key", "", {"x-team": "evals"}, None, "api-version=preview"
    )
    assert config.overlay().name("my-deployment") == "gpt-5"


def test_a_price_may_depend_on_the_length_of_the_context() -> None:
    text = """
prices:
  - model: own
    inputUsdPerMtok: 1
    outputUsdPerMtok: 2
    longContext: {aboveInputTokens: 10, inputUsdPerMtok: 3, outputUsdPerMtok: 4}
    source: page
    date: 2026-01-31
"""
    price = read_config(text, "gateway.yaml").overlay().price(Usage(11, 1), "own")
    # 11 × 3 + 1 × 4
    assert price == Price(Decimal("0.000037"), "own", "page", date(2026, 1, 31))


def test_configuration_and_chart_know_every_format() -> None:
    schema = json.loads(
        (Path(__file__).parents[3] / "charts/proctor/values.schema.json").read_text("utf-8")
    )
    assert list(get_args(FormatName)) == schema["definitions"]["format"]["enum"] == list(FORMATS)
