from dataclasses import replace

from cluster.harness.footprint import Footprint

NOTHING = Footprint(*[frozenset[str]()] * 7)


def test_what_was_there_before_was_not_left():
    before = replace(NOTHING, files=frozenset({"/run/a"}))
    assert before.left_since(before) == {}


def test_what_is_new_is_named_by_kind():
    after = replace(NOTHING, files=frozenset({"/run/b", "/run/a"}), links=frozenset({"veth0"}))
    assert after.left_since(NOTHING) == {"files": ["/run/a", "/run/b"], "links": ["veth0"]}


def test_what_went_away_meanwhile_was_not_left():
    before = replace(NOTHING, mounts=frozenset({"/var/x"}))
    assert NOTHING.left_since(before) == {}


def test_a_changed_setting_was_left():
    before = replace(NOTHING, settings=frozenset({"vm/overcommit_memory = 0"}))
    after = replace(NOTHING, settings=frozenset({"vm/overcommit_memory = 1"}))
    assert after.left_since(before) == {"settings": ["vm/overcommit_memory = 1"]}
