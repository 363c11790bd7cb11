"""The mirrors of the watches: newest version wins, whatever the order."""

from dataclasses import dataclass

import pytest

from fakes.cluster import START
from proctor.controller.cluster import Gone, Put, Snapshot
from proctor.controller.seen import Identity, RunKey
from proctor.controller.watched import Mirror, Watched

RUN = RunKey("team", "run")


@dataclass(frozen=True)
class Thing:
    identity: Identity
    word: str = ""


def a_thing(version, *, name="one", uid="u1", namespace="team", word=""):
    return Thing(Identity(namespace, name, uid, version, START, None), word)


@pytest.fixture
def marked():
    return []


@pytest.fixture
def mirror(marked):
    return Mirror(lambda thing: RUN, marked.append, (None,))


def words(mirror):
    return sorted(thing.word for thing in mirror.of(RUN).values())


def test_a_newer_version_takes_the_place_of_an_older_one(mirror, marked):
    mirror.take(Put(a_thing(1, word="old")), None)
    mirror.take(Put(a_thing(2, word="new")), None)
    assert words(mirror) == ["new"]
    assert marked == [RUN, RUN]


def test_what_a_watch_says_late_is_not_believed(mirror, marked):
    mirror.put(a_thing(5, word="ours"))
    mirror.take(Put(a_thing(4, word="late")), None)
    mirror.take(Put(a_thing(5, word="echo")), None)
    assert words(mirror) == ["ours"]
    assert marked == [RUN]


def test_what_is_gone_is_forgotten_with_its_run(mirror):
    mirror.put(a_thing(1))
    mirror.take(Gone(a_thing(2)), None)
    assert mirror.of(RUN) == {}
    assert list(mirror.all()) == []


def test_an_object_that_took_the_name_of_a_gone_one_stays(mirror):
    mirror.put(a_thing(3, uid="u2", word="second"))
    mirror.take(Gone(a_thing(2, uid="u1")), None)
    assert words(mirror) == ["second"]


def test_a_repeated_list_removes_what_it_does_not_show(mirror, marked):
    mirror.take(Snapshot((a_thing(1, word="a"), a_thing(2, name="two", uid="u2")), 2), None)
    marked.clear()
    mirror.take(Snapshot((a_thing(1, word="a"),), 9), None)
    assert words(mirror) == ["a"]
    assert marked == [RUN]


def test_a_list_does_not_remove_what_was_made_after_it(mirror):
    mirror.put(a_thing(10, word="made"))
    mirror.take(Snapshot((), 9), None)
    assert words(mirror) == ["made"]


def test_a_list_of_one_namespace_leaves_others_alone():
    mirror = Mirror(lambda thing: RUN, lambda run: None, ("team", "other"))
    mirror.put(a_thing(1, namespace="other", word="other"))
    mirror.take(Snapshot((), 9), "team")
    assert words(mirror) == ["other"]
    assert not mirror.complete.is_set()
    mirror.take(Snapshot((), 9), "other")
    assert mirror.complete.is_set()
    assert words(mirror) == []


async def test_all_is_complete_when_every_kind_was_listed():
    watched = Watched.empty(lambda run: None)
    for mirror in (watched.runs, watched.trials):
        mirror.take(Snapshot((), 1), None)
    assert not watched.is_complete
    watched.pods.take(Snapshot((), 1), None)
    assert not watched.is_complete
    watched.policies.take(Snapshot((), 1), None)
    await watched.complete()
    assert watched.is_complete
