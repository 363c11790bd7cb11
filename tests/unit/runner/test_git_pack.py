"""Packs that a stranger made: too much in them, or not what they say."""

import hashlib
import zlib

import pytest

from proctor.runner.git_errors import GitRefusedError, GitUnreachableError
from proctor.runner.git_pack import MOST_OBJECT_BYTES, MOST_OBJECTS, open_pack

BLOB, OFS_DELTA = 3, 6


def an_object(kind, size, data, between=b""):
    """An object that says it has ``size`` bytes."""
    head, rest = kind << 4 | size & 15, size >> 4
    sizes = bytearray()
    while rest:
        sizes.append(head | 0x80)
        head, rest = rest & 0x7F, rest >> 7
    return bytes([*sizes, head]) + between + zlib.compress(data)


def a_pack(path, *objects, count=None):
    data = b"PACK" + (2).to_bytes(4, "big")
    data += (len(objects) if count is None else count).to_bytes(4, "big") + b"".join(objects)
    path.write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())
    return path


@pytest.fixture
def file(tmp_path):
    return tmp_path / "it.pack"


def test_objects_are_found_by_the_hash_of_their_content(file):
    name = hashlib.sha1(b"blob 5\0hello", usedforsecurity=False).hexdigest()
    with open_pack(a_pack(file, an_object(BLOB, 5, b"hello"))) as pack:
        assert pack[name.encode()].as_raw_string() == b"hello"


def test_an_object_that_says_it_is_huge_is_refused_before_it_is_unpacked(file):
    with pytest.raises(GitRefusedError, match=r"at most 64 MiB.*workspace\.image"):
        open_pack(a_pack(file, an_object(BLOB, MOST_OBJECT_BYTES + 1, b"")))


def test_an_object_that_unpacks_to_more_than_it_says_is_broken(file):
    with pytest.raises(GitUnreachableError, match="longer than it says"):
        open_pack(a_pack(file, an_object(BLOB, 5, bytes(8 << 20))))


def test_a_difference_that_makes_something_huge_is_refused(file):
    base = an_object(BLOB, 5, b"hello")
    huge = bytes([5, 0x81, 0x80, 0x80, 0x80, 0x80, 0x10])  # sizes of what it is to, what it makes
    delta = an_object(OFS_DELTA, len(huge), huge, bytes([len(base)]))
    with pytest.raises(GitRefusedError, match="at most 64 MiB"):
        open_pack(a_pack(file, base, delta))


def test_too_many_objects_are_refused(file):
    with pytest.raises(GitRefusedError, match=f"at most {MOST_OBJECTS}"):
        open_pack(a_pack(file, count=MOST_OBJECTS + 1))


@pytest.mark.parametrize(
    "cut", [pytest.param(3, id="in-the-head"), pytest.param(15, id="in-an-object")]
)
def test_a_pack_that_was_cut_off_is_fetched_again(file, cut):
    a_pack(file, an_object(BLOB, 5, b"hello"))
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(GitUnreachableError, match="broken"):
        open_pack(file)


def test_a_pack_with_another_byte_is_fetched_again(file):
    a_pack(file, an_object(BLOB, 5, b"hello"))
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(GitUnreachableError, match="broken"):
        open_pack(file)
