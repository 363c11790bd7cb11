import json
from pathlib import Path

import pytest

from cluster.images.catalog import Image, choose
from cluster.images.errors import ImagesError
from cluster.images.listing import Built, chart_values, listing

CATALOG = (Image("a", "a/Dockerfile"), Image("b", "b/Dockerfile"))


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        pytest.param([], ["a", "b"], id="none-means-all"),
        pytest.param(["b", "a"], ["a", "b"], id="in-the-catalogs-order"),
        pytest.param(["b"], ["b"], id="one"),
    ],
)
def test_images_are_chosen_by_name(names, chosen):
    assert [image.name for image in choose(names, CATALOG)] == chosen


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ImagesError, match="no image is called 'c'; there are a, b"):
        choose(["a", "c"], CATALOG)


def test_the_listing_has_name_and_place_of_each_image():
    built = {"a": Built("registry/a:1", Path("/c/a-1.tar"))}
    assert json.loads(listing(built)) == {
        "a": {"reference": "registry/a:1", "archive": "/c/a-1.tar"}
    }


def test_the_chart_is_told_all_images_but_the_one_of_tests(tmp_path):
    names = ("operator", "gateway", "results", "runner", "default", "busybox")
    built = {name: Built(f"r/{name}:1", tmp_path / name) for name in names}
    references = json.loads(chart_values(built))["images"]
    assert references == {
        "operator": "r/operator:1",
        "gateway": "r/gateway:1",
        "results": "r/results:1",
        "runner": "r/runner:1",
        "task": "r/default:1",
    }
