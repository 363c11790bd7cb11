from pathlib import Path

from cluster.harness.supervisor import component_environment


def test_components_know_nothing_of_the_persons_environment(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    given = component_environment({"kubelet": Path("/cache/set/kubelet")})
    assert set(given) == {"PATH", "HOME", "TMPDIR"}
    assert given["PATH"].startswith("/cache/set:")
