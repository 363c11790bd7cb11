"""Costs worked out by hand from the providers' price pages, as they stood on the day named.

Each line of arithmetic is in millionths of a US dollar: tokens × price for a million tokens.
Rates were compared on 2026-11-30 with copies of platform.claude.com's and openai.com's own pages,
and where these did not show one (GPT-6, GPT-5.6, Gemini, Haiku 5.5) with notes of others that quote
the page with its day. Those of Bedrock, o3, GPT-4o mini and realtime are the catalog's alone.
"""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.pricing import Overlay, PriceConflictError, Prices, Rate, cost_usd, is_priced

# https://platform.claude.com/docs/en/about-claude/pricing (2026-10)
# https://developers.openai.com/api/docs/pricing (2026-10-12)
# https://ai.google.dev/gemini-api/docs/pricing (2026-10-14)
# https://aws.amazon.com/bedrock/pricing (2026-10)
AT = datetime(2026, 10, 14, 12, tzinfo=UTC)
RATE = Rate(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"), Decimal(6), "page")
HOUR = UsageDetails(cache_write_1h=400)


@pytest.mark.parametrize(
    ("model", "usage", "usd"),
    [
        # Anthropic: input, output, cache read, cache write for 5 minutes
        # 1,000 × 3 + 500 × 15
        pytest.param("claude-sonnet-4-5", Usage(1000, 500), "0.0105", id="sonnet-4-5"),
        # 1,000 × 3 + 100 × 15 + 10,000 × 0.3 + 500 × 3.75
        pytest.param("claude-sonnet-4-5", Usage(1000, 100, 10_000, 500), "0.009375", id="cached"),
        # 250,000 > 200,000: 250,000 × 6 + 1,000 × 22.5
        pytest.param("claude-sonnet-4-5", Usage(250_000, 1000), "1.5225", id="sonnet-4-5-long"),
        # 150,000 + 60,000 cached > 200,000: 150,000 × 6 + 60,000 × 0.6 + 10 × 22.5
        pytest.param(
            "claude-sonnet-4-5", Usage(150_000, 10, 60_000), "0.936225", id="long-by-its-cache"
        ),
        # exactly 200,000 is not beyond it: 200,000 × 3
        pytest.param("claude-sonnet-4-5", Usage(200_000), "0.6", id="at-the-edge"),
        # 10,000 × 2 + 2,000 × 10 + 80,000 × 0.1 + 4,000 × 2.5
        pytest.param("claude-sonnet-5-5", Usage(10_000, 2000, 80_000, 4000), "0.058", id="s-5-5"),
        # flat over its million: 500,000 × 2
        pytest.param("claude-sonnet-5", Usage(500_000), "1", id="sonnet-5-is-flat"),
        # 200 × 15 + 10 × 75
        pytest.param("claude-opus-4-1", Usage(200, 10), "0.00375", id="opus-4-1"),
        # 3,000 × 5 + 700 × 25 + 20,000 × 0.5 + 1,000 × 6.25
        pytest.param("claude-opus-4-5", Usage(3000, 700, 20_000, 1000), "0.04875", id="opus-4-5"),
        # 3,000 × 4 + 700 × 20 + 20,000 × 0.2 + 1,000 × 5
        pytest.param("claude-opus-5-5", Usage(3000, 700, 20_000, 1000), "0.035", id="opus-5-5"),
        # 1,000 × 1 + 1,000 × 5
        pytest.param("claude-haiku-4-5", Usage(1000, 1000), "0.006", id="haiku-4-5"),
        # 100,000 × 0.1 + 1,000 × 0.5
        pytest.param("claude-haiku-5-5", Usage(100_000, 1000), "0.0105", id="haiku-5-5"),
        # 100,001 > 100,000: × 5: 100,001 × 0.5 + 1,000 × 2.5
        pytest.param("claude-haiku-5-5", Usage(100_001, 1000), "0.0525005", id="haiku-5-5-long"),
        # 1,000 × 10 + 1,000 × 50 + 1,000,000 × 0.25
        pytest.param("claude-fable-5-1", Usage(1000, 1000, 1_000_000), "0.31", id="fable-5-1"),
        # OpenAI: input, output, cached input
        # 900 × 1.25 + 100 × 0.125 + 1,000 × 10
        pytest.param("gpt-5", Usage(900, 1000, 100), "0.0111375", id="gpt-5-cached"),
        # 1,000 × 0.15 + 1,000 × 0.6
        pytest.param("gpt-4o-mini", Usage(1000, 1000), "0.00075", id="gpt-4o-mini"),
        # 1,000 × 2 + 1,000 × 8
        pytest.param("o3", Usage(1000, 1000), "0.01", id="o3"),
        # 10,000 × 2.5 + 90,000 × 0.25 + 1,000 × 15
        pytest.param("gpt-5.4", Usage(10_000, 1000, 90_000), "0.0625", id="gpt-5.4"),
        # 300,000 > 272,000: twice the input, half more output: 300,000 × 5 + 1,000 × 22.5
        pytest.param("gpt-5.4", Usage(300_000, 1000), "1.5225", id="gpt-5.4-long"),
        # 1,000 × 30 + 100 × 180: no discount for cached input
        pytest.param("gpt-5.4-pro", Usage(1000, 100), "0.048", id="gpt-5.4-pro"),
        # 1,000 × 2 + 500 × 10 + 10,000 × 0.2 + 2,000 × 2.5: its cache writes cost more
        pytest.param("gpt-6-sol", Usage(1000, 500, 10_000, 2000), "0.014", id="gpt-6-sol-writes"),
        # 20,000 × 1.75 + 3,000 × 14 + 100,000 × 0.175
        pytest.param("gpt-5.3-codex", Usage(20_000, 3000, 100_000), "0.0945", id="gpt-5.3-codex"),
        # Google: input, output with thoughts, cached input
        # 1,000 × 1.25 + 1,000 × 10
        pytest.param("gemini-2.5-pro", Usage(1000, 1000), "0.01125", id="gemini-2.5-pro"),
        # 250,000 > 200,000: 250,000 × 2.5 + 1,000 × 15
        pytest.param("gemini-2.5-pro", Usage(250_000, 1000), "0.64", id="gemini-2.5-pro-long"),
        # 10,000 × 2 + 2,000 × 12 + 50,000 × 0.2
        pytest.param("gemini-3.1-pro-preview", Usage(10_000, 2000, 50_000), "0.054", id="g-3.1"),
        # 1,000 × 0.3 + 1,000 × 2.5 + 10,000 × 0.03
        pytest.param("gemini-2.5-flash", Usage(1000, 1000, 10_000), "0.0031", id="g-2.5-flash"),
        # Bedrock: a region costs a tenth more than the global endpoint
        # 1,000 × 3.3 + 500 × 16.5
        pytest.param(
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0", Usage(1000, 500), "0.01155", id="us"
        ),
        # 1,000 × 5 + 100 × 25
        pytest.param("global.anthropic.claude-opus-5", Usage(1000, 100), "0.0075", id="global"),
        # 1,000 × 0.8 + 1,000 × 3.2
        pytest.param("amazon.nova-pro-v1:0", Usage(1000, 1000), "0.004", id="nova-pro"),
        pytest.param("gpt-5", Usage(), "0", id="nothing-used-costs-nothing"),
    ],
)
def test_costs_are_those_of_the_providers_pages(model: str, usage: Usage, usd: str) -> None:
    assert Prices().cost_usd(usage, model, at=AT) == Decimal(usd)


@pytest.mark.parametrize(
    ("model", "usage", "details", "usd"),
    [
        # 600 × 3.75 + 400 × 6
        pytest.param(
            "claude-sonnet-4-5", Usage(cache_write=1000), HOUR, "0.00465", id="written-for-an-hour"
        ),
        # 600 × 6.875 + 400 × 11
        pytest.param(
            "eu.anthropic.claude-opus-4-5-v1:0",
            Usage(cache_write=1000),
            HOUR,
            "0.008525",
            id="written-for-an-hour-on-bedrock",
        ),
        # 900 × 0.3 + 100 × 1
        pytest.param(
            "gemini-2.5-flash", Usage(1000), UsageDetails(input_audio=100), "0.00037", id="sound"
        ),
        # 700 × 4 + 200 × 32 + 100 × 5 + 400 × 16 + 100 × 64
        pytest.param(
            "gpt-realtime",
            Usage(1000, 500),
            UsageDetails(input_audio=200, input_image=100, output_audio=100),
            "0.0225",
            id="sound-and-pictures",
        ),
        # thoughts cost as any output: 1,000 × 10
        pytest.param("gpt-5", Usage(0, 1000), UsageDetails(reasoning=900), "0.01", id="thoughts"),
    ],
)
def test_parts_of_usage_have_their_own_prices(
    model: str, usage: Usage, details: UsageDetails, usd: str
) -> None:
    assert Prices().cost_usd(usage, model, details, at=AT) == Decimal(usd)


@pytest.mark.parametrize(
    ("model", "day", "usd"),
    [
        # 10,000 × 5 + 1,000 × 30, and from 2026-08-21 10,000 × 4 + 1,000 × 20
        pytest.param("gpt-5.6-sol", (2026, 8, 20), "0.08", id="before"),
        pytest.param("gpt-5.6-sol", (2026, 8, 21), "0.06", id="from-the-day"),
        # introductory until 2026-12-31: 10,000 × 0.75 + 1,000 × 3.75, then twice as much
        pytest.param("gemini-3.6-flash", (2026, 12, 31), "0.01125", id="introductory"),
        pytest.param("gemini-3.6-flash", (2027, 1, 1), "0.0225", id="regular"),
    ],
)
def test_the_price_is_that_of_the_calls_day(
    model: str, day: tuple[int, int, int], usd: str
) -> None:
    at = datetime(*day, 12, tzinfo=UTC)
    assert Prices().cost_usd(Usage(10_000, 1000), model, at=at) == Decimal(usd)


@pytest.mark.parametrize(
    ("model", "tier", "usd"),
    [
        # 10,000 × 2.5 + 1,000 × 15; flex half of it; priority twice as much
        pytest.param("gpt-5.4", "default", "0.04", id="default"),
        pytest.param("gpt-5.4", "flex", "0.02", id="flex"),
        pytest.param("gpt-5.4", "priority", "0.08", id="priority"),
        # 10,000 × 4 + 1,000 × 20, in fast mode 10,000 × 8 + 1,000 × 40
        pytest.param("claude-opus-5-5", "standard", "0.06", id="standard"),
        pytest.param("claude-opus-5-5", "fast", "0.12", id="fast-mode"),
    ],
)
def test_the_price_is_that_of_the_service_tier(model: str, tier: str, usd: str) -> None:
    assert Prices().cost_usd(Usage(10_000, 1000), model, at=AT, tier=tier) == Decimal(usd)


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        pytest.param("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", id="date"),
        pytest.param("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", id="vertex-date"),
        pytest.param("Anthropic/claude-sonnet-4-5", "claude-sonnet-4-5", id="vendor-and-case"),
        pytest.param("openai/gpt-5-2025-08-07", "gpt-5", id="vendor-and-date"),
        pytest.param("models/gemini-2.5-pro", "gemini-2.5-pro", id="googles-resource"),
        pytest.param(
            "projects/p/locations/l/publishers/google/models/gemini-2.5-pro",
            "gemini-2.5-pro",
            id="vertex-resource",
        ),
        pytest.param("vertex_ai/gemini-2.5-pro", "gemini-2.5-pro", id="route"),
        pytest.param(
            "bedrock/converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
            id="bedrock-route-and-region",
        ),
        pytest.param(
            "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-5",
            "global.anthropic.claude-opus-5",
            id="arn",
        ),
        pytest.param("openrouter/moonshotai/kimi-k3", "moonshotai/kimi-k3", id="openrouter"),
        pytest.param("my-deployment", "gpt-5", id="deployment"),
        pytest.param("us.anthropic.own-model-v2:0", "own-model", id="overlay-by-a-shorter-name"),
    ],
)
def test_spellings_of_a_model_have_its_price(spelled: str, name: str) -> None:
    overlay = Overlay().adding("us", {"own-model": RATE}.items())
    prices = Prices(overlay, {"my-deployment": "gpt-5"})
    assert prices.name(spelled) == name
    assert prices.cost_usd(Usage(1), spelled, at=AT) is not None


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("no-such-model", id="unknown"),
        pytest.param("llama3.1", id="weights-that-anybody-serves"),
        pytest.param("xgpt-5", id="another-name-that-ends-alike"),
        pytest.param("moonshotai/kimi-k3", id="a-resellers-without-its-route"),
        pytest.param("", id="empty"),
    ],
)
def test_a_model_without_a_price_costs_none_and_not_nothing(model: str) -> None:
    assert cost_usd(Usage(1000, 1000), model) is None
    assert not is_priced(model)


def test_a_model_with_a_price_says_so() -> None:
    assert is_priced("claude-sonnet-4-5")
    assert cost_usd(Usage(1000, 0), "gpt-4o-mini") == Decimal("0.00015")


def test_a_price_says_where_it_stands_and_when_it_was_checked() -> None:
    price = Prices().price(Usage(1), "gpt-5.4", at=AT)
    assert price is not None
    assert price.source.startswith(
        "https://developers.openai.com/api/docs/pricing, by genai-prices"
    )
    assert (price.model, price.date) == ("gpt-5.4", date(2026, 10, 14))


def test_an_overlays_price_brings_its_own_source() -> None:
    rate = Rate.plain(Decimal(1), Decimal(2), "contract")
    price = Prices.of({"gpt-5": rate}).price(Usage(1000, 10, cache_read=100), "gpt-5")
    assert price is not None
    # 1,000 × 1 + 100 × 1 + 10 × 2
    assert (price.usd, price.source, price.date) == (Decimal("0.00112"), "contract", None)


def test_a_rate_prices_each_kind_of_token() -> None:
    # 100 × 3 + 10 × 15 + 1,000 × 0.3 + 60 × 3.75 + 40 × 6
    usage = Usage(100, 10, cache_read=1000, cache_write=100)
    assert RATE.cost_usd(usage, UsageDetails(cache_write_1h=40)) == Decimal("0.001215")


def test_a_rate_may_depend_on_the_length_of_the_context() -> None:
    longer = Rate.plain(Decimal(6), Decimal(22), "page")
    rate = Rate(*[Decimal(3)] * 5, "page", above_input_tokens=1000, longer=longer)
    # 1,000 × 3, and 1,001 × 6 + 1 × 22
    assert rate.cost_usd(Usage(900, cache_read=100), NO_DETAILS) == Decimal("0.003")
    assert rate.cost_usd(Usage(900, 1, cache_read=101), NO_DETAILS) == Decimal("0.006028")


def test_two_prices_for_models_are_refused_together_and_by_name() -> None:
    known = Overlay().adding("the chart", {"a": RATE, "b": RATE, "c": RATE}.items())
    other = Rate.plain(Decimal(1), Decimal(1), "elsewhere")
    with pytest.raises(PriceConflictError) as caught:
        known.adding("plugin x", {"A": other, "b": RATE, "c": other, "d": other}.items())
    assert str(caught.value) == (
        "'A' has a price of the chart and another one of plugin x; "
        "'c' has a price of the chart and another one of plugin x: keep one of them"
    )
    assert known.find("d") is None
