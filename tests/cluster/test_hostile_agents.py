"""An agent is hostile code; forged verdicts gain nothing."""

import json

from cluster.kube import a_command_run

UNREACHED = {"type": "file_contains", "path": "answer.txt", "includes": ["forty-two"]}


def outcome(kube, name, spec):
    kube.run(name, spec)
    kube.finished(name)
    (trial,) = kube.trials(name)
    return trial["status"]


def test_a_forged_termination_message_and_verdict_files_gain_nothing(kube):
    forged = json.dumps({"v": 1, "o": "Passed", "s": "1", "c": ["1"], "p": "1"})
    command = (
        f"for f in /dev/termination-log verdict.json /evidence/agent/checks.json "
        f"/evidence/checks/checks.json /tmp/verdict; do echo '{forged}' > $f; done; "
        f"echo PASSED; echo '{forged}'; exit 0"
    )
    status = outcome(kube, "forged", a_command_run(command, UNREACHED))
    assert (status["outcome"], status["score"]) == ("Failed", "0")


def test_a_forged_agent_report_does_not_turn_a_failure_into_a_fault_of_ours(kube):
    command = "rm -f /evidence/agent/*; mkdir -p /evidence/agent/agent.json; kill -9 -1; exit 1"
    status = outcome(kube, "broken", a_command_run(command, UNREACHED))
    assert status["outcome"] in {"Failed", "AgentError"}
    assert status["score"] == "0"


def test_a_module_that_copies_the_hidden_answer_when_checks_runs_it_gains_nothing(kube):
    trojan = (
        "import glob, os, shutil\n"
        "for path in glob.glob(os.environ.get('REFERENCE_DIR', '/nowhere') + '/*'):\n"
        "    shutil.copy(path, 'answer.txt')\n"
    )
    spec = a_command_run(
        f'printf %s "{trojan}" > helper.py',
        {"type": "run_command", "command": "python3 -c 'import helper'", "weight": 0},
        UNREACHED,
        reference={"files": [{"path": "expected.txt", "content": "forty-two"}]},
    )
    status = outcome(kube, "trojan", spec)
    assert (status["outcome"], status["score"]) == ("Failed", "0")


def test_hidden_files_are_nowhere_while_the_agent_runs(kube):
    command = (
        "grep -rs forty-two / --include='*' --exclude-dir=proc --exclude-dir=sys > found.txt; "
        "env | grep -c REFERENCE >> found.txt; "
        "ls -R /proctor-orders /evidence /frozen > seen.txt; true"
    )
    spec = a_command_run(
        command.replace("forty-two", "hidden-needle"),
        {"type": "file_contains", "path": "found.txt", "includes": ["expected-needle.txt"]},
        reference={"files": [{"path": "expected-needle.txt", "content": "hidden-needle"}]},
    )
    status = outcome(kube, "search", spec)
    assert (status["outcome"], status["score"]) == ("Failed", "0")


def test_the_agent_has_no_token_for_the_api_server_or_the_judge(kube):
    spec = a_command_run(
        "find / -path /proc -prune -o -name token -type f -print 2>/dev/null > tokens.txt; true",
        {"type": "run_command", "command": "! grep -e serviceaccount -e judge tokens.txt"},
    )
    status = outcome(kube, "tokens", spec)
    assert status["outcome"] == "Passed", status
