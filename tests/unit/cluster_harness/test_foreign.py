from pathlib import Path

import pytest

from cluster.harness.errors import HarnessError
from cluster.harness.foreign import foreign_kubeconfig, push_image, pushed_name
from cluster.harness.paths import State

STATE = State(Path("/state"))


@pytest.mark.parametrize(
    ("environ", "foreign"),
    [
        pytest.param({}, None, id="nothing-set"),
        pytest.param({"KUBECONFIG": ""}, None, id="empty"),
        pytest.param({"KUBECONFIG": "/state/kubeconfig"}, None, id="this-tools-own"),
        pytest.param(
            {"KUBECONFIG": "/other/kubeconfig", "PROCTOR_TEST_CLUSTER": "ours"},
            None,
            id="set-by-exec-of-another-of-ours",
        ),
        pytest.param({"KUBECONFIG": "/mine"}, "/mine", id="a-persons-own"),
    ],
)
def test_only_a_kubeconfig_that_this_tool_did_not_make_is_foreign(environ, foreign):
    assert foreign_kubeconfig(environ, STATE) == foreign


@pytest.mark.parametrize(
    ("name", "pushed"),
    [
        pytest.param("images.test/tool:1", "localhost:5000/tool:1", id="host"),
        pytest.param("images.test/a/tool:1", "localhost:5000/a/tool:1", id="host-path"),
        pytest.param("localhost/tool:1", "localhost:5000/tool:1", id="localhost"),
        pytest.param("library/tool:1", "localhost:5000/library/tool:1", id="path-only"),
        pytest.param("tool:1", "localhost:5000/tool:1", id="bare"),
    ],
)
def test_a_pushed_image_keeps_its_path_and_tag(name, pushed):
    assert pushed_name(name, "localhost:5000/") == pushed


def test_pushing_without_a_registry_says_what_to_set():
    with pytest.raises(HarnessError, match=r"PROCTOR_TEST_REGISTRY is not set.*KUBECONFIG=/mine"):
        push_image(Path("image.tar"), {"KUBECONFIG": "/mine"}, print)
