import pytest

from cluster.images.digest import TAG_LENGTH, image_tag, tree_digest
from cluster.images.errors import ImagesError


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    (tmp_path / "other").write_text("other")
    return tmp_path


def test_equal_content_has_an_equal_digest(tree):
    before = tree_digest(tree, ["src"])
    (tree / "src" / "a.py").write_text("a = 1\n")
    assert tree_digest(tree, ["src"]) == before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda src: (src / "a.py").write_text("a = 2\n"), id="content"),
        pytest.param(lambda src: (src / "a.py").rename(src / "b.py"), id="name"),
        pytest.param(lambda src: (src / "a.py").chmod(0o755), id="executable-bit"),
        pytest.param(lambda src: (src / "b.py").write_text(""), id="another-file"),
    ],
)
def test_a_change_below_a_path_changes_the_digest(tree, change):
    (tree / "src" / "a.py").chmod(0o644)
    before = tree_digest(tree, ["src"])
    change(tree / "src")
    assert tree_digest(tree, ["src"]) != before


def test_a_change_outside_of_the_paths_leaves_the_digest_alone(tree):
    before = tree_digest(tree, ["src"])
    (tree / "other").write_text("changed")
    assert tree_digest(tree, ["src"]) == before


def test_a_path_that_does_not_exist_is_named(tree):
    with pytest.raises(ImagesError, match="missing does not exist"):
        tree_digest(tree, ["missing"])


def test_a_tag_is_short_and_ignores_the_order_of_arguments():
    tag = image_tag("base", {"A": "1", "B": "2"}, "inputs")
    assert tag == image_tag("base", {"B": "2", "A": "1"}, "inputs")
    assert len(tag) == TAG_LENGTH


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(("other", {"A": "1"}, "inputs"), id="base"),
        pytest.param(("base", {"A": "2"}, "inputs"), id="argument"),
        pytest.param(("base", {"A": "1"}, "other"), id="files"),
    ],
)
def test_a_tag_changes_with_what_decides_the_content(inputs):
    assert image_tag(*inputs) != image_tag("base", {"A": "1"}, "inputs")
