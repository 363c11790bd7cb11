"""What trials reach in each mode, on a network that enforces NetworkPolicies.

Every address that is said to be shut is first reached by a pod that nothing confines.
"""

import json
import shlex
import uuid

import pytest

from agent_runs import LINES, run_on_cluster
from agent_suites import lines, of_cluster, wrongs
from cluster.conftest import enforces_policies, has_outside
from cluster.kube import SMALL, a_command_run
from cluster.outside import METADATA, PRIVATE, PUBLIC, outside
from cluster.reach import SCRIPT, plain_pod, report
from waiting import until

pytestmark = pytest.mark.skipif(
    not (enforces_policies() and has_outside()),
    reason="the cluster enforces no NetworkPolicies, or is somebody's own",
)
GATEWAY = {"gateway"}
WORLD = {"outside", "outside-tls", "dns", "name"}


@pytest.fixture(scope="module", autouse=True)
def listeners(tmp_path_factory):
    with outside(tmp_path_factory.mktemp("outside")):
        yield


@pytest.fixture(scope="module")
def image(images):
    return images["default"]


@pytest.fixture(scope="module")
def targets(kube, system, image):
    """Everything that a trial could try to reach."""
    kube.apply(plain_pod("listener", image, "python3", "-m", "http.server", "8000"))
    kube("wait", "pod/listener", "--for=condition=Ready", "--timeout=120s")
    listener = kube.get("pod", "listener")["status"]["podIP"]
    gateway = system.get("service", "proctor-gateway")["spec"]["clusterIP"]
    operator = system.get("service", "proctor-operator")["spec"]["clusterIP"]
    results = system.get("service", "proctor-results")["spec"]["clusterIP"]
    node = system.list("nodes")[0]["status"]["addresses"][0]["address"]
    api = system.attempt("--namespace=default", "get", "service", "kubernetes", "--output=json")
    dns = system.attempt("--namespace=kube-system", "get", "service", "--output=json")
    (names,) = [
        one["spec"]["clusterIP"]
        for one in json.loads(dns.stdout)["items"]
        if any(port["port"] == 53 for port in one["spec"]["ports"])
    ]
    return {
        "gateway": ("tcp", gateway, 8080),
        "gateway-metrics": ("tcp", gateway, 8081),
        "gateway-canary": ("tcp", gateway, 8082),
        "operator": ("tcp", operator, 8080),
        "results-read": ("tcp", results, 8081),
        "api-server": ("tcp", json.loads(api.stdout)["spec"]["clusterIP"], 443),
        "api-server-on-its-node": ("tcp", node, 6443),
        "kubelet": ("tcp", node, 10250),
        "another-pod": ("tcp", listener, 8000),
        "dns": ("dns", names, 53),
        "name": ("name", "kubernetes.default.svc.cluster.local", 443),
        "metadata": ("tcp", METADATA, 80),
        "private": ("tcp", PRIVATE, 443),
        "outside": ("tcp", PUBLIC, 80),
        "outside-tls": ("tcp", PUBLIC, 443),
    }


def seen_from(kube, image, name, targets):
    """What a pod that nothing confines reaches."""
    kube.apply(plain_pod(name, image, "python3", "-c", SCRIPT, json.dumps(targets)))
    kube("wait", f"pod/{name}", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=120s")
    return kube("logs", name).strip()


def reaching(targets, reached, egress=None, *criteria):
    """A run whose agent passes when it reaches exactly these."""
    words = shlex.join(["python3", "reach.py", json.dumps(targets)])
    looked = {"type": "run_command", "command": "cat reach.txt",
              "expectedStdout": report(targets, reached)}  # fmt: skip
    files = [{"path": "reach.py", "content": SCRIPT}]
    spec = a_command_run(
        f"env > env.txt; {words} > reach.txt", looked, *criteria, workspace={"files": files}
    )
    return {**spec, "sandbox": {**SMALL, **({"egress": egress} if egress else {})}}


def condition(run, kind="NetworkEnforced"):
    return next(one for one in run["status"]["conditions"] if one["type"] == kind)


def passed(kube, name):
    run = kube.finished(name)
    (trial,) = kube.trials(name)
    assert trial["status"]["outcome"] == "Passed", (trial["status"], condition(run))
    return run


def test_a_pod_that_nothing_confines_reaches_all_of_it(kube, image, targets):
    assert seen_from(kube, image, "unconfined", targets) == report(targets, targets)


def test_an_open_trial_reaches_the_world_and_names_and_nothing_inside(kube, targets):
    kube.run("wide", reaching(targets, GATEWAY | WORLD, {"mode": "Open"}))
    assert condition(passed(kube, "wide"))["status"] == "True"


METADATA_FORMS = ("2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518",
                  f"::ffff:{METADATA}")  # fmt: skip
PRIVATE_FORMS = ("180879365", "0x0AC80005", "012.0310.0.5", f"::ffff:{PRIVATE}")


def test_no_way_to_write_an_address_leads_an_open_trial_inside(
    kube, image, targets, record_property
):
    kept = ("gateway-metrics", "operator", "api-server", "kubelet", "another-pod", "metadata",
            "private")  # fmt: skip
    inside = [targets[name][1:] for name in kept]
    inside += [(form, 80) for form in METADATA_FORMS] + [(form, 443) for form in PRIVATE_FORMS]
    written = {f"{host} {port}": ("tcp", host, port) for host, port in inside}
    assert seen_from(kube, image, "unconfined-forms", written) == report(written, written)
    words = {"PLACES": json.dumps({"inside": inside, "outside": [PUBLIC, 80]})}
    agents = of_cluster("attacks", "open")

    ended = run_on_cluster(kube, "forms", agents, uuid.uuid4().hex, words)

    record_property(LINES, lines(agents, ended))
    assert wrongs(agents, ended) == {}


def test_a_trial_reaches_the_gateway_and_nothing_else(kube, targets):
    kube.run("shut", reaching(targets, GATEWAY))
    found = condition(passed(kube, "shut"))
    assert (found["status"], found["reason"]) == ("True", "CanaryRefused")


def test_without_egress_the_agent_has_no_key_either(kube, targets):
    no_key = {"type": "run_command", "command": "! grep -e API_KEY -e BASE_URL env.txt"}
    kube.run("none", reaching(targets, GATEWAY, {"mode": "None"}, no_key))
    passed(kube, "none")


def test_a_model_call_works_without_names(kube):
    script = """
rules:
  - when: {turn: 1}
    answer: {tools: [{name: write, input: {path: out.txt, content: done}}]}
  - answer: {text: finished}
"""
    spec = {
        "agent": {"type": "mini", "model": "claude-haiku-4-5"},
        "sandbox": SMALL,
        "models": {"mode": "Scripted", "script": {"inline": script}},
        "tasks": [
            {
                "name": "write",
                "prompt": "write it",
                "criteria": [{"type": "file_exists", "path": "out.txt"}],
            }
        ],
    }
    kube.run("model", spec)
    passed(kube, "model")


@pytest.fixture
def waiting(kube):
    """A trial whose agent listens, and its pod's address."""
    spec = a_command_run(
        "python3 -m http.server 8000 & sleep 50", {"type": "file_exists", "path": "never"}
    )
    kube.run("waiting", spec)
    kube("wait", "evalrun/waiting", "--for=jsonpath={.status.trials.running}=1", "--timeout=120s")
    (pod,) = kube.list("pods", "--selector=proctor.dev/run=waiting")
    yield pod["status"]["podIP"]
    kube("delete", "evalrun", "waiting", "--timeout=60s")


def test_nobody_reaches_a_trial_and_its_policy_comes_back(kube, image, targets, waiting):
    both = {"trial": ("tcp", waiting, 8000), "listener": targets["another-pod"]}
    assert seen_from(kube, image, "visitor", both) == report(both, {"listener"})
    name = "proctor-trial-modelonly"
    before = kube.get("networkpolicy", name)
    kube("patch", "networkpolicy", name, "--type=merge", '--patch={"spec":{"egress":[{}]}}')
    until(lambda: kube.get("networkpolicy", name)["spec"] == before["spec"], "its policy is mended")
    kube("delete", "networkpolicy", name)
    until(lambda: kube.attempt("get", "networkpolicy", name).returncode == 0, "it is made again")
    assert kube.get("networkpolicy", name)["spec"] == before["spec"]


def test_a_policy_of_somebody_else_that_opens_trials_is_named(kube, targets):
    spec = {"podSelector": {}, "policyTypes": ["Egress"],
            "egress": [{"to": [{"ipBlock": {"cidr": f"{PUBLIC}/32"}}]}]}  # fmt: skip
    kube.apply(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "somebodys"},
            "spec": spec,
        }
    )
    try:
        kube.run("opened", reaching(targets, GATEWAY | {"outside", "outside-tls"}))
        found = condition(passed(kube, "opened"))
    finally:
        kube("delete", "networkpolicy", "somebodys")
    assert (found["status"], found["reason"]) == ("False", "OtherPolicies")
    assert "somebodys" in found["message"]
