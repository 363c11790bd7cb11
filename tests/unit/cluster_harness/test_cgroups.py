import pytest

from cluster.harness import cgroups


@pytest.fixture
def v1(tmp_path):
    """A tree as cgroup v1 has it: one hierarchy for each controller, some by two names."""
    for controller in ("cpu", "cpuset"):
        (tmp_path / controller).mkdir()
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-1\n")
    (tmp_path / "cpuset" / "cpuset.mems").write_text("0\n")
    (tmp_path / "cpuacct").symlink_to("cpu")
    return tmp_path


@pytest.fixture
def v2(tmp_path):
    """A tree as cgroup v2 has it, whose top hands down one controller so far."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    return tmp_path


def test_v1_has_one_hierarchy_for_each_controller(v1):
    assert cgroups.hierarchies(v1) == [v1 / "cpu", v1 / "cpuset"]


def test_v2_has_one_hierarchy(v2):
    assert cgroups.hierarchies(v2) == [v2]


def test_on_v1_a_cpuset_gets_the_values_that_processes_need(v1):
    cgroups.create("mine", v1)
    assert (v1 / "cpuset" / "mine" / "cpuset.cpus").read_text() == "0-1\n"
    assert (v1 / "cpu" / "mine").is_dir()


def test_on_v2_the_top_hands_down_what_the_kubelet_needs(v2):
    cgroups.create("mine", v2)
    assert (v2 / "mine").is_dir()
    assert (v2 / "cgroup.subtree_control").read_text() == "+pids"  # the last of single writes


def test_removing_takes_all_below_and_nothing_beside(v1):
    for group in ("mine/kubepods/pod1", "other/kubepods"):
        (v1 / "cpu" / group).mkdir(parents=True)
    assert cgroups.remove("mine", root=v1) == []
    assert not (v1 / "cpu" / "mine").exists()
    assert (v1 / "cpu" / "other" / "kubepods").is_dir()


def test_a_cgroup_that_is_in_use_is_told(v1):
    (v1 / "cpu" / "mine").mkdir()
    (v1 / "cpu" / "mine" / "file-that-keeps-it").write_text("")
    assert cgroups.remove("mine", wait_seconds=0, root=v1) == [v1 / "cpu" / "mine"]
