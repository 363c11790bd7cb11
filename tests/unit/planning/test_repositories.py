"""`workspace.git`: what names a commit, and what does not."""

from dataclasses import replace

import pytest

from builders_planning import KINDS, a_plan, a_source, a_task, priced, problems_of
from proctor.api.egress import EgressMode
from proctor.api.errors import SpecError
from proctor.planning.plan import plan_run
from proctor.planning.repositories import host_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = {"url": "https://git.test/acme/shop.git", "commit": COMMIT}


def with_git(**changes):
    return {"tasks": [a_task(workspace={"git": {**GIT, **changes}})]}


def the_cell(**fields):
    (cell,) = a_plan(**fields).cells.values()
    return cell


def refused(**fields):
    return [(one.field, one.message, one.remedy) for one in problems_of(**fields)]


def test_a_commit_is_named_in_the_record_with_the_layer_that_it_came_from():
    cell = the_cell(**with_git(path="web"))
    assert cell.fetches
    grade = cell.orders.grade
    assert grade.context["git"] == f"https://git.test/acme/shop.git {COMMIT} web"
    assert grade.lineage["workspace.git"] == "task"


def test_a_variant_starts_from_another_commit():
    other = {**GIT, "commit": "f" * 40}
    variants = [{"name": "base"}, {"name": "next", "workspace": {"git": other}}]
    cells = a_plan(variants=variants, **with_git()).cells
    assert cells["hello", "base"].git.commit == COMMIT
    assert cells["hello", "next"].git.commit == "f" * 40
    assert cells["hello", "next"].orders.grade.lineage["workspace.git"] == "variant:next"


def test_a_trial_without_a_repository_fetches_nothing():
    cell = the_cell()
    assert not cell.fetches
    assert "git" not in cell.orders.grade.context


@pytest.mark.parametrize(
    "commit",
    [
        pytest.param("main", id="branch"),
        pytest.param("v1.2", id="tag"),
        pytest.param(COMMIT[:12], id="short"),
        pytest.param(COMMIT.upper(), id="upper-case"),
        pytest.param("a" * 64, id="sha-256"),
        pytest.param(f"{COMMIT[:-1]}\n", id="newline"),
    ],
)
def test_what_is_no_full_id_is_refused_with_how_to_find_it(commit):
    ((field, message, remedy),) = refused(**with_git(commit=commit))
    assert field == "spec.tasks[0].workspace.git.commit"
    assert repr(commit) in message
    assert "git ls-remote" in remedy


@pytest.mark.parametrize(
    ("url", "said"),
    [
        pytest.param("http://git.test/a", "not read by https", id="http"),
        pytest.param("git://git.test/a", "not read by https", id="git"),
        pytest.param("ssh://git.test/a", "not read by https", id="ssh"),
        pytest.param("file:///etc", "not read by https", id="file"),
        pytest.param("git@git.test:acme/shop.git", "user name or password", id="scp"),
        pytest.param("https://git.test", "not the URL of a repository", id="no-path"),
        pytest.param("https://git.test/a?b=c", "not the URL of a repository", id="query"),
        pytest.param("https://git.test/a#b", "not the URL of a repository", id="fragment"),
        pytest.param("https://10.0.0.1/a", "not the URL of a repository", id="address"),
        pytest.param("https://[::1]/a", "not the URL of a repository", id="ipv6"),
        pytest.param("https://localhost/a", "not the URL of a repository", id="no-full-name"),
        pytest.param("https://Git.test/a", "not the URL of a repository", id="upper-case"),
        pytest.param("https://git.test:99999/a", "not the URL of a repository", id="port"),
        pytest.param("https://git.test/a b", "not the URL of a repository", id="space"),
        pytest.param("https://git.test/$(x)", "not the URL of a repository", id="dollar"),
    ],
)
def test_other_urls_are_refused(url, said):
    ((field, message, _),) = refused(**with_git(url=url))
    assert field == "spec.tasks[0].workspace.git.url"
    assert said in message


def test_a_password_in_the_url_is_refused_and_not_repeated():
    ((_, message, remedy),) = refused(**with_git(url="https://me:open-sesame@git.test/a"))
    assert "open-sesame" not in message
    assert "secretRef" in remedy


@pytest.mark.parametrize("path", ["../etc", "a/../../b", ".git", "a/.GIT/hooks"])
def test_a_folder_that_leads_elsewhere_is_refused(path):
    ((field, _, _),) = refused(**with_git(path=path))
    assert field == "spec.tasks[0].workspace.git.path"


def test_a_workspace_has_one_beginning():
    both = {"git": GIT, "image": {"path": "/testbed"}}
    task = a_task(workspace=both, sandbox={"image": "acme/swe:1"})
    ((field, message, _),) = refused(tasks=[task])
    assert field == "spec.tasks[0].workspace.git"
    assert "/testbed" in message


def test_a_cluster_without_an_egress_proxy_names_the_value_that_installs_it():
    source = replace(
        a_source(**with_git()), egress_modes=frozenset(EgressMode) - {EgressMode.ALLOW_LIST}
    )
    with pytest.raises(SpecError) as error:
        plan_run(source, KINDS, priced)
    (problem,) = error.value.problems
    assert problem.field == "spec.tasks[0].workspace.git"
    assert "egressProxy.enabled" in problem.remedy


@pytest.mark.parametrize(
    ("url", "host"),
    [
        pytest.param("https://git.test/a", "git.test", id="no-port"),
        pytest.param("https://git.test:443/a", "git.test", id="443"),
        pytest.param("https://git.test:8443/a", "git.test:8443", id="other"),
    ],
)
def test_a_pass_is_for_the_host_of_the_url(url, host):
    assert host_of(the_cell(**with_git(url=url)).git) == host
