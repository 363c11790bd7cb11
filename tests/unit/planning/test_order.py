from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.planning.order import start_order

names = st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=5, unique=True)
repeat_counts = st.integers(1, 6)


@given(names, names, repeat_counts, st.text("0123456789abcdef", max_size=8))
def test_every_trial_occurs_exactly_once(tasks, variants, repeats, seed):
    order = start_order(tasks, variants, repeats, seed)
    wanted = {(t, v, r) for t in tasks for v in variants for r in range(repeats)}
    counted = Counter((key.task, key.variant, key.repeat) for key in order)
    assert counted == dict.fromkeys(wanted, 1)


@given(names, names, repeat_counts, st.text(max_size=4))
def test_repeats_are_outermost(tasks, variants, repeats, seed):
    order = [key.repeat for key in start_order(tasks, variants, repeats, seed)]
    assert order == sorted(order)


@given(names, names, repeat_counts, st.text(max_size=4))
def test_the_variants_of_a_task_stand_side_by_side(tasks, variants, repeats, seed):
    order = start_order(tasks, variants, repeats, seed)
    blocks = [order[i : i + len(variants)] for i in range(0, len(order), len(variants))]
    assert [block[0].task for block in blocks] == tasks * repeats
    assert all({key.variant for key in block} == set(variants) for block in blocks)


@given(names, names, st.text(max_size=4))
def test_every_variant_comes_first_equally_often(tasks, variants, seed):
    repeats = len(variants)
    order = start_order(tasks, variants, repeats, seed)
    first = Counter(key.variant for key in order[:: len(variants)])
    assert set(first.values()) == {len(tasks)}


def test_one_seed_gives_one_order():
    assert start_order("ab", "xyz", 2, "7f") == start_order("ab", "xyz", 2, "7f")


@pytest.mark.parametrize("seed", [pytest.param("", id="no-seed"), pytest.param("1", id="seed")])
def test_only_the_rotation_depends_on_the_seed(seed):
    assert sorted(start_order("ab", "xyz", 2, seed)) == sorted(start_order("ab", "xyz", 2, ""))
