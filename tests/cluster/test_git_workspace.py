"""`workspace.git`: a repository outside, fetched by `stage` and by nobody else of the pod."""

import subprocess
import sys
from pathlib import Path

import pytest

import git_server
from cluster.conftest import enforces_policies, has_outside
from cluster.kube import SMALL, KubectlError, a_command_run, the_trial
from cluster.outside import PUBLIC, outside

pytestmark = pytest.mark.skipif(
    not (enforces_policies() and has_outside()),
    reason="the cluster enforces no NetworkPolicies, or is somebody's own",
)
PORT = 10443
SECRET = "shop-reader"
LOOK = """
import os, socket, sys

LEFT_OUT = ("/dev", "/proc", "/sys", "/usr")  # devices block; /usr is the image's alone

def walk(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [one for one in folders if os.path.join(folder, one) not in LEFT_OUT]
        yield from (os.path.join(folder, one) for one in files)

def processes():
    pids = [one for one in os.listdir("/proc") if one.isdigit()]
    return [f"/proc/{pid}/{what}" for pid in pids for what in ("environ", "cmdline")]

def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""

PASS = b"eyJ0cmlhbCI6" + b"I"  # how the passes of the egress proxy begin
PASSWORD = sys.argv[2].encode() + b"-4711"
passes, passwords = [], []
for path in (*walk("/"), *processes()):
    data = read(path)
    passes += [path] if PASS in data else []
    passwords += [path] if PASSWORD in data else []
print("passes:", passes)
print("passwords:", passwords)

def connect(*fields):
    (proxy,) = [line.split()[0] for line in open("/etc/hosts") if "proctor-egress" in line]
    with socket.create_connection((proxy, 3128), timeout=10) as raw:
        head = [f"CONNECT {sys.argv[1]} HTTP/1.1", *fields, "", ""]
        raw.sendall("\\r\\n".join(head).encode())
        return raw.recv(4096).split()[1].decode()

print("no pass:", connect())
print("made up:", connect("Proxy-Authorization: Basic cHJvY3RvcjplLmU="))
try:
    socket.create_connection((sys.argv[3], 443), timeout=4).close()
    print("directly: reached")
except OSError:
    print("directly: refused")
"""
SEEN = "passes: []\npasswords: []\nno pass: 407\nmade up: 407\ndirectly: refused"


@pytest.fixture(scope="module")
def shop(kube, baseline, tmp_path_factory):
    """URL of a server outside that asks for a password, and the commit in its repository."""
    folder = tmp_path_factory.mktemp("git")
    files = {"app.py": "print(1)\n", "web/page.html": "<p>\n"}
    commit = git_server.a_repository(folder / "served" / "shop", files)
    host = f"git.{kube.namespace}.svc.cluster.local"
    pair = git_server.certificate(folder, host)
    kube.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "git"},
            "spec": {"clusterIP": "None", "ports": [{"name": "https", "port": PORT}]},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "git", "labels": {"kubernetes.io/service-name": "git"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [PUBLIC], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "port": PORT}],
        },
    )
    given = {"username": git_server.USERNAME, "password": git_server.PASSWORD}
    for kubectl in (kube, baseline):
        a_secret(kubectl, SECRET, pair[0], **given)
    a_secret(kube, "wrong", pair[0], **{**given, "password": "wrong-and-long"})
    with outside(folder) as pid, listening(pid, folder / "served", pair):
        yield f"https://{host}:{PORT}/closed/shop", commit


def a_secret(kubectl, name, authorities, **data):
    data["ca.crt"] = authorities.read_text()
    kubectl.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}
    )


class listening:  # noqa: N801 - used as a function
    """The git server in the network of a process."""

    def __init__(self, pid, root, pair):
        command = ["nsenter", f"--net=/proc/{pid}/ns/net", "--", sys.executable]
        self._command = [*command, Path(git_server.__file__), root, *pair, str(PORT)]

    def __enter__(self):
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdout.readline() == "listening\n"

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


def a_run(shop, command, *criteria, secret=SECRET, **changes):
    url, commit = shop
    git = {"url": url, "commit": commit, "secretRef": {"name": secret}, **changes}
    files = [{"path": "look.py", "content": LOOK}]
    return a_command_run(command, *criteria, workspace={"git": git, "files": files})


EDIT = (
    "git log --format=%H > seen && echo 'print(2)' > app.py && git diff --stat >> seen "
    "&& git add app.py && git commit -qm 'Print 2'"
)


def works_in(commit):
    """What holds when an agent could work in the repository."""
    return (
        {"type": "run_command", "command": "python3 app.py", "expectedStdout": "2"},
        {"type": "file_contains", "path": "seen", "includes": [commit, "1 insertion(+)"]},
        {
            "type": "run_command",
            "command": "git fsck --no-dangling && git log --format=%s",
            "expectedStdout": "Print 2\nChange things",
        },
    )


def test_an_agent_works_in_the_repository(kube, shop):
    status = the_trial(kube, "edits", a_run(shop, EDIT, *works_in(shop[1])))
    assert status["outcome"] == "Passed", status


def test_root_works_in_the_repository_too(baseline, shop):
    spec = a_run(shop, EDIT, *works_in(shop[1]))
    spec["sandbox"] = {**SMALL, "user": "Image"}
    status = the_trial(baseline, "edits", spec)
    assert status["outcome"] == "Passed", status


def test_a_folder_of_it_is_the_workspace(kube, shop):
    check = {"type": "run_command", "command": "ls -A", "expectedStdout": "look.py\npage.html"}
    status = the_trial(kube, "folder", a_run(shop, "true", check, path="web"))
    assert status["outcome"] == "Passed", status


def test_the_agent_finds_no_pass_and_the_proxy_lets_it_nowhere(kube, shop):
    """It looks through all files and processes, asks the proxy, and tries the way around it."""
    target = shop[0].split("/")[2]
    word = git_server.PASSWORD.removesuffix("-4711")
    command = f"python3 look.py {target} {word} {PUBLIC} > said.txt"
    check = {"type": "run_command", "command": "cat said.txt", "expectedStdout": SEEN}
    spec = {**a_run(shop, command, check), "limits": {"taskTimeoutSeconds": 300}}
    status = the_trial(kube, "looks", spec)
    assert status["outcome"] == "Passed", status


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        pytest.param("no-commit", {"commit": "0" * 39 + "1"}, "git ls-remote", id="commit"),
        pytest.param("wrong-secret", {"secret": "wrong"}, "401", id="password"),
        pytest.param("no-folder", {"path": "wep"}, "there is no folder 'wep'", id="folder"),
    ],
)
def test_what_the_server_refuses_ends_the_trial_at_once(kube, shop, name, changes, said):
    check = {"type": "file_exists", "path": "app.py"}
    status = the_trial(kube, name, a_run(shop, "true", check, **changes))
    assert status["outcome"] == "InfraFailed"
    (attempt,) = status["attempts"]
    assert (attempt["failureClass"], attempt["reason"]) == ("config", "GitRefused"), status
    assert said in status["reason"]
    assert f"of {shop[0]}" in status["reason"]
    assert "wrong-and-long" not in str(status)


def test_a_secret_that_is_not_there_is_named(kube, shop):
    check = {"type": "file_exists", "path": "app.py"}
    status = the_trial(kube, "no-secret", a_run(shop, "true", check, secret="nobody"))
    (attempt,) = status["attempts"]
    assert (attempt["failureClass"], attempt["reason"]) == ("config", "SecretMissing"), status
    assert "workspace.git.secretRef" in status["reason"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"commit": "main"}, "git ls-remote URL REF", id="branch"),
        pytest.param({"url": "http://git.test/a"}, "read by https", id="http"),
        pytest.param({"url": "https://me:secret@git.test/a"}, "secretRef", id="password"),
        pytest.param({"url": "https://10.0.0.1/a"}, "no address", id="address"),
        pytest.param({"path": "../etc"}, "out of the repository", id="way-up"),
    ],
)
def test_the_api_refuses_what_names_no_commit(kube, shop, changes, said):
    check = {"type": "file_exists", "path": "app.py"}
    with pytest.raises(KubectlError, match=said):
        kube.run("refused", a_run(shop, "true", check, **changes))
