from pathlib import Path

import pytest

from cluster.harness import binaries
from cluster.harness.binaries import BinarySet, find_binaries, missing_sets, put_in_place
from cluster.harness.errors import HarnessError


@pytest.fixture
def module(tmp_path):
    """A Go module that is called ``tool``."""
    module = tmp_path / "go" / "tool"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module tool\n")
    return module


def a_set(module, **changes):
    return BinarySet(
        module.name, **{"packages": {"tool": "."}, "modules": module.parent, **changes}
    )


def test_the_same_source_has_the_same_folder(module):
    assert binaries.set_folder(a_set(module), Path("/c")) == binaries.set_folder(
        a_set(module), Path("/c")
    )


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"packages": {"tool": "./cmd"}}, id="package"),
        pytest.param({"variables": {"main.version": "2"}}, id="linker-variable"),
    ],
)
def test_another_way_to_build_has_another_folder(module, change):
    assert binaries.set_folder(a_set(module, **change), Path("/c")) != binaries.set_folder(
        a_set(module), Path("/c")
    )


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_a_changed_source_file_has_another_folder(module, file):
    before = binaries.set_folder(a_set(module), Path("/c"))
    (module / file).write_text("changed")
    assert binaries.set_folder(a_set(module), Path("/c")) != before


def test_other_files_of_the_module_do_not_matter(module):
    before = binaries.set_folder(a_set(module), Path("/c"))
    (module / "README.md").write_text("words")
    assert binaries.set_folder(a_set(module), Path("/c")) == before


def test_only_what_is_not_in_the_cache_is_missing(module, tmp_path):
    assert missing_sets([a_set(module)], tmp_path) == [a_set(module)]
    binaries.set_folder(a_set(module), tmp_path).mkdir()
    assert missing_sets([a_set(module)], tmp_path) == []


def test_asking_for_what_is_not_built_names_it_and_the_remedy(module, tmp_path):
    with pytest.raises(HarnessError, match=r"not built yet: tool .*run `build`"):
        find_binaries([a_set(module)], tmp_path)


def test_binaries_are_found_by_their_name(module, tmp_path):
    folder = binaries.set_folder(a_set(module), tmp_path)
    folder.mkdir()
    assert find_binaries([a_set(module)], tmp_path) == {"tool": folder / "tool"}


def test_a_folder_that_somebody_else_put_in_place_first_stays(tmp_path):
    for name in ("made", "final"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").write_text(name)
    put_in_place(tmp_path / "made", tmp_path / "final")
    assert (tmp_path / "final" / "tool").read_text() == "final"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("required", binaries.REQUIRED, ids=lambda each: each.name)
def test_each_required_set_has_a_go_module(required):
    assert (required.module / "go.mod").exists()
