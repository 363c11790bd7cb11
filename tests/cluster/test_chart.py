"""What Helm makes of the chart: parsed, and read by the processes that it configures."""

import json
import subprocess

import pytest

from cluster.charts import helm, of_kind, operator_settings, pod_specs, render
from cluster.conftest import RELEASE, SYSTEM
from proctor.api.addresses import NOT_PUBLIC_V4, NOT_PUBLIC_V6, PUBLIC_V6
from proctor.gateway.config import read_config
from proctor.gateway.traced import TraceTarget

PROVIDER = {
    "name": "anthropic",
    "format": "anthropic-messages",
    "baseUrl": "https://api.anthropic.com",
    "models": ["claude-*"],
    "secretRef": {"name": "keys", "key": "anthropic"},
}


def test_without_images_nothing_is_installed():
    result = helm(["template", "proctor"], {"images": {}})
    assert result.returncode != 0
    assert "operator" in result.stderr


def test_lint_finds_nothing():
    result = helm(["lint", "--strict"])
    assert result.returncode == 0, result.stdout


def test_the_operator_knows_which_models_the_gateway_prices():
    price = {"inputUsdPerMtok": 1, "outputUsdPerMtok": 2, "source": "a page"}
    prices = [{"model": name, **price} for name in ("our-own", "our:other")]
    assert operator_settings({"gateway": {"prices": prices}}).priced_models == (
        "our-own",
        "our:other",
    )


def test_the_operator_can_read_its_settings():
    settings = operator_settings()
    assert settings.gateway_url == "http://proctor-gateway.system.svc:8080"
    assert settings.namespaces == ()


def test_what_trials_may_reach_is_what_the_gateways_service_and_pods_have():
    documents = render()
    service = of_kind(documents, "Service")["proctor-gateway"]
    pods = of_kind(documents, "StatefulSet")["proctor-gateway"]["spec"]["template"]
    network = operator_settings().network
    ports = {one["port"]: one["targetPort"] for one in service["spec"]["ports"]}
    assert ports[network.gateway.port] == network.gateway.port
    assert ports[network.gateway.canary] == network.gateway.canary
    assert network.gateway.pod_labels.items() <= pods["metadata"]["labels"].items()
    assert network.gateway.pod_labels == service["spec"]["selector"]
    (container,) = pods["spec"]["containers"]
    assert {f"--port={network.gateway.port}", f"--canary-port={network.gateway.canary}"} <= set(
        container["args"]
    )
    assert network.require_enforcement


def test_no_other_policy_can_close_the_canary():
    policy = of_kind(render(), "NetworkPolicy")["proctor-gateway"]
    network = operator_settings().network
    assert policy["spec"]["podSelector"]["matchLabels"] == network.gateway.pod_labels
    (rule,) = policy["spec"]["ingress"]
    assert "from" not in rule
    assert network.gateway.canary in [one["port"] for one in rule["ports"]]


def test_probes_and_metrics_are_not_on_the_port_of_trials():
    documents = render({"serviceMonitor": {"enabled": True}})
    (container,) = pod_specs(documents)["StatefulSet", "proctor-gateway"]["containers"]
    port = {one["name"]: one["containerPort"] for one in container["ports"]}["metrics"]
    kinds = ("startupProbe", "livenessProbe", "readinessProbe")
    assert {container[kind]["httpGet"]["port"] for kind in kinds} == {"metrics"}
    (endpoint,) = of_kind(documents, "ServiceMonitor")["proctor-gateway"]["spec"]["endpoints"]
    assert endpoint["port"] == "metrics"
    assert port != operator_settings().network.gateway.port
    assert f"--probe-port={port}" in container["args"]


def test_the_operator_reads_its_own_services_and_no_other():
    role = of_kind(render({"watchNamespaces": ["a"]}), "Role")["proctor-operator-services"]
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["services"],
            "resourceNames": ["proctor-gateway", "proctor-results"],
            "verbs": ["get"],
        }
    ]


def test_the_gateway_can_read_its_configuration_and_finds_keys_in_files():
    price = {
        "model": "m",
        "inputUsdPerMtok": 1,
        "outputUsdPerMtok": "2.5",
        "source": "here",
    }
    documents = render({"gateway": {"providers": [PROVIDER], "prices": [price]}})
    (text,) = of_kind(documents, "ConfigMap")["proctor-gateway"]["data"].values()
    config = read_config(text, "gateway.yaml")
    assert config.operator_service_account == "system/proctor-operator"
    assert config.providers[0].models == ("claude-*",)
    assert str(config.providers[0].api_key_file) == "/var/run/proctor/keys/anthropic/key"


def test_a_providers_key_is_mounted_in_the_gateway_only():
    specs = pod_specs(render({"gateway": {"providers": [PROVIDER]}}))
    holders = [
        name
        for (_, name), spec in specs.items()
        if any("secret" in volume for volume in spec.get("volumes", ()))
    ]
    assert holders == ["proctor-gateway"]


@pytest.mark.parametrize("user_id", [None, 1001])
def test_the_user_of_trials_reaches_the_operator(user_id):
    assert operator_settings({"trials": {"userId": user_id}}).trial.user_id == user_id


def test_every_pod_of_ours_is_restricted():
    for name, spec in pod_specs(render()).items():
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"]:
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"] is True
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert container["resources"]["limits"]["memory"]


def test_there_is_one_operator_and_never_two():
    deployment = of_kind(render(), "Deployment")["proctor-operator"]["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})


def test_no_role_reads_secrets_or_reaches_into_pods():
    documents = render()
    roles = [*of_kind(documents, "ClusterRole").values(), *of_kind(documents, "Role").values()]
    resources = {
        resource for role in roles for rule in role["rules"] for resource in rule["resources"]
    }
    assert not resources & {"secrets", "pods/exec", "pods/attach", "pods/ephemeralcontainers", "*"}


def test_named_namespaces_are_served_by_roles_in_them():
    documents = render({"watchNamespaces": ["a", "b"]})
    places = {
        (one["metadata"]["name"], one["metadata"]["namespace"])
        for one in documents
        if one["kind"] == "Role"
    }
    assert places >= {
        ("proctor-operator", "a"),
        ("proctor-operator", "b"),
        ("proctor-gateway", "a"),
        ("proctor-results", "a"),
    }
    cluster_wide = of_kind(documents, "ClusterRole").keys()
    assert cluster_wide == {
        "proctor-gateway-token-review",
        "proctor-results-review",
        "proctor-view",
        "proctor-edit",
    }


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        pytest.param({}, "keep", id="kept"),
        pytest.param({"crds": {"keep": False}}, None, id="not-kept"),
    ],
)
def test_crds_stay_when_the_chart_goes_if_the_values_say_so(values, kept):
    crds = of_kind(render(values), "CustomResourceDefinition")
    assert len(crds) == 2
    for crd in crds.values():
        assert crd["metadata"].get("annotations", {}).get("helm.sh/resource-policy") == kept


def test_crds_can_be_left_to_others():
    assert of_kind(render({"crds": {"install": False}}), "CustomResourceDefinition") == {}


def test_a_ledger_can_have_a_volume_of_its_own():
    documents = render({"gateway": {"ledger": {"persistent": True}}})
    (claim,) = of_kind(documents, "StatefulSet")["proctor-gateway"]["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "ledger"


def test_cassettes_and_traces_are_off_until_a_value_names_their_place():
    container = pod_specs(render())["StatefulSet", "proctor-gateway"]["containers"][0]
    assert "env" not in container
    assert not any("cassette" in argument for argument in container["args"])


def test_cassettes_lie_on_a_claim_and_traces_go_to_a_collector():
    tracing = {
        "otlpEndpoint": "http://c:4318/v1/traces",
        "headersSecretRef": {"name": "otlp", "headers": {"x-api-key": "key"}},
    }
    values = {"gateway": {"cassettes": {"claimName": "calls"}, "tracing": tracing}}
    documents = render(values)
    spec = pod_specs(documents)["StatefulSet", "proctor-gateway"]
    claims = [v["persistentVolumeClaim"] for v in spec["volumes"] if v["name"] == "cassettes"]
    assert claims == [{"claimName": "calls"}]
    (container,) = spec["containers"]
    assert "--cassette-dir=/var/lib/proctor-cassettes" in container["args"]
    (variable,) = container["env"]
    (text,) = of_kind(documents, "ConfigMap")["proctor-gateway"]["data"].values()
    target = read_config(text, "gateway.yaml").trace_target({variable["name"]: "v"})
    assert target == TraceTarget("http://c:4318/v1/traces", {"x-api-key": "v"})


def test_a_service_monitor_finds_each_process_at_a_port_that_its_service_has():
    documents = render({"serviceMonitor": {"enabled": True}})
    monitors, services = of_kind(documents, "ServiceMonitor"), of_kind(documents, "Service")
    assert monitors.keys() == {"proctor-gateway", "proctor-operator", "proctor-results"}
    for monitor in monitors.values():
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        (endpoint,) = monitor["spec"]["endpoints"]
        found = [one for one in services.values() if wanted <= one["metadata"]["labels"].items()]
        ports = {port["name"] for one in found for port in one["spec"]["ports"]}
        assert endpoint["port"] in ports


def test_a_value_that_does_nothing_is_refused():
    result = helm(["template", "proctor"], {"operator": {"replicas": 3}})
    assert result.returncode != 0
    assert "replicas" in result.stderr


def test_names_follow_the_release():
    documents = render(release="evals")
    assert "evals-proctor-operator" in of_kind(documents, "Deployment")


PROXY = {"egressProxy": {"enabled": True}}


def test_the_egress_proxy_is_there_only_when_it_is_asked_for():
    assert operator_settings().network.egress_proxy is None
    assert "proctor-egress" not in of_kind(render(), "Deployment")
    assert "proctor-egress" in of_kind(render(PROXY), "Deployment")


def test_the_egress_proxy_has_no_key_and_no_token():
    documents = render({**PROXY, "gateway": {"providers": [PROVIDER]}})
    spec = pod_specs(documents)["Deployment", "proctor-egress"]
    assert spec["automountServiceAccountToken"] is False
    assert [one["secret"]["secretName"] for one in spec["volumes"]] == ["proctor-egress"]
    (container,) = spec["containers"]
    assert "env" not in container
    subjects = [
        subject["name"]
        for kind in ("ClusterRoleBinding", "RoleBinding")
        for binding in of_kind(documents, kind).values()
        for subject in binding["subjects"]
    ]
    assert "proctor-egress" not in subjects


def test_trials_reach_the_egress_proxy_where_its_service_and_pods_are():
    documents = render(PROXY)
    network = operator_settings(PROXY).network
    endpoint = network.egress_proxy
    service = of_kind(documents, "Service")[endpoint.service]
    assert [(one["port"], one["targetPort"]) for one in service["spec"]["ports"]] == [
        (endpoint.port, endpoint.port)
    ]
    pods = of_kind(documents, "Deployment")["proctor-egress"]["spec"]["template"]
    assert endpoint.pod_labels.items() <= pods["metadata"]["labels"].items()
    assert f"--port={endpoint.port}" in pods["spec"]["containers"][0]["args"]


def test_operator_and_proxy_share_one_secret_and_nobody_else_has_it():
    documents = render({"egressProxy": {"enabled": True, "secretName": "mine"}})
    assert of_kind(documents, "Secret") == {}
    holders = {
        name
        for (_, name), spec in pod_specs(documents).items()
        for volume in spec.get("volumes", ())
        if volume.get("secret", {}).get("secretName") == "mine"
    }
    assert holders == {"proctor-operator", "proctor-egress"}


def test_the_proxy_reaches_public_addresses_and_is_reached_by_trials_that_have_a_list():
    ranges = ["40.1.0.0/16", "2a00:1::/32", "fd00::/8"]
    documents = render({**PROXY, "network": {"clusterRanges": ranges}})
    spec = of_kind(documents, "NetworkPolicy")["proctor-egress"]["spec"]
    (come,) = spec["ingress"]
    assert come["from"][0]["podSelector"] == {"matchLabels": {"proctor.dev/egress": "AllowList"}}
    v4, v6 = [peer["ipBlock"] for peer in spec["egress"][1]["to"]]
    assert (v4["cidr"], tuple(v4["except"])) == ("0.0.0.0/0", (*NOT_PUBLIC_V4, "40.1.0.0/16"))
    assert (v6["cidr"], tuple(v6["except"])) == (PUBLIC_V6, (*NOT_PUBLIC_V6, "2a00:1::/32"))
    args = pod_specs(documents)["Deployment", "proctor-egress"]["containers"][0]["args"]
    assert [f"--cluster-range={block}" for block in ranges] == args[2:]


def test_the_pod_of_helm_test_is_restricted_and_has_no_rights():
    (pod,) = of_kind(render(), "Pod").values()
    spec = pod["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in spec
    assert spec["securityContext"]["runAsNonRoot"] is True
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    urls = [word for word in container["command"] if word.startswith("http")]
    services = of_kind(render(), "Service")
    for url in urls:
        host, _, port = url.removeprefix("http://").removesuffix("/readyz").partition(":")
        assert int(port) in [one["port"] for one in services[host.split(".")[0]]["spec"]["ports"]]
    assert len(urls) == 3
    (pod,) = of_kind(render({"results": {"enabled": False}}), "Pod").values()
    assert "results" not in json.dumps(pod["spec"])


def test_helm_test_finds_every_server_ready(system):
    result = subprocess.run(
        ["helm", "test", RELEASE, "--namespace", SYSTEM, "--timeout=120s"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert result.returncode == 0, (result.stderr, system.attempt("logs", "proctor-test").stdout)
    assert not system.list("pods", "--selector=app.kubernetes.io/component=test")
