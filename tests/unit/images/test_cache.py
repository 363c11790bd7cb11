from pathlib import Path

from cluster.images.cache import Cache, outdated


def test_the_cache_lies_where_the_environment_says():
    cache = Cache.from_environ({"PROCTOR_TEST_CLUSTER_CACHE": "/c", "HOME": "/h"})
    assert cache.root == Path("/c/images")


def test_the_usual_cache_is_the_test_clusters_own():
    assert Cache.from_environ({"HOME": "/h"}).root == Path("/h/.cache/proctor-test-cluster/images")


def test_archives_of_two_registries_do_not_meet():
    cache = Cache(Path("/c"))
    places = {cache.archive(registry, "a", "1") for registry in ("r/one", "r/two")}
    assert len(places) == 2


def test_only_the_newest_archives_are_kept():
    archives = [(2.0, Path("two")), (3.0, Path("three")), (1.0, Path("one"))]
    assert outdated(archives, kept=2) == (Path("one"),)


def test_checkouts_that_take_turns_keep_each_others_archives():
    """Two of them, each with its own images now and before, once built all of it anew each time."""
    checkouts = [(float(number), Path(f"{number % 2}-{number}")) for number in range(4)]
    assert outdated(checkouts) == ()


def test_few_archives_are_all_kept():
    assert outdated([(1.0, Path("one"))], kept=2) == ()
