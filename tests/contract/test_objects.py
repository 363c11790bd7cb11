"""The port ``Objects``: one suite over a file system and an object store."""

from datetime import UTC, datetime, timedelta

import pytest

from fakes.s3 import BUCKET, running_s3
from proctor.store.bucket_objects import BucketObjects
from proctor.store.file_objects import FileObjects
from proctor.store.objects import MissingObjectError, StoreError


@pytest.fixture(scope="module")
def s3():
    with running_s3() as settings:
        yield settings


@pytest.fixture(params=["file-system", "s3"])
def objects(request, tmp_path):
    if request.param == "file-system":
        return FileObjects(tmp_path / "objects")
    settings = request.getfixturevalue("s3")
    return BucketObjects(f"s3://{BUCKET}/{tmp_path.name}", settings)


@pytest.fixture
def put(objects, tmp_path):
    async def put(key, content):
        file = tmp_path / "body"
        file.write_bytes(content)
        await objects.put(key, file)

    return put


async def content_of(objects, key):
    return b"".join([chunk async for chunk in objects.read(key)])


@pytest.mark.parametrize("size", [0, 1, 5, 3 << 20, 20 << 20], ids=lambda size: f"{size}-bytes")
async def test_what_was_put_is_read_byte_for_byte(objects, put, size):
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    await put("blobs/u/ab/abc", content)
    assert await content_of(objects, "blobs/u/ab/abc") == content
    assert await objects.size("blobs/u/ab/abc") == size


async def test_putting_again_changes_nothing(objects, put):
    await put("a/b", b"same")
    await put("a/b", b"same")
    assert [one.key async for one in objects.list("a/")] == ["a/b"]
    assert await content_of(objects, "a/b") == b"same"


async def test_what_is_not_there_has_no_size_and_cannot_be_read(objects):
    assert await objects.size("a/missing") is None
    with pytest.raises(MissingObjectError):
        await content_of(objects, "a/missing")


async def test_a_listing_names_all_below_a_prefix_with_size_and_time(objects, put):
    for number in range(3):
        await put(f"notes/{number}.json", b"x" * number)
    await put("other/1", b"")

    listed = {one.key: one async for one in objects.list("notes/")}

    assert {key: one.size_bytes for key, one in listed.items()} == {
        "notes/0.json": 0,
        "notes/1.json": 1,
        "notes/2.json": 2,
    }
    age = datetime.now(UTC) - listed["notes/1.json"].modified_at
    assert timedelta(seconds=-5) < age < timedelta(minutes=1)


async def test_an_empty_store_lists_nothing(objects):
    assert [one async for one in objects.list("notes/")] == []


async def test_deleting_twice_is_no_error(objects, put):
    await put("a/b", b"x")
    await objects.delete("a/b")
    await objects.delete("a/b")
    assert await objects.size("a/b") is None


async def test_tidying_leaves_what_is_whole(objects, put):
    await put("a/b", b"x")
    await objects.tidy()
    assert await content_of(objects, "a/b") == b"x"


async def test_a_bucket_that_does_not_exist_is_the_stores_fault(s3, tmp_path):
    objects = BucketObjects("s3://nowhere", s3)
    file = tmp_path / "body"
    file.write_bytes(b"x")
    with pytest.raises(StoreError, match="object store"):
        await objects.put("a", file)
