"""The queue of runs: marks, deadlines, one pass at a time."""

from datetime import timedelta

import pytest

from fakes.cluster import START
from proctor.controller.due import Due
from proctor.controller.seen import RunKey

A, B = RunKey("team", "a"), RunKey("team", "b")


def after(seconds):
    return START + timedelta(seconds=seconds)


@pytest.fixture
def due():
    return Due()


def test_runs_come_in_the_order_in_which_they_were_marked(due):
    for run in (A, B, A):
        due.mark(run)
    assert [due.take(START), due.take(START), due.take(START)] == [A, B, None]


def test_a_run_that_is_looked_at_is_not_given_out_again(due):
    due.mark(A)
    due.take(START)
    due.mark(A)
    assert due.take(START) is None


def test_what_came_during_a_pass_leads_to_another_one_after_a_pause(due):
    due.mark(A)
    due.take(START)
    due.mark(A)
    due.done(A, after(1))
    assert due.take(START) is None
    assert due.take(after(1)) == A


def test_a_pass_during_which_nothing_came_is_the_last(due):
    due.mark(A)
    due.take(START)
    due.done(A, START)
    assert due.take(after(3600)) is None


def test_a_timer_rings_at_its_moment(due):
    due.mark_at(A, after(10))
    assert due.next_at() == after(10)
    assert due.take(after(9)) is None
    assert due.take(after(10)) == A
    assert due.next_at() is None


def test_the_earliest_moment_counts(due):
    for seconds in (20, 10, 30):
        due.mark_at(A, after(seconds))
    assert due.next_at() == after(10)
    assert due.take(after(10)) == A
    due.done(A, after(10))
    assert due.take(after(60)) is None


def test_a_pass_takes_the_place_of_a_timer(due):
    due.mark_at(A, after(10))
    due.mark(A)
    due.take(START)
    due.done(A, START)
    assert due.take(after(10)) is None
