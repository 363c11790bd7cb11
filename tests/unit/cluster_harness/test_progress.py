import pytest

from cluster.harness.progress import FAILED, READY, STARTING, Progress


def test_a_cluster_that_said_nothing_is_starting(tmp_path):
    assert Progress.load(tmp_path / "absent.json") == Progress(STARTING)


def test_progress_is_read_as_it_was_saved(tmp_path):
    progress = Progress(READY, ended={"kubelet": 1})
    progress.save(tmp_path / "progress.json")
    assert Progress.load(tmp_path / "progress.json") == progress


@pytest.mark.parametrize(
    ("progress", "healthy"),
    [
        pytest.param(Progress(READY), True, id="ready"),
        pytest.param(Progress(READY, ended={"etcd": -9}), False, id="a-component-ended"),
        pytest.param(Progress(STARTING), False, id="starting"),
        pytest.param(Progress(FAILED, "why"), False, id="failed"),
    ],
)
def test_only_a_ready_cluster_with_every_component_is_healthy(progress, healthy):
    assert progress.is_healthy is healthy
