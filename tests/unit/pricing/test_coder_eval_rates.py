"""Our prices beside Coder Eval's rate card (0.12.16, its own check of 2026-10-07).

A difference is one that docs/pricing.md explains, model by model; there is no other.
"""

import csv
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from proctor.api.usage import Usage
from proctor.pricing import Prices

AT = datetime(2026, 10, 7, 12, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
CARD = ROOT / "tests" / "data" / "pricing" / "coder_eval_rates.csv"
KINDS = {
    "input": Usage(1000),
    "output": Usage(0, 1000),
    "cache_write": Usage(cache_write=1000),
    "cache_read": Usage(cache_read=1000),
}


def card() -> list[dict[str, str]]:
    with CARD.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def explained() -> set[str]:
    """Models in the first column of the page's table of differences."""
    page = (ROOT / "docs" / "pricing.md").read_text("utf-8")
    rows = page[page.index("| differs |") :].splitlines()[2:]
    cells = [row.split("|")[1] for row in rows if row.startswith("|")]
    return {name.strip(" `") for cell in cells for name in cell.split(",")}


def ours(model: str) -> dict[str, Decimal | None]:
    prices = Prices()
    costs = {kind: prices.cost_usd(usage, model, at=AT) for kind, usage in KINDS.items()}
    return {kind: None if usd is None else usd * 1000 for kind, usd in costs.items()}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["model"]) for row in card()])
def test_a_rate_is_theirs_or_its_difference_is_explained(row: dict[str, str]) -> None:
    theirs = {kind: Decimal(row[kind]) for kind in KINDS}
    assert (ours(row["model"]) != theirs) is (row["model"] in explained())


def test_every_explained_difference_is_in_the_card() -> None:
    assert explained() <= {row["model"] for row in card()}
