from pathlib import Path

from cluster.harness.paths import State, cache_folder


def test_the_cache_is_below_home_unless_told_otherwise():
    assert cache_folder({"HOME": "/home/ada"}) == Path("/home/ada/.cache/proctor-test-cluster")
    assert cache_folder({"HOME": "/home/ada", "XDG_CACHE_HOME": "/big"}) == Path(
        "/big/proctor-test-cluster"
    )
    assert cache_folder({"PROCTOR_TEST_CLUSTER_CACHE": "/else"}) == Path("/else")


def test_the_state_is_below_the_cache_unless_told_otherwise():
    assert State.from_environ({"PROCTOR_TEST_CLUSTER_CACHE": "/c"}).root == Path("/c/state")
    assert State.from_environ({"PROCTOR_TEST_CLUSTER_STATE": "/s"}).root == Path("/s")


def test_two_state_folders_have_two_cgroups():
    one, other = State(Path("/one")), State(Path("/other"))
    assert one.cgroup != other.cgroup
    assert one.cgroup == State(Path("/one")).cgroup


def test_everything_of_a_cluster_is_below_its_state_folder():
    state = State(Path("/state"))
    paths = [
        state.kubeconfig,
        state.supervisor,
        state.progress,
        state.images,
        state.var_lib,
        state.logs,
    ]
    assert all(path.is_relative_to("/state") for path in paths)
