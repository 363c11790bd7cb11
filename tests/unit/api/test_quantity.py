"""Kubernetes quantities."""

from decimal import Decimal

import pytest

from proctor.api.quantity import amount, doubled, larger


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        pytest.param("2", Decimal(2), id="plain"),
        pytest.param("250m", Decimal("0.25"), id="milli"),
        pytest.param("1.5Gi", Decimal(3 * 2**29), id="binary"),
        pytest.param("1G", Decimal(10**9), id="decimal"),
        pytest.param("64Ki", Decimal(2**16), id="binary-thousand"),
    ],
)
def test_a_quantity_is_a_number(quantity, expected):
    assert amount(quantity) == expected


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        pytest.param("4Gi", "8Gi", id="binary"),
        pytest.param("500m", "1000m", id="milli"),
        pytest.param("1.5Gi", "3.0Gi", id="fraction"),
        pytest.param("64Ki", "128Ki", id="binary-thousand"),
    ],
)
def test_twice_as_much_keeps_the_unit(quantity, expected):
    assert doubled(quantity) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("500m", "1", "1", id="other-units"),
        pytest.param("1Gi", "1G", "1Gi", id="binary-is-more"),
        pytest.param(None, "1", "1", id="one-missing"),
        pytest.param(None, None, None, id="both-missing"),
    ],
)
def test_the_larger_one_is_kept_as_written(first, second, expected):
    assert larger(first, second) == expected
