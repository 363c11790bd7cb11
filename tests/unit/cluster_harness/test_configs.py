import base64
import tomllib

from cluster.harness import configs, layout


def test_containerd_reads_its_configuration():
    plugins = tomllib.loads(configs.containerd_config())["plugins"]
    cri = plugins["io.containerd.grpc.v1.cri"]
    assert cri["restrict_oom_score_adj"] is True
    assert cri["sandbox_image"] == layout.PAUSE_IMAGE
    assert cri["cni"]["conf_dir"] == layout.CNI_CONFIG


def test_nothing_of_containerd_is_outside_the_clusters_own_folders():
    config = tomllib.loads(configs.containerd_config())
    folders = [
        config["root"],
        config["state"],
        config["grpc"]["address"],
        config["plugins"]["io.containerd.internal.v1.opt"]["path"],
    ]
    assert all(folder.startswith(("/run/", "/var/lib/")) for folder in folders)


def test_pods_are_below_the_clusters_own_cgroup():
    assert configs.kubelet_config("mine")["cgroupRoot"] == "/mine"


def test_pods_ask_the_dns_service_and_no_other_resolver():
    kubelet = configs.kubelet_config("mine")
    assert kubelet["clusterDNS"] == [layout.DNS_SERVICE_ADDRESS]
    assert kubelet["resolvConf"] == "/dev/null"


def test_dns_forwards_nothing():
    assert "forward" not in configs.corefile()
    assert f"bind {layout.NODE_ADDRESS}\n" in configs.corefile()


def test_the_pod_network_and_the_kubelet_agree_on_the_range():
    bridge = configs.cni_config()["plugins"][0]
    assert bridge["ipam"]["ranges"] == [[{"subnet": layout.POD_RANGE}]]


def test_a_kubeconfig_holds_all_that_it_needs():
    document = configs.kubeconfig(b"authority", b"certificate", b"key")
    user = document["users"][0]["user"]
    assert base64.b64decode(user["client-key-data"]) == b"key"
    assert base64.b64decode(user["client-certificate-data"]) == b"certificate"
    assert document["current-context"] == document["contexts"][0]["name"]
