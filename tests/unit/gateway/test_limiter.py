"""How calls share a provider's limits: what is learned, who goes next, who waits."""

import asyncio
import time
from datetime import UTC, datetime
from itertools import pairwise

from proctor.gateway.hints import Window
from proctor.gateway.limiter import Limiter, Limiters
from proctor.gateway.pace import Pace


def a_window(remaining: float, **changes: float) -> Window:
    fields = {"limit": 100.0, "reset_seconds": 10.0, **changes}
    return Window("tokens", "tokens", remaining, fields["limit"], fields["reset_seconds"])


def a_limiter() -> Limiter:
    return Limiter(lambda: datetime.now(UTC), time.monotonic)


def taught(*found: Window) -> Pace:
    pace = Pace()
    number = pace.sent(0, 0.0)
    pace.answered(number, found, 0.0)
    pace.ended(number, well=True)
    return pace


def test_without_headers_nothing_waits() -> None:
    pace = Pace()
    for number in range(1, 1001):
        assert pace.wait_seconds(10_000, 0.0) == 0
        assert pace.sent(10_000, 0.0) == number


def test_a_call_waits_until_the_limit_has_room_for_it() -> None:
    # 80 tokens come back in 10 s: 8 a second; 20 are there.
    pace = taught(a_window(20))
    assert pace.wait_seconds(20, 0.0) == 0
    assert pace.wait_seconds(60, 0.0) == 5
    assert pace.wait_seconds(60, 5.0) == 0


def test_a_call_that_is_larger_than_the_limit_waits_for_the_whole_limit() -> None:
    assert taught(a_window(20)).wait_seconds(10_000, 0.0) == 10


def test_calls_that_go_take_what_is_left() -> None:
    pace = taught(a_window(20))
    pace.sent(20, 0.0)
    assert pace.wait_seconds(8, 0.0) == 1


def test_an_answer_knows_nothing_of_calls_that_went_after_it() -> None:
    pace = Pace()
    first = pace.sent(10, 0.0)
    pace.sent(15, 0.0)
    pace.answered(first, [a_window(20)], 0.0)
    assert pace.wait_seconds(5, 0.0) == 0
    assert pace.wait_seconds(13, 0.0) == 1


def test_a_limit_that_is_whole_again_holds_nobody() -> None:
    pace = taught(a_window(100, reset_seconds=0))
    assert pace.wait_seconds(100, 0.0) == 0


def test_a_refusal_holds_everybody_and_then_lets_them_come_slowly() -> None:
    pace = Pace()
    numbers = [pace.sent(1, 0.0) for _ in range(8)]
    pace.refused(3.0, 0.0)
    for number in numbers:
        pace.ended(number, well=False)
    assert pace.wait_seconds(1, 1.0) == 2
    went = []
    while pace.wait_seconds(1, 3.0) == 0:
        went.append(pace.sent(1, 3.0))
    assert len(went) == 4, "half of those that were too many"
    assert pace.wait_seconds(1, 3.0) is None


def test_after_a_refusal_one_call_is_always_let_go() -> None:
    pace = Pace()
    for _ in range(5):
        pace.refused(0.0, 0.0)
    assert pace.wait_seconds(1, 0.0) == 0


def test_calls_that_go_well_raise_the_cap_again() -> None:
    pace = Pace()
    pace.refused(0.0, 0.0)
    for _ in range(20):
        pace.ended(pace.sent(1, 0.0), well=True)
    going = 0
    while pace.wait_seconds(1, 0.0) == 0:
        pace.sent(1, 0.0)
        going += 1
    assert 5 <= going <= 7  # grows like a root


async def test_trials_take_turns_however_many_calls_one_of_them_makes() -> None:
    limiter, order, release = a_limiter(), [], asyncio.Event()
    limiter.pace.refused(0.0, limiter.clock())  # one at a time

    async def call(trial: str) -> None:
        async with limiter.turn(trial, 1) as turn:
            turn.went_well = False
            order.append(trial)
            await release.wait()

    calls = [asyncio.create_task(call("greedy")) for _ in range(6)]
    await asyncio.sleep(0)
    calls += [asyncio.create_task(call(trial)) for trial in ("a", "b")]
    await asyncio.sleep(0)
    release.set()
    await asyncio.gather(*calls)
    assert order == ["greedy", "greedy", "a", "b", "greedy", "greedy", "greedy", "greedy"]


async def test_a_client_that_goes_away_leaves_its_place() -> None:
    limiter = a_limiter()
    limiter.pace.refused(0.0, limiter.clock())
    async with limiter.turn("a", 1):
        waiting = asyncio.create_task(one_turn(limiter, "b"))
        await asyncio.sleep(0)
        assert limiter.waiting == 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert limiter.waiting == 0
    assert limiter.pace.in_flight == 0


async def test_a_client_that_goes_away_in_the_moment_of_its_turn_gives_it_back() -> None:
    limiter = a_limiter()
    limiter.pace.refused(0.0, limiter.clock())
    async with limiter.turn("a", 1):
        waiting = asyncio.create_task(one_turn(limiter, "b"))
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert limiter.pace.in_flight == 0
    await asyncio.wait_for(one_turn(limiter, "c"), 5)


async def one_turn(limiter: Limiter, trial: str) -> None:
    async with limiter.turn(trial, 1):
        pass


async def test_those_that_wait_for_time_go_when_it_has_passed() -> None:
    limiter = a_limiter()
    began = limiter.clock()
    limiter.pace.refused(0.05, began)
    await asyncio.wait_for(asyncio.gather(*(one_turn(limiter, t) for t in "abc")), 5)
    assert limiter.clock() - began >= 0.05


async def test_nobody_waits_longer_than_a_minute_for_a_limit_of_a_day() -> None:
    clock = [0.0]
    limiter = Limiter(lambda: datetime.now(UTC), lambda: clock[0])
    limiter.pace.answered(limiter.pace.sent(0, 0.0), [a_window(0, reset_seconds=86_400)], 0.0)
    waiting = asyncio.create_task(one_turn(limiter, "a"))
    await asyncio.sleep(0)
    assert limiter.waiting == 1
    clock[0] = 60.0
    other = asyncio.create_task(one_turn(limiter, "b"))
    await asyncio.wait_for(waiting, 5)
    other.cancel()


def test_limiters_are_for_one_provider_and_one_key() -> None:
    limiters = Limiters(lambda: datetime.now(UTC), time.monotonic)
    three = [limiters.of("p", "k"), limiters.of("p", "other"), limiters.of("q", "k")]
    assert all(one is not other for one, other in pairwise(three))
    assert limiters.of("p", "k") is three[0]
