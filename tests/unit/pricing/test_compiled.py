"""The quick way to a price gives what genai-prices does, for all models of the catalog."""

from datetime import UTC, datetime
from typing import Any

import pytest
from genai_prices import Usage as Tokens
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from proctor.api.usage import Usage, UsageDetails
from proctor.pricing.compiled import compiled

SELLERS = ("anthropic", "openai", "google", "aws", "openrouter")
MODELS = [
    (provider, model)
    for provider in get_snapshot().providers
    if provider.id in SELLERS
    for model in provider.models
]
AT = datetime(2026, 10, 14, 12, tzinfo=UTC)
COUNTS = st.integers(0, 400_000)


@given(
    st.sampled_from(MODELS),
    st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS),
    st.integers(0, 1000),
    st.sampled_from([None, "default", "flex", "priority", "fast"]),
)
def test_a_compiled_price_is_the_catalogs(
    priced: tuple[Any, Any], usage: Usage, hour: int, tier: str | None
) -> None:
    provider, model = priced
    context = {"service_tier": tier, "speed": tier} if tier else None
    quick = compiled(model.get_prices(AT, context))
    if quick is None:
        return
    details = UsageDetails(cache_write_1h=min(hour, usage.cache_write))
    tokens = Tokens(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        cache_write_1h_tokens=details.cache_write_1h,
    )
    theirs = model.calc_price(tokens, provider, genai_request_timestamp=AT, price_context=context)
    assert quick.cost_usd(usage, details) == theirs.total_price


@pytest.mark.parametrize("seller", SELLERS[:3])
def test_nearly_all_models_of_the_makers_take_the_quick_way(seller: str) -> None:
    made = [compiled(m.get_prices(AT)) for p, m in MODELS if p.id == seller]
    assert sum(price is not None for price in made) > 0.8 * len(made)
