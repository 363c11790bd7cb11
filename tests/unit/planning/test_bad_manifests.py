"""Every bad manifest is refused by planning with the field and remedy that its header says."""

from pathlib import Path

import pytest

from builders_planning import NO_FOLDER, headers
from proctor.api.errors import SpecError
from proctor.planning.manifest import read_manifest
from proctor.planning.plan import plan_run
from proctor.plugins.builtin import builtin_registry
from proctor.pricing import is_priced

DATA = Path(__file__).parents[2] / "data"
BAD = sorted((DATA / "bad").glob("*.yaml"))


def plan_all(path):
    manifest = read_manifest(path.read_text(), path.name, NO_FOLDER)
    return [plan_run(run, builtin_registry(), is_priced) for run in manifest.runs]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in BAD])
def test_a_bad_manifest_is_refused_with_field_and_remedy(path):
    expected = headers(path.read_text())
    with pytest.raises(SpecError) as caught:
        plan_all(path)
    found = [one for one in caught.value.problems if one.field == expected["field"]]
    assert any(expected["remedy"] in f"{one.message} {one.remedy}" for one in found)
    assert all(one.file == path.name and one.line for one in found)


def test_there_are_enough_of_them():
    assert len(BAD) >= 20


@pytest.mark.parametrize(
    "name", [pytest.param(p.name, id=p.stem) for p in (DATA / "good").glob("evalrun-*.yaml")]
)
def test_a_good_manifest_is_planned(name):
    (plan,) = plan_all(DATA / "good" / name)
    assert plan.trials
