"""`proctor push`: a folder of tasks runs on the cluster with the verdicts of the laptop."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from cluster.conftest import SYSTEM, a_namespace
from cluster.killing import kill_component
from cluster.kube import SMALL

AGENT = "echo forty-two > answer.txt"
TASK = """
task_id: {name}
initial_prompt: Write the answer.
sandbox:
  template_sources: [{{type: template_dir, path: template}}]
reference: {{directory: hidden/{name}}}
success_criteria:
  - type: run_command
    description: it is the hidden answer
    command: 'diff "$REFERENCE_DIR/{name}-expected.txt" answer.txt && cat start.txt'
    expected_stdout: begin
"""
ANSWERS = {"right": "forty-two", "wrong": "forty-three", "also-right": "forty-two"}
VERDICTS = {"right": "Passed", "wrong": "Failed", "also-right": "Passed"}
UNKNOWN = f"sha256:{'0' * 64}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    (folder / "template").mkdir()
    (folder / "template" / "start.txt").write_text("begin\n")
    for name, answer in ANSWERS.items():
        (folder / f"{name}.yaml").write_text(TASK.format(name=name))
        (folder / "hidden" / name).mkdir(parents=True)
        (folder / "hidden" / name / f"{name}-expected.txt").write_text(f"{answer}\n")
    return folder


@pytest.fixture(scope="module")
def person(kube, system, tmp_path_factory):
    """A kubeconfig of somebody who may edit the namespace and go through the server's proxy."""
    kube("create", "serviceaccount", "person")
    account = f"--serviceaccount={kube.namespace}:person"
    kube("create", "rolebinding", "person", "--clusterrole=edit", account)
    binding = f"person-{kube.namespace}"
    system("create", "rolebinding", binding, "--role=proctor-results-proxy", account)
    for name in ("proctor-writer", "proctor-reader"):
        kube("create", "serviceaccount", name)
    kube("create", "role", "proctor-writer", "--verb=create", "--resource=evalruns.proctor.dev")
    for name, role in (("writer", "--role=proctor-writer"), ("reader", "--clusterrole=view")):
        kube("create", "rolebinding", f"proctor-{name}", role,
             f"--serviceaccount={kube.namespace}:proctor-{name}")  # fmt: skip
    config = yaml.safe_load(kube("config", "view", "--raw", "--minify", "--flatten"))
    token = kube("create", "token", "person").strip()
    config["users"][0]["user"] = {"token": token}
    path = tmp_path_factory.mktemp("person") / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    yield path
    system("delete", "rolebinding", binding)


@pytest.fixture(scope="module")
def proctor(person):
    def proctor(*arguments, code=0):
        result = subprocess.run(
            [Path(sys.executable).with_name("proctor"), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=180,
            env={**os.environ, "KUBECONFIG": str(person)},
            check=False,
        )
        assert result.returncode == code, (result.stdout, result.stderr)
        return result.stdout if code == 0 else result.stderr

    return proctor


@pytest.fixture(scope="module")
def digest(kube, proctor, folder):
    return json.loads(proctor("push", folder, "-n", kube.namespace, "--json"))["digest"]


def a_run(digest, **more):
    return {
        "agent": {"type": "command", "options": {"command": AGENT}},
        "tasksFrom": [{"bundle": {"digest": digest}}],
        "limits": {"taskTimeoutSeconds": 60, "gradeTimeoutSeconds": 60},
        "sandbox": SMALL,
        **more,
    }


def accepted(run):
    found = [one for one in run["status"]["conditions"] if one["type"] == "Accepted"]
    return found[0]["status"], found[0]["reason"], found[0]["message"]


@pytest.fixture(scope="module")
def finished(kube, digest):
    kube.run("pushed", a_run(digest))
    return kube.finished("pushed")


def test_a_pushed_folder_has_the_verdicts_of_the_laptop(kube, finished, folder, proctor, tmp_path):
    ours = {one["spec"]["task"]: one["status"]["outcome"] for one in kube.trials("pushed")}
    option = f"agent.options.command={AGENT}"
    out = tmp_path / "out"
    proctor("run", folder, "-q", "-o", out, "--agent", "command", "--set", option, code=1)
    local = json.loads((out / "run.json").read_text())["trials"]
    assert ours == {one["task"]: one["outcome"] for one in local} == VERDICTS
    assert accepted(finished)[:2] == ("True", "Resolved")


def test_what_is_printed_can_be_pasted(kube, digest, folder, proctor):
    said = proctor("push", folder, "-n", kube.namespace)
    first, _, lines = said.partition("\n")
    assert first == digest
    assert yaml.safe_load(lines) == {"tasksFrom": [{"bundle": {"digest": digest}}]}


def test_hidden_files_stand_in_no_object_that_the_agent_sees(kube, finished):
    found = kube.list("configmaps", "--selector=proctor.dev/run=pushed")
    shown = [json.dumps(one) for one in found if "-agent-" in one["metadata"]["name"]]
    hidden = [json.dumps(one) for one in found if "-hidden-" in one["metadata"]["name"]]
    assert shown
    assert not any("-expected.txt" in text for text in shown)
    for name in ANSWERS:
        assert any(f"{name}-expected.txt" in text for text in hidden)


def test_who_may_only_read_runs_pushes_nothing(kube, folder, proctor):
    said = proctor("push", folder, "-n", kube.namespace, "--service-account", "proctor-reader",
                   code=2)  # fmt: skip
    assert "may not create evalruns" in said


def test_nobody_reads_a_bundle_back_through_the_proxy(kube, digest, person):
    """The token of whoever pushed it is refused; the server answers the operator alone."""
    token = kube("create", "token", "proctor-writer", "--audience=proctor-results").strip()
    sha256 = digest.removeprefix("sha256:")
    path = f"/proctor/v1/namespaces/{kube.namespace}/bundles/{sha256}"
    script = (
        "import json, sys, urllib.request, urllib.error\n"
        "request = urllib.request.Request(sys.argv[1], headers={'X-Proctor-Token': sys.argv[2]})\n"
        "try: print(urllib.request.urlopen(request).status)\n"
        "except urllib.error.HTTPError as error: print(error.code, error.read().decode())\n"
    )
    from_system = kube.attempt(
        "--namespace", SYSTEM, "exec", "proctor-results-0", "--", "/venv/bin/python", "-c", script,
        f"http://127.0.0.1:8081{path}", token,
    )  # fmt: skip
    assert from_system.stdout.startswith("403"), (from_system.stdout, from_system.stderr)
    assert "is not the operator" in from_system.stdout


def test_a_bad_task_is_refused_before_anything_is_sent(kube, folder, proctor, tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text(TASK.format(name="bad").replace("run_command", "guessed"))
    assert "success_criteria[0].type" in proctor("push", bad, "-n", kube.namespace, code=2)


def test_a_bundle_of_another_namespace_is_not_found(system, digest):
    with a_namespace("restricted") as other:
        other.run("foreign", a_run(digest))
        status, reason, message = accepted(other.finished("foreign", timeout=60))
        assert (status, reason) == ("False", "SpecInvalid")
        assert (
            f"push it again in this namespace: proctor push FOLDER -n {other.namespace}" in message
        )


def test_a_bundle_that_was_never_pushed_is_not_found(kube):
    kube.run("unknown", a_run(UNKNOWN))
    assert accepted(kube.finished("unknown", timeout=60))[:2] == ("False", "SpecInvalid")


def test_the_api_server_refuses_a_run_without_tasks_and_a_digest_that_is_none(kube):
    spec = a_run("sha256:short")
    body = {"apiVersion": "proctor.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": "bad"}}
    without = {key: value for key, value in spec.items() if key != "tasksFrom"}
    for one, words in ((spec, "tasksFrom[0].bundle.digest"), (without, "a run needs tasks")):
        refused = kube.attempt("apply", "--filename=-", stdin=yaml.safe_dump({**body, "spec": one}))
        assert (refused.returncode, words in refused.stderr) == (1, True), refused.stderr


def test_without_a_cluster_the_folder_itself_is_asked_for(digest, proctor, tmp_path):
    path = tmp_path / "run.yaml"
    body = {"apiVersion": "proctor.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": "here"}}
    path.write_text(yaml.safe_dump({**body, "spec": a_run(digest)}))
    assert "give the folder itself" in proctor("run", path, code=2)


@contextmanager
def nobody_reaches_results(system):
    """The server's Service leads nowhere."""
    for_nobody, for_all = ({"spec": {"selector": {"offline": value}}} for value in ("yes", None))
    service = ("patch", "service", "proctor-results", "--type=merge")
    system(*service, f"--patch={json.dumps(for_nobody)}")
    try:
        yield
    finally:
        system(*service, f"--patch={json.dumps(for_all)}")


@pytest.mark.alone
def test_a_run_waits_for_a_results_server_that_was_killed_and_heals(
    kube, system, digest, busybox_image
):
    with nobody_reaches_results(system):
        kill_component(system, busybox_image, "results", 100)
        kube.run("waiting", a_run(digest))
        kube("wait", "evalrun/waiting", "--timeout=90s",
             "--for=jsonpath={.status.conditions[?(@.type==\"Accepted\")].status}=Unknown",
             )  # fmt: skip
        _, reason, message = accepted(kube.get("evalrun", "waiting"))
        assert reason == "SourceUnavailable"
        assert "the results server" in message
        assert kube.trials("waiting") == []
    kube.finished("waiting")
    outcomes = {one["spec"]["task"]: one["status"]["outcome"] for one in kube.trials("waiting")}
    assert outcomes == VERDICTS


@pytest.mark.alone
def test_a_restarted_operator_goes_on_with_the_same_trials(kube, system, digest):
    kube.run("restarted", a_run(digest, parallelism=1))
    kube("wait", "evalrun/restarted", "--for=jsonpath={.status.trials.running}=1",
         "--timeout=120s")  # fmt: skip
    system("delete", "pod", "--selector=app.kubernetes.io/component=operator")
    kube.finished("restarted", timeout=300)
    trials = kube.trials("restarted")
    assert {one["spec"]["task"]: one["status"]["outcome"] for one in trials} == VERDICTS
    assert [one["spec"]["attempt"] for one in trials] == [1, 1, 1]


@pytest.mark.alone
def test_an_operator_that_cannot_read_a_bundle_again_takes_verdicts_and_obeys_cancelled(
    kube, system, digest, busybox_image
):
    agent = {"type": "command", "options": {"command": f"sleep 20; {AGENT}"}}
    kube.run("cut-off", a_run(digest, parallelism=1) | {"agent": agent})
    kube("wait", "evalrun/cut-off", "--for=jsonpath={.status.trials.running}=1",
         "--timeout=120s")  # fmt: skip
    with nobody_reaches_results(system):
        kill_component(system, busybox_image, "results", 101)
        system("delete", "pod", "--selector=app.kubernetes.io/component=operator")
        kube("wait", "evalrun/cut-off", "--timeout=120s",
             "--for=jsonpath={.status.conditions[?(@.type==\"Accepted\")].status}=Unknown",
             )  # fmt: skip
        (trial,) = kube.trials("cut-off")
        kube("wait", f"evaltrial/{trial['metadata']['name']}", "--timeout=240s",
             "--for=jsonpath={.status.outcome}")  # fmt: skip
        assert accepted(kube.get("evalrun", "cut-off"))[1] == "SourceUnavailable"
        kube("patch", "evalrun", "cut-off", "--type=merge", '--patch={"spec":{"cancelled":true}}')
        run = kube.finished("cut-off", timeout=60)
    (trial,) = kube.trials("cut-off")
    assert trial["status"]["outcome"] == VERDICTS[trial["spec"]["task"]]
    assert run["status"]["state"] == "Cancelled"
    counts = run["status"]["trials"]
    assert (counts["total"], counts["passed"] + counts["failed"], counts["cancelled"]) == (3, 1, 2)
    assert accepted(run)[:2] == ("True", "Resolved")
