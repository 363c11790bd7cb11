import pytest

from cluster.images.catalog import CATALOG, REPOSITORY
from cluster.images.dockerfile import copied_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param("FROM scratch\n", (), id="nothing"),
        pytest.param("COPY b a ./\n", ("a", "b"), id="several-sorted"),
        pytest.param("COPY a /x\ncopy a /y\n", ("a",), id="twice-is-once"),
        pytest.param("COPY --chmod=755 --chown=1:1 a /x\n", ("a",), id="flags"),
        pytest.param("COPY --from=other /a /b\n", (), id="another-stage"),
        pytest.param("COPY a \\\n     b \\\n     /x\n", ("a", "b"), id="continued-lines"),
        pytest.param('COPY ["a b", "/x"]\n', ("a b",), id="json-form"),
        pytest.param("ADD a /x\n", ("a",), id="add"),
        pytest.param("RUN echo COPY a b\n", (), id="only-instructions"),
    ],
)
def test_what_comes_from_the_context_is_listed(text, paths):
    assert copied_paths(text) == paths


@pytest.mark.parametrize("image", CATALOG, ids=[image.name for image in CATALOG])
def test_every_dockerfile_copies_what_is_in_the_repository(image):
    text = (REPOSITORY / image.dockerfile).read_text()
    assert [path for path in copied_paths(text) if not (REPOSITORY / path).exists()] == []


@pytest.mark.parametrize("image", CATALOG, ids=[image.name for image in CATALOG])
def test_every_dockerfile_takes_its_base_and_arguments(image):
    text = (REPOSITORY / image.dockerfile).read_text()
    wanted = ["BASE", *image.arguments]
    assert [name for name in wanted if f"\nARG {name}=" not in text] == []


UNPRIVILEGED = [image for image in CATALOG if image.name != "testbed"]  # made for root, on purpose


@pytest.mark.parametrize("image", UNPRIVILEGED, ids=[image.name for image in UNPRIVILEGED])
def test_every_image_runs_as_a_user_that_is_not_root(image):
    text = (REPOSITORY / image.dockerfile).read_text()
    assert text.rindex("\nUSER 65532:65532\n") > text.rindex("\nFROM ")
