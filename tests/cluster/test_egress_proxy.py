"""Mode AllowList: exactly the named hosts, by TLS, through the proxy."""

import json
import threading
import uuid

import pytest

from agent_runs import LINES, run_on_cluster
from agent_suites import lines, of_cluster, wrongs
from cluster.conftest import enforces_policies, has_outside
from cluster.kube import SMALL, Kubectl, a_command_run
from cluster.outside import ANSWER, PRIVATE, PUBLIC, outside

pytestmark = pytest.mark.skipif(
    not (enforces_policies() and has_outside()),
    reason="the cluster enforces no NetworkPolicies, or is somebody's own",
)
SCRIPT = """
import base64, json, os, socket, ssl, sys, urllib.parse, urllib.request

blind = ssl.create_default_context()
blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
leave = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()

def fetch(url):
    with urllib.request.urlopen(url, context=blind, timeout=15) as answer:
        return answer.read().decode()

def connect(target, name=None, key=leave):
    raw = socket.create_connection((proxy.hostname, proxy.port), timeout=15)
    field = f"Proxy-Authorization: Basic {key}\\r\\n" if key else ""
    raw.sendall(f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n{field}\\r\\n".encode())
    status = raw.recv(4096).split()[1].decode()
    if status != "200" or name is None:
        return status
    with blind.wrap_socket(raw, server_hostname=name) as wrapped:
        return wrapped.version()

def direct(address):
    socket.create_connection((address, 443), timeout=4).close()
    return "reached"

def said(what):
    how, *arguments = what
    try:
        return globals()[how](*arguments)
    except (OSError, ssl.SSLError) as error:
        text = str(error)
        return "403" if "403" in text else "refused"

print("\\n".join(f"{key}: {said(what)}" for key, what in sorted(json.loads(sys.argv[1]).items())))
"""


@pytest.fixture(scope="module", autouse=True)
def listeners(tmp_path_factory):
    with outside(tmp_path_factory.mktemp("outside")):
        yield


@pytest.fixture(scope="module")
def named(kube):
    """Names that the cluster's DNS has for addresses outside: name → host."""
    places = {"allowed": PUBLIC, "other": PUBLIC, "inside": PRIVATE, "moving": PUBLIC}
    for name, address in places.items():
        point(kube, name, address)
    domain = f"{kube.namespace}.svc.cluster.local"
    return {name: f"{name}.{domain}" for name in places}


def point(kube, name, address):
    """Let a name lead to an address."""
    kube.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"clusterIP": "None", "ports": [{"name": "https", "port": 443}]},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "port": 443}],
        },
    )


def a_run(hosts, tries, expected):
    text = "\n".join(f"{key}: {expected[key]}" for key in sorted(expected))
    spec = a_command_run(
        f"python3 tries.py '{json.dumps(tries)}' > said.txt",
        {"type": "run_command", "command": "cat said.txt", "expectedStdout": text},
        workspace={"files": [{"path": "tries.py", "content": SCRIPT}]},
    )
    return {**spec, "sandbox": {**SMALL, "egress": {"mode": "AllowList", "hosts": hosts}}}


def passed(kube, name):
    kube.finished(name)
    (trial,) = kube.trials(name)
    assert trial["status"]["outcome"] == "Passed", trial["status"]
    return trial


def test_exactly_the_named_hosts_are_let_through(kube, system, named):
    allowed, other, inside = named["allowed"], named["other"], named["inside"]
    api = "kubernetes.default.svc.cluster.local"
    tries = {
        "listed": ["fetch", f"https://{allowed}/"],
        "listed-port": ["fetch", f"https://{allowed}:8443/"],
        "another-host": ["fetch", f"https://{other}/"],
        "another-port": ["fetch", f"https://{allowed}:9443/"],
        "private": ["fetch", f"https://{inside}/"],
        "api-server": ["fetch", f"https://{api}/"],
        "honest": ["connect", f"{allowed}:443", allowed],
        "lies-about-its-name": ["connect", f"{allowed}:443", other],
        "no-pass": ["connect", f"{allowed}:443", None, None],
        "address": ["connect", f"{PUBLIC}:443"],
        "past-the-proxy": ["direct", PUBLIC],
    }
    expected = {
        "listed": ANSWER,
        "listed-port": ANSWER,
        "another-host": "403",
        "another-port": "403",
        "private": "403",
        "api-server": "403",
        "honest": "TLSv1.3",
        "lies-about-its-name": "refused",
        "no-pass": "407",
        "address": "403",
        "past-the-proxy": "refused",
    }
    kube.run("listed", a_run([allowed, f"{allowed}:8443", inside, api], tries, expected))
    trial = passed(kube, "listed")
    log = system("logs", "deployment/proctor-egress")
    lines = [json.loads(line) for line in log.splitlines()]
    refused = [one for one in lines if one["message"].startswith("refused")]
    mine = [one for one in refused if one.get("trial_uid") == trial["metadata"]["uid"]]
    assert {one["host"] for one in mine} >= {other, allowed, inside, api}


def test_a_name_that_moves_inside_is_refused_from_then_on(kube, named):
    moving = named["moving"]
    tries = {"it": ["fetch", f"https://{moving}/"]}
    kube.run("before", a_run([moving], tries, {"it": ANSWER}))
    passed(kube, "before")
    point(kube, "moving", PRIVATE)
    threading.Event().wait(8)  # answers of the cluster's DNS hold for 5 s
    kube.run("after", a_run([moving], tries, {"it": "403"}))
    passed(kube, "after")


def test_checks_reach_the_named_hosts_too(kube, named):
    """What preRun fetches before the agent it fetches again before the checks."""
    allowed = named["allowed"]
    command = (
        f"python3 /workspace/tries.py '{json.dumps({'it': ['fetch', f'https://{allowed}/']})}'"
    )
    spec = a_run([allowed], {"it": ["fetch", f"https://{allowed}/"]}, {"it": ANSWER})
    (task,) = spec["tasks"]
    task["criteria"].append(
        {"type": "run_command", "command": command, "expectedStdout": f"it: {ANSWER}"}
    )
    kube.run("checked", spec)
    passed(kube, "checked")


def test_no_way_to_write_an_address_leads_inside(kube, system, named, record_property):
    """The host that it may reach is reached by the same words."""
    node = system.list("nodes")[0]["status"]["addresses"][0]["address"]
    api = Kubectl("default").get("service", "kubernetes")["spec"]["clusterIP"]
    places = {"listed": named["allowed"], "private-name": named["inside"], "private": PRIVATE,
              "node": node, "api": api}  # fmt: skip
    words = {
        "LISTED": named["allowed"],
        "PRIVATE_NAME": named["inside"],
        "PLACES": json.dumps(places),
    }
    agents = of_cluster("attacks", "proxy")

    ended = run_on_cluster(kube, "inside", agents, uuid.uuid4().hex, words)

    record_property(LINES, lines(agents, ended))
    assert wrongs(agents, ended) == {}
