import io
import json
import tarfile

import pytest

from cluster.harness.archives import Archive, read_archive, write_docker_archive
from cluster.harness.errors import HarnessError


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "tool").write_text("a program")
    (root / "bin" / "tool").chmod(0o755)
    (root / "bin" / "other").symlink_to("tool")
    return root


def written(tree, output, **options):
    archive = write_docker_archive(tree, "images.test/tool:1", output, **options)
    with tarfile.open(output) as outer:
        manifest = json.load(outer.extractfile("manifest.json"))[0]
        config = json.load(outer.extractfile(manifest["Config"]))
        layer = io.BytesIO(outer.extractfile(manifest["Layers"][0]).read())
    return archive, config, tarfile.open(fileobj=layer)


def test_what_was_written_is_read_again(tree, tmp_path):
    output = tmp_path / "image.tar"
    archive, _, _ = written(tree, output)
    assert read_archive(output) == (archive,)


def test_files_belong_to_root_and_keep_mode_and_links(tree, tmp_path):
    _, _, layer = written(tree, tmp_path / "image.tar")
    members = {member.name: member for member in layer}
    assert set(members) == {"bin", "bin/tool", "bin/other"}
    assert all((member.uid, member.gid) == (0, 0) for member in members.values())
    assert members["bin/tool"].mode == 0o755
    assert members["bin/other"].linkname == "tool"


def test_entrypoint_and_environment_are_in_the_config(tree, tmp_path):
    output = tmp_path / "image.tar"
    _, config, _ = written(tree, output, entrypoint=["/bin/tool", "-v"], environ={"A": "1"})
    assert config["config"]["Entrypoint"] == ["/bin/tool", "-v"]
    assert "A=1" in config["config"]["Env"]


def test_equal_trees_give_equal_digests_and_a_change_another(tree, tmp_path):
    first = written(tree, tmp_path / "first.tar")[0]
    second = written(tree, tmp_path / "second.tar")[0]
    (tree / "bin" / "tool").write_text("another program")
    third = written(tree, tmp_path / "third.tar")[0]
    assert first == second
    assert third.digest != first.digest


def an_archive(path, **members):
    with tarfile.open(path, "w") as archive:
        for name, document in members.items():
            data = json.dumps(document).encode()
            entry = tarfile.TarInfo(f"./{name}.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def test_an_image_of_two_names_is_two_images(tmp_path):
    manifest = [{"Config": "blobs/sha256/abc", "RepoTags": ["a.test/x:1", "a.test/x:2"]}]
    path = an_archive(tmp_path / "image.tar", manifest=manifest)
    assert read_archive(path) == (
        Archive("a.test/x:1", "sha256:abc"),
        Archive("a.test/x:2", "sha256:abc"),
    )


def test_an_oci_archive_tells_names_by_annotation(tmp_path):
    notes = {"org.opencontainers.image.ref.name": "a.test/x:1"}
    index = {"manifests": [{"digest": "sha256:abc", "annotations": notes}]}
    path = an_archive(tmp_path / "image.tar", index=index)
    assert read_archive(path) == (Archive("a.test/x:1", "sha256:abc"),)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        pytest.param({"other": {}}, "neither a docker-archive nor", id="something-else"),
        pytest.param(
            {"manifest": [{"Config": "abc.json", "RepoTags": None}]}, "has a name", id="no-name"
        ),
        pytest.param(
            {"index": {"manifests": [{"digest": "sha256:abc"}]}}, "no full name", id="oci-no-name"
        ),
        pytest.param(
            {
                "index": {
                    "manifests": [
                        {
                            "digest": "sha256:abc",
                            "annotations": {"org.opencontainers.image.ref.name": "1"},
                        }
                    ]
                }
            },
            "no full name",
            id="oci-only-a-tag",
        ),
    ],
)
def test_an_archive_that_pods_could_not_name_is_refused(tmp_path, members, message):
    with pytest.raises(HarnessError, match=message):
        read_archive(an_archive(tmp_path / "image.tar", **members))


@pytest.mark.parametrize("content", [None, b"no archive at all"], ids=["absent", "no-tar"])
def test_a_file_that_is_no_archive_is_named(tmp_path, content):
    path = tmp_path / "image.tar"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HarnessError, match=r"image\.tar is not a readable archive"):
        read_archive(path)
