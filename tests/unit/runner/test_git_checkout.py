"""Trees that a stranger made: names and links that lead elsewhere, and too much of all."""

import pytest
from dulwich.object_format import SHA1
from dulwich.objects import Blob, Commit, Tag, Tree
from dulwich.pack import write_pack_objects

from proctor.runner.fetch_places import GitSource
from proctor.runner.git_checkout import Limits, check_out
from proctor.runner.git_errors import GitRefusedError, GitUnreachableError
from proctor.runner.git_pack import open_pack

FILE, LINK, FOLDER = 0o100644, 0o120000, 0o040000


def a_tree(*entries):
    """A tree as bytes, in this order, whatever git says of it: (mode, name, object)."""
    raw = b"".join(
        b"%o %s\0%s" % (mode, name, bytes.fromhex(one.id.decode())) for mode, name, one in entries
    )
    return Tree.from_raw_string(Tree.type_num, raw)


def a_commit(tree):
    made = Commit()
    made.tree = tree.id
    made.author = made.committer = b"Ada <ada@example.org>"
    made.author_time = made.commit_time = 1_714_979_289
    made.author_timezone = made.commit_timezone = 0
    made.message = b"All of it"
    return made


HELLO = Blob.from_string(b"hello")


@pytest.fixture
def lay(tmp_path):
    """Lay a tree down with what it needs; the workspace comes back."""

    def lay(tree, *others, path=None, wanted=None, limits=None):
        commit = a_commit(tree)
        with (tmp_path / "fetched.pack").open("wb") as file:
            write_pack_objects(file.write, [commit, tree, *others], object_format=SHA1)
        target = tmp_path / "tree"
        target.mkdir()
        name = (wanted or commit).id.decode()
        source = GitSource("https://git.test/a", name, path)
        with open_pack(tmp_path / "fetched.pack") as pack:
            check_out(pack, source, frozenset(), target, limits or Limits())
        return target

    return lay


@pytest.mark.parametrize(
    "name",
    [
        b"..", b".", b".git", b".GIT", b".Git", b"git~1", b"GIT~1", b".git ", b".git.", b".git . .",
        b".git::$INDEX_ALLOCATION", b".git:x", ".g\u200cit".encode(), "\ufeff.git".encode(), b"a/b",
        b"../../etc/passwd", b".git/hooks/post-checkout", b"", b"a\\.git\\hooks",
    ],
)  # fmt: skip
def test_names_that_lead_out_or_into_git_are_refused(lay, name):
    with pytest.raises(GitRefusedError, match=r"leads out of the workspace or into \.git"):
        lay(a_tree((FILE, name, HELLO)), HELLO)


def test_such_a_name_is_refused_in_a_folder_too(lay):
    inner = a_tree((FOLDER, b".git", a_tree((FILE, b"config", HELLO))))
    with pytest.raises(GitRefusedError, match=r"'\.git' in 'deep'"):
        lay(a_tree((FOLDER, b"deep", inner)), inner, HELLO)


@pytest.mark.parametrize("name", [b"aux", b"a:b", b"git~2", b".gitignore", b"\xff\xfe", b"a\\b"])
def test_odd_names_that_are_harmless_here_are_laid_down(lay, name):
    target = lay(a_tree((FILE, name, HELLO)), HELLO)
    assert (bytes(target) + b"/" + name) in [bytes(path) for path in target.iterdir()]


def test_a_link_is_never_followed_by_a_folder_of_its_name(lay, tmp_path):
    """CVE-2021-21300 and its kind: a link first, then a folder of the same name behind it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    link = Blob.from_string(str(outside).encode())
    inner = a_tree((FILE, b"planted", HELLO))
    tree = a_tree((LINK, b"a", link), (FOLDER, b"a", inner))
    with pytest.raises(GitRefusedError, match="cannot be laid down: File exists"):
        lay(tree, link, inner, HELLO)
    assert list(outside.iterdir()) == []


def test_a_link_with_no_name_is_refused(lay):
    link = Blob.from_string(b"a\0b")
    with pytest.raises(GitRefusedError, match="a link to a name that is none"):
        lay(a_tree((LINK, b"a", link)), link)


def test_a_device_is_refused(lay):
    with pytest.raises(GitRefusedError, match="has mode 20644"):
        lay(a_tree((0o020644, b"null", HELLO)), HELLO)


def test_no_file_gains_rights_by_its_mode(lay):
    target = lay(a_tree((0o104777, b"sudo", HELLO)), HELLO)
    assert (target / "sudo").stat().st_mode & 0o7777 == 0o755


def test_a_tree_that_is_too_deep_is_refused(lay):
    trees = [a_tree((FILE, b"file", HELLO))]
    for _ in range(4):
        trees.append(a_tree((FOLDER, b"d", trees[-1])))
    with pytest.raises(GitRefusedError, match=r"deeper than 3 folders.*workspace\.image"):
        lay(trees[-1], *trees[:-1], HELLO, limits=Limits(depth=3))


def test_files_that_share_their_content_count_each(lay):
    """One large file under many names: a few bytes of pack, and no end of disk."""
    zeros = Blob.from_string(bytes(1000))
    many = a_tree(*((FILE, b"%d" % number, zeros) for number in range(10, 20)))
    with pytest.raises(GitRefusedError, match="more than 9999 bytes"):
        lay(many, zeros, limits=Limits(size_bytes=9999))


def test_too_many_files_are_refused(lay):
    """A tree of ten names, ten times: a bomb of three objects."""
    names = [b"%d" % number for number in range(10)]
    inner = a_tree(*((FILE, name, HELLO) for name in names))
    tree = a_tree(*((FOLDER, name, inner) for name in names))
    with pytest.raises(GitRefusedError, match="more than 99 files"):
        lay(tree, inner, HELLO, limits=Limits(files=99))


def test_too_many_folders_are_refused(lay):
    """Folders without a file, ten in each of ten: inodes for nothing."""
    trees = [a_tree()]
    for _ in range(3):
        trees.append(a_tree(*((FOLDER, b"%d" % number, trees[-1]) for number in range(10))))
    with pytest.raises(GitRefusedError, match="more than 99 folders"):
        lay(trees[-1], *trees[:-1], limits=Limits(files=99))


def test_a_pack_that_lacks_a_file_is_fetched_again(lay):
    with pytest.raises(GitUnreachableError, match="lacks something"):
        lay(a_tree((FILE, b"a", HELLO)))


def test_a_tag_is_no_commit(lay):
    tree = a_tree((FILE, b"a", HELLO))
    tag = Tag()
    tag.name, tag.tagger, tag.message = b"v1", b"Ada <ada@example.org>", b""
    tag.tag_time, tag.tag_timezone = 0, 0
    tag.object = (Commit, a_commit(tree).id)
    with pytest.raises(GitRefusedError, match="a tag's, not a commit's"):
        lay(tree, HELLO, tag, wanted=tag)


def test_a_file_is_no_folder(lay):
    with pytest.raises(GitRefusedError, match="there is no folder 'a'"):
        lay(a_tree((FILE, b"a", HELLO)), HELLO, path="a")
