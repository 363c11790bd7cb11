import pytest

from cluster.images.catalog import Image
from cluster.images.context import image_inputs, take_context
from cluster.images.errors import ImagesError

IMAGE = Image("a", "a/Dockerfile")


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    (root / "a").mkdir(parents=True)
    (root / "a" / "Dockerfile").write_text("FROM scratch\nCOPY src license /\n")
    (root / "src" / "__pycache__").mkdir(parents=True)
    (root / "src" / "__pycache__" / "a.pyc").write_text("compiled")
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "license").write_text("free")
    (root / "secret").write_text("not copied")
    return root


def test_an_image_is_made_of_its_dockerfile_and_what_that_copies(repository):
    assert image_inputs(IMAGE, repository) == ("a/Dockerfile", "license", "src")


def test_a_context_holds_the_inputs_and_nothing_else(repository, tmp_path):
    context = take_context([IMAGE], tmp_path / "context", repository)
    files = {str(path.relative_to(context)) for path in context.rglob("*") if path.is_file()}
    assert files == {"a/Dockerfile", "license", "src/a.py"}


def test_a_context_does_not_follow_later_edits(repository, tmp_path):
    context = take_context([IMAGE], tmp_path / "context", repository)
    (repository / "src" / "a.py").write_text("a = 2\n")
    assert (context / "src" / "a.py").read_text() == "a = 1\n"


def test_an_input_that_does_not_exist_is_named(repository, tmp_path):
    (repository / "license").unlink()
    with pytest.raises(ImagesError, match="license does not exist"):
        take_context([IMAGE], tmp_path / "context", repository)
