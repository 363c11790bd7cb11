"""Prices of genai-prices: what is charged at the makers' own APIs, Bedrock and OpenRouter.

Source: https://github.com/pydantic/genai-prices, the data in the installed version. A price of
somebody else who resells a model, or that only a similar name suggests, is not used: such a model
has no price until an overlay gives it one. The package is imported at the first question, because
that takes a third of a second.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.pricing.compiled import CompiledPrice, compiled, is_text_only
from proctor.pricing.names import sellers, spellings
from proctor.pricing.price import Price

_CHECKED = re.compile(r"verified on (\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalog; ``provider`` and ``model`` are genai-prices' own."""

    name: str
    provider: Any
    model: Any
    source: str
    checked: date | None


@lru_cache(maxsize=4096)
def catalog_entry(model: str) -> Entry | None:
    """The catalog's entry for a name; None when it has no price for it."""
    import genai_prices
    from genai_prices.data_snapshot import get_snapshot

    providers = {provider.id: provider for provider in get_snapshot().providers}
    for seller in sellers(model):
        provider = providers[seller]
        for name in spellings(model):
            # Without `all_providers`: a fallback to another seller would not be its price.
            found = provider.find_model(name) if name else None
            if found is not None:
                page = (provider.pricing_urls or ["no page"])[0]
                source = f"{page}, by genai-prices {genai_prices.__version__}"
                return Entry(found.id, provider, found, source, _checked(found.price_comments))
    return None


def catalog_price(
    usage: Usage,
    model: str,
    details: UsageDetails = NO_DETAILS,
    *,
    at: datetime | None = None,
    tier: str | None = None,
) -> Price | None:
    """Price ``usage`` at a moment, with the length of its context; None: the model has no price."""
    entry = catalog_entry(model)
    if entry is None:
        return None
    # The catalog files Anthropic's fast mode under another name than OpenAI's tiers.
    context = {"service_tier": tier, "speed": tier} if tier and entry.model.price_variants else None
    stated = entry.model.get_prices(at or datetime.now(UTC), context)
    quick = _compiled(model, tier if context else None, stated) if is_text_only(details) else None
    if quick is not None:
        usd = quick.cost_usd(usage, details)
    else:
        usd = stated.calc_price(_tokens(usage, details))["total_price"]
    return Price(usd, entry.name, entry.source, entry.checked)


_quick: dict[tuple[str, str | None], tuple[Any, CompiledPrice | None]] = {}
"""By name and tier: the catalog's price, and the same compiled."""
_MOST_QUICK = 4096


def _compiled(model: str, tier: str | None, stated: Any) -> CompiledPrice | None:
    known = _quick.get((model, tier))
    if known is not None and (known[0] is stated or (tier and known[0] == stated)):
        return known[1]
    if len(_quick) >= _MOST_QUICK:
        _quick.clear()
    made = compiled(stated)
    _quick[model, tier] = (stated, made)
    return made


def _tokens(usage: Usage, details: UsageDetails) -> Any:
    """The package counts all input tokens, cached ones included; ours are the uncached ones."""
    from genai_prices import Usage as Tokens

    parts = {
        "cache_write_1h_tokens": details.cache_write_1h,
        "output_reasoning_tokens": details.reasoning,
        "input_image_tokens": details.input_image,
        "input_audio_tokens": details.input_audio,
        "cache_audio_read_tokens": details.cached_audio,
        "output_image_tokens": details.output_image,
        "output_audio_tokens": details.output_audio,
    }
    return Tokens(
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        **{name: count for name, count in parts.items() if count},
    )


def _checked(comments: str | None) -> date | None:
    """The day of the entry's own check; without one the latest of the whole catalog."""
    days = _CHECKED.findall(comments or "")
    return date.fromisoformat(max(days)) if days else _last_check()


@lru_cache(maxsize=1)
def _last_check() -> date | None:
    from genai_prices.data_snapshot import get_snapshot

    comments = (model.price_comments or "" for p in get_snapshot().providers for model in p.models)
    days = [day for comment in comments for day in _CHECKED.findall(comment)]
    return date.fromisoformat(max(days)) if days else None
