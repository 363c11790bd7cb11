from pathlib import Path

import pytest

from cluster.harness import preflight
from cluster.harness.errors import HarnessError
from cluster.harness.paths import State


def test_root_is_fine_and_anybody_else_is_refused():
    preflight.require_root(0)
    with pytest.raises(HarnessError, match="user 1000; use sudo"):
        preflight.require_root(1000)


def test_root_without_resource_limits_rights_is_enough():
    preflight.require_capabilities("Name:\tx\nCapEff:\t000001fffeffffff\n")


@pytest.mark.parametrize(
    ("status", "missing"),
    [
        pytest.param("CapEff:\t00000000a80425fb\n", "CAP_NET_ADMIN.*CAP_SYS_ADMIN", id="docker"),
        pytest.param("CapEff:\t0000000000000000\n", "CAP_KILL", id="none"),
        pytest.param("", "CAP_SYS_ADMIN", id="unknown"),
    ],
)
def test_missing_capabilities_are_named(status, missing):
    with pytest.raises(HarnessError, match=missing):
        preflight.require_capabilities(status)


@pytest.mark.parametrize("release", ["6.18.44-fc", "5.10.0-1-amd64", "4.19.0"])
def test_a_kernel_that_kubernetes_supports_is_fine(release):
    preflight.require_kernel(release)


@pytest.mark.parametrize("release", ["4.18.9", "3.10.0-1160.el7", "unknown"])
def test_an_old_kernel_is_refused(release):
    with pytest.raises(HarnessError, match=f"kernel {release} is older than 4.19"):
        preflight.require_kernel(release)


def test_programs_that_are_not_installed_are_named():
    with pytest.raises(HarnessError, match=r"containerd.*runc.*run `install`"):
        preflight.require_tools(lambda _: None)


@pytest.mark.parametrize("folder", ["/run/cluster", "/var/lib/x/y", "/var/log"])
def test_a_state_folder_that_the_cluster_would_hide_is_refused(folder):
    with pytest.raises(HarnessError, match="PROCTOR_TEST_CLUSTER_STATE"):
        preflight.require_visible(State(Path(folder)))


def test_a_state_folder_elsewhere_is_fine():
    preflight.require_visible(State(Path("/var/tmp/cluster")))
