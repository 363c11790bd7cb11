"""Containers that run as what their image says: rights, and what is left on this machine."""

import json
import os

import pytest

from podman import BUSYBOX
from proctor.local.files import remove_tree

MADE = {"type": "file_exists", "path": "made.txt"}


def trial_as(proctor, image, command, criteria, **sandbox):
    more = {"image": image, "user": "Image", **sandbox}
    return proctor.trial(proctor.manifest(command, criteria, sandbox=more), "--allow-image-user")


def says(pattern):
    return {"type": "file_matches_regex", "path": "made.txt", "pattern": pattern}


def status(proctor):
    return (proctor.work / "frozen/workspace/made.txt").read_text()


RIGHTS = """
    id -u > made.txt
    grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp:' /proc/self/status >> made.txt
"""


def test_without_the_flag_it_is_refused_as_bad_input(proctor, roots):
    manifest = proctor.manifest("true", [MADE], sandbox={"image": roots, "user": "Image"})
    done = proctor.run(manifest)
    assert done.returncode == 2
    assert "--allow-image-user" in done.stderr


def test_root_of_an_image_has_the_rights_of_docs_and_no_others(proctor, roots):
    # CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, FSETID 4, KILL 5, SETGID 6, SETUID 7
    rights = r"^0\nCapPrm:\s0+fb\nCapEff:\s0+fb\nCapBnd:\s0+fb\nNoNewPrivs:\s1\nSeccomp:\s2\n$"
    trial = trial_as(proctor, roots, RIGHTS, [says(rights)])
    assert trial["outcome"] == "Passed", status(proctor)
    (record,) = (proctor.folder / "out").glob("trials/*/*/*/record/execution.json")
    assert json.loads(record.read_text())["context"]["user"] == "Image"


def test_another_user_of_an_image_has_none_and_shares_the_folders_by_their_group(proctor):
    rights = r"^1\nCapPrm:\s0+\nCapEff:\s0+\nCapBnd:\s0+\nNoNewPrivs:\s1\nSeccomp:\s2\n$"
    check = {"type": "run_command", "command": 'test "$(id -u)" = 1 && touch x && grep 1 made.txt'}
    trial = trial_as(proctor, BUSYBOX, RIGHTS, [says(rights), check])
    assert trial["outcome"] == "Passed", status(proctor)


def test_root_of_an_image_cannot_change_its_runner(proctor, roots):
    command = """
        rm -rf /proctor/* /proctor-orders/agent/* 2> /dev/null
        mount -o remount,rw /proctor || echo no > made.txt
        test -x /proctor/bin/python3 && echo there >> made.txt
    """
    trial = trial_as(proctor, roots, command, [says("no\nthere")])
    assert trial["outcome"] == "Passed", trial


@pytest.mark.parametrize("checks", ["Separate", "InPlace"])
def test_what_root_left_is_read_frozen_and_removed(proctor, roots, checks):
    command = """
        umask 077; mkdir -p own/deep; echo found > own/deep/file; chown -R 1234:1234 own
        chmod 0 own/deep own; ln -s /etc/passwd link; echo done > made.txt; chmod 0 made.txt
    """
    criteria = [
        {"type": "file_contains", "path": "own/deep/file", "includes": ["found"]},
        {"type": "run_command", "command": "cat own/deep/file made.txt"},
        MADE,
    ]
    trial = trial_as(proctor, roots, command, criteria, checks=checks)
    assert (trial["outcome"], trial["score"]) == ("Passed", "1"), trial
    assert os.stat(proctor.folder / "out").st_mode & 0o077 == 0
    remove_tree(proctor.folder / "out")
    assert not (proctor.folder / "out").exists()


def test_a_trial_whose_folder_root_has_used_is_run_again(proctor, roots):
    command = "mkdir own; chown 1234:1234 own; chmod 0 own; touch made.txt"
    check = {"type": "run_command", "command": "test -e /nothing"}
    manifest = proctor.manifest(command, [check], sandbox={"image": roots, "user": "Image"})
    out = proctor.folder / "out"
    first = proctor.run(manifest, "--allow-image-user", "-o", out)
    assert first.returncode == 1, first.stderr
    (verdict,) = out.glob("trials/*/*/*/trial.json")
    verdict.unlink()

    again = proctor.run("--resume", out, "--allow-image-user")
    assert again.returncode == 1, again.stderr
    refused = proctor.run("--resume", out)
    assert refused.returncode == 2
    assert "--allow-image-user" in refused.stderr
