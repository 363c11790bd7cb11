"""What each ServiceAccount may do, as the API server lists it."""

import re
from pathlib import Path

import pytest
import yaml

from cluster.charts import render

RIGHTS = yaml.safe_load((Path(__file__).parents[1] / "chart" / "rights.yaml").read_text())
EVERYBODY = "system:serviceaccount:proctor-system:nobody"
_LINE = re.compile(r"^(\S*) +\[(.*?)\] +\[(.*?)\] +\[(.*?)\]$")


def rights(kube, user):
    """``kubectl auth can-i --list`` as ``rights.yaml`` writes it."""
    listed = kube("auth", "can-i", "--list", f"--as={user}", "--as-group=system:authenticated")
    found: dict[str, set[str]] = {}
    for line in listed.splitlines()[1:]:
        resource, urls, names, verbs = _LINE.match(line).groups()
        what = resource or urls
        for name in names.split() or [""]:
            found.setdefault(f"{what}/{name}" if name else what, set()).update(verbs.split())
    return found


def beyond_everybody(kube, user):
    common = rights(kube, EVERYBODY)
    return {
        what: sorted(verbs)
        for what, verbs in rights(kube, user).items()
        if common.get(what) != verbs
    }


def expected(who):
    return {what: sorted(verbs) for what, verbs in RIGHTS[who].items()}


@pytest.mark.parametrize("who", ["operator", "gateway", "egress", "results"])
def test_a_process_may_do_exactly_what_is_listed(kube, who):
    user = f"system:serviceaccount:proctor-system:proctor-{who}"
    assert beyond_everybody(kube, user) == expected(who)


def test_the_account_of_trials_may_do_nothing(kube):
    user = f"system:serviceaccount:{kube.namespace}:proctor-trial"
    assert beyond_everybody(kube, user) == expected("trial") == {}


def test_the_uninstall_hook_may_do_exactly_what_is_listed(kube):
    roles = [
        one
        for one in render(release="other")
        if one["kind"] in ("ClusterRole", "ClusterRoleBinding")
        and one["metadata"]["name"].endswith("-uninstall")
    ]
    assert len(roles) == 2
    kube.apply(*roles)
    try:
        user = "system:serviceaccount:system:other-proctor-uninstall"
        assert beyond_everybody(kube, user) == expected("uninstall")
    finally:
        for one in roles:
            kube("delete", one["kind"], one["metadata"]["name"])


def test_no_account_of_ours_is_forgotten(system):
    accounts = system.list("serviceaccounts", "--selector=app.kubernetes.io/name=proctor")
    names = {one["metadata"]["name"].removeprefix("proctor-") for one in accounts}
    assert names == RIGHTS.keys() - {"uninstall", "trial"}


def test_list_reads_what_kubectl_prints():
    line = "pods.x/status                []    [/a b]   [get list]"
    assert _LINE.match(line).groups() == ("pods.x/status", "", "/a b", "get list")
