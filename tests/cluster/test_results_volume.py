"""Records on a PersistentVolume: they outlive the pod; a volume that is full loses no verdict."""

import pytest

from cluster.killing import component_pod, on_node
from cluster.provider import trials_sending_for, upgrade
from cluster.storing import (
    RECORD_BYTES,
    Reader,
    a_storing_run,
    require_all_stored,
    require_named,
)
from waiting import until

pytestmark = pytest.mark.alone

CLASS = "proctor-test"
FOLDER = "/var/lib/proctor-test-volume"
MIB = 64
SERVER = "statefulset/proctor-results"
CLAIM = "data-proctor-results-0"
USUAL = {
    "volume": {"persistent": False, "size": "10Gi", "storageClassName": ""},
    "retention": {"maxAgeDays": 30, "maxTotalMiB": 8192, "intervalSeconds": 3600},
}


def in_mounts(system, image, node, name, script):
    """Run a script in the mounts of a node."""
    on_node(system, image, node, name, "nsenter", "-t", "1", "-m", "--", "sh", "-c", script)


def a_small_volume(node):
    """A class whose volumes are made by hand, and the one volume that it has."""
    terms = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return (
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": CLASS},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": CLASS},
            "spec": {
                "storageClassName": CLASS,
                "capacity": {"storage": f"{MIB}Mi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "local": {"path": FOLDER},
                "nodeAffinity": {
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [terms]}]}
                },
            },
        },
    )


def changed(**results):
    upgrade({"results": results})


def made_again(system, **results):
    """With another kind of volume, which no upgrade can change, as docs/results.md says."""
    system("delete", SERVER, "--ignore-not-found", "--wait=true")
    changed(**results)


@pytest.fixture(scope="module")
def on_a_volume(system, busybox_image):
    """The chart with a volume of 64 MiB that belongs to nobody else."""
    mount = f"mkdir -p {FOLDER} && mount -t tmpfs -o size={MIB}m tmpfs {FOLDER}"
    node = component_pod(system, "gateway")["spec"]["nodeName"]
    in_mounts(system, busybox_image, node, "mount-volume", mount)
    system.apply(*a_small_volume(node))
    volume = {"persistent": True, "size": f"{MIB}Mi", "storageClassName": CLASS}
    try:
        # Retention is not what keeps this volume from being full.
        made_again(system, volume=volume, retention={"maxTotalMiB": MIB - 1})
        yield
    finally:
        made_again(system, **USUAL)
        system("delete", "pvc", CLAIM, "--timeout=60s")
        system("delete", "pv", CLASS, "--timeout=60s")
        system("delete", "storageclass", CLASS)
        unmount = f"umount {FOLDER} && rmdir {FOLDER}"
        in_mounts(system, busybox_image, node, "unmount-volume", unmount)


@pytest.fixture(scope="module")
def proctor(kube):
    return Reader.of(kube)


@pytest.fixture(scope="module")
def kept(kube, on_a_volume):
    """A run of two trials whose records are stored."""
    kube.run("kept", a_storing_run(2))
    return kube.finished("kept", timeout=300)


@pytest.fixture(scope="module")
def filled(kube, kept):
    """A run with more records than the volume has room for."""
    with trials_sending_for(8):
        kube.run("filled", a_storing_run(8))
        return kube.finished("filled", timeout=400)


def test_records_outlive_the_pod(system, kube, kept, proctor, tmp_path):
    require_all_stored(kept, 2)
    before = system.get("pod", "proctor-results-0")["metadata"]["uid"]
    system("delete", "pod", "proctor-results-0", "--wait=true")
    system("rollout", "status", SERVER, "--timeout=120s")
    after = system.get("pod", "proctor-results-0")
    assert after["metadata"]["uid"] != before
    claims = [one["persistentVolumeClaim"] for one in after["spec"]["volumes"]
              if one["name"] == "data"]  # fmt: skip
    assert claims == [{"claimName": CLAIM}]
    proctor.require_whole("kept", tmp_path)


def test_records_outlive_the_stateful_set(system, kept, proctor, tmp_path):
    made_again(system)
    proctor.require_whole("kept", tmp_path)


def test_a_full_volume_costs_no_verdict_and_each_missing_record_is_named(
    system, kube, filled, proctor, tmp_path
):
    missing = require_named(kube, filled, "the volume is full (results.volume.size)")
    assert 8 - missing + 2 <= MIB * (1 << 20) // RECORD_BYTES
    assert missing < 8
    assert filled["status"]["trials"]["passed"] == 8
    # What is there is still read.
    system("rollout", "status", SERVER, "--timeout=60s")
    proctor.require_whole("kept", tmp_path)


def test_retention_by_size_makes_room_and_the_next_records_are_taken(
    kube, filled, proctor, tmp_path
):
    changed(retention={"maxTotalMiB": 30, "intervalSeconds": 2})
    until(lambda: proctor.count("kept") == 0, "the oldest are removed")
    until(lambda: proctor.count("filled") in range(1, 4), "the rest is below nine tenths of 30 MiB")
    kube.run("healed", a_storing_run(2))
    require_all_stored(kube.finished("healed", timeout=300), 2)
    proctor.require_whole("healed", tmp_path)
    assert proctor.count("filled") < 3


def test_retention_by_age_removes_what_is_too_old(kube, kept, proctor):
    changed(retention={"maxAgeDays": 1 / 86_400, "intervalSeconds": 2})
    until(lambda: proctor.count("healed") == 0, "all records are removed")
    # Verdicts stay.
    assert {trial["status"]["outcome"] for trial in kube.trials("kept")} == {"Passed"}
