"""Lays a commit out as files, by descriptors, and a repository of that one commit beside them.

A tree is data of a stranger: names that lead elsewhere or into ``.git`` are refused, nothing is
followed, and nothing is run (no hooks, no filters, no attributes).
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dulwich.index import (
    IndexEntry,
    validate_path_element_default,
    validate_path_element_hfs,
    validate_path_element_ntfs,
    write_index_dict,
)
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree, parse_tree
from dulwich.pack import Pack, SHA1Writer

from proctor.runner.fetch_places import GitSource
from proctor.runner.folders import create_file, opened
from proctor.runner.git_errors import HASH_BYTES, REMEDY, GitRefusedError, GitUnreachableError
from proctor.runner.git_pack import BROKEN

MOST_NOTES = 20
_LFS = b"version https://git-lfs.github.com/spec/"
_SUBMODULE = 0o160000
_LATEST = 2**31 - 1
_OF_THE_TREE = frozenset({errno.EEXIST, errno.ENAMETOOLONG, errno.ENOENT, errno.ELOOP})
"""Errors that a malformed tree makes: a name twice, one too long, a link to nothing."""

_CONFIG = b"""\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\ttrustctime = false
\tcheckStat = minimal
"""
"""``checkStat``: the files are copied once more, so that the index knows their times alone."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is laid down at most: a pack of kilobytes can stand for any number of files."""

    files: int = 100_000
    size_bytes: int = 1 << 30
    depth: int = 60


@dataclass(slots=True)
class _Checkout:
    pack: Pack
    limits: Limits
    at: int
    entries: dict[bytes, IndexEntry] = field(default_factory=dict)
    size: int = 0
    folders: int = 0
    notes: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    submodules: list[str] = field(default_factory=list)


def check_out(
    pack: Pack,
    source: GitSource,
    shallow: frozenset[bytes],
    target: Path,
    limits: Limits = Limits(),
) -> list[str]:
    """Fill ``target``, which is empty, with the files, and with ``.git`` unless it is one folder.

    The pack's files move into ``.git``; it stays open.

    Returns:
        What a reader of the record should know: submodules, LFS pointers, links that lead out.

    Raises:
        GitRefusedError: It is no commit, has no such folder, or holds what is not laid down.
        GitUnreachableError: The pack lacks something.
        OSError: The files cannot be written.
    """
    try:
        commit = _commit(pack, source)
        checkout = _Checkout(pack, limits, at=min(max(commit.commit_time, 0), _LATEST))
        root = commit.tree if source.path is None else _folder(pack, commit.tree, source)
        with opened(target) as folder:
            _lay(checkout, root, folder, PurePosixPath())
    except BROKEN as error:
        raise GitUnreachableError(f"the pack lacks something: {error}") from error
    if source.path is None:
        _write_repository(checkout, source, shallow, target / ".git")
    return _notes(checkout)


def _commit(pack: Pack, source: GitSource) -> Commit:
    found = pack[ObjectID(source.commit.encode())]
    if isinstance(found, Commit):
        return found
    kind = "tag" if isinstance(found, Tag) else found.type_name.decode()
    raise GitRefusedError(
        f"the id is a {kind}'s, not a commit's: `git ls-remote` shows that of a tag in the line "
        "that ends in ^{}"
    )


def _folder(pack: Pack, root: ObjectID, source: GitSource) -> ObjectID:
    assert source.path is not None
    for part in PurePosixPath(source.path).parts:
        entries = {name: (mode, sha) for name, mode, sha in _tree(pack, root)}
        mode, sha = entries.get(os.fsencode(part), (0, root))
        if not stat.S_ISDIR(mode):
            raise GitRefusedError(f"there is no folder {source.path!r}: correct workspace.git.path")
        root = sha
    return root


def _tree(pack: Pack, sha: ObjectID) -> Iterator[tuple[bytes, int, ObjectID]]:
    """Every entry as it is written, also a name that is there twice: name, mode, id."""
    found = pack[sha]
    if not isinstance(found, Tree):
        raise ValueError(f"{sha.decode()} is no tree")
    for name, mode, entry in parse_tree(found.as_raw_string(), HASH_BYTES):
        yield name, mode, ObjectID(entry)


def _lay(checkout: _Checkout, tree: ObjectID, folder: int, path: PurePosixPath) -> None:
    if len(path.parts) > checkout.limits.depth:
        raise GitRefusedError(f"{path} is deeper than {checkout.limits.depth} folders: {REMEDY}")
    for name, mode, sha in _tree(checkout.pack, tree):
        where = path / _checked(name, path)
        try:
            _lay_entry(checkout, name, mode, sha, folder, where)
        except OSError as error:
            if error.errno not in _OF_THE_TREE:
                raise
            raise GitRefusedError(f"{str(where)!r} cannot be laid down: {error.strerror}") from None
        os.utime(name, (checkout.at, checkout.at), dir_fd=folder, follow_symlinks=False)


def _lay_entry(
    checkout: _Checkout, name: bytes, mode: int, sha: ObjectID, folder: int, where: PurePosixPath
) -> None:
    if stat.S_ISDIR(mode) or mode == _SUBMODULE:
        checkout.folders += 1
        if checkout.folders > checkout.limits.files:
            raise GitRefusedError(f"it has more than {checkout.limits.files} folders: {REMEDY}")
        os.mkdir(name, 0o755, dir_fd=folder)
        if mode == _SUBMODULE:
            checkout.submodules.append(str(where))
            _enter(checkout, where, mode, sha, 0)
            return
        with opened(os.fsdecode(name), folder) as inner:
            _lay(checkout, sha, inner, where)
        return
    blob = checkout.pack[sha]
    if not isinstance(blob, Blob):
        raise ValueError(f"{sha.decode()} is no file")
    data = blob.as_raw_string()
    _enter(checkout, where, mode, sha, len(data))
    if stat.S_ISLNK(mode):
        if b"\0" in data:
            raise GitRefusedError(f"{str(where)!r} is a link to a name that is none")
        os.symlink(data, name, dir_fd=folder)
        if _leads_out(where, data):
            checkout.links.append(str(where))
    elif stat.S_ISREG(mode):
        create_file(os.fsdecode(name), folder, data, 0o755 if mode & 0o111 else 0o644)
        if data.startswith(_LFS):
            checkout.pointers.append(str(where))
    else:
        raise GitRefusedError(f"{str(where)!r} has mode {mode:o}: it is no file, folder or link")


def _enter(checkout: _Checkout, where: PurePosixPath, mode: int, sha: ObjectID, size: int) -> None:
    limits = checkout.limits
    checkout.size += size
    if checkout.size > limits.size_bytes:
        raise GitRefusedError(f"the files have more than {limits.size_bytes} bytes: {REMEDY}")
    if len(checkout.entries) >= limits.files:
        raise GitRefusedError(f"there are more than {limits.files} files: {REMEDY}")
    kept = mode if not stat.S_ISREG(mode) else stat.S_IFREG | (0o755 if mode & 0o111 else 0o644)
    entry = IndexEntry(
        ctime=checkout.at, mtime=checkout.at, dev=0, ino=0, mode=kept, uid=0, gid=0, size=size,
        sha=sha,
    )  # fmt: skip
    checkout.entries[os.fsencode(str(where))] = entry


def _checked(name: bytes, path: PurePosixPath) -> str:
    """A name that is one, and is ``.git`` on no file system."""
    good = b"/" not in name and b"\0" not in name and validate_path_element_default(name)
    if not (good and validate_path_element_ntfs(name) and _is_not_git_on_a_mac(name)):
        raise GitRefusedError(
            f"the tree has the name {os.fsdecode(name)!r} in {str(path)!r}: it leads out of the "
            "workspace or into .git"
        )
    return os.fsdecode(name)


def _is_not_git_on_a_mac(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return True
    return validate_path_element_hfs(name)


def _leads_out(where: PurePosixPath, target: bytes) -> bool:
    """Whether a link's text leads above the workspace; what it passes through is not looked at."""
    parts = PurePosixPath(os.fsdecode(target))
    depth = len(where.parts) - 1
    for part in parts.parts:
        depth += -1 if part == ".." else 1
        if parts.is_absolute() or depth < 0:
            return True
    return False


def _write_repository(
    checkout: _Checkout, source: GitSource, shallow: frozenset[bytes], git: Path
) -> None:
    """A repository whose HEAD is the commit, and that knows no remote and no other commit."""
    packs = git / "objects" / "pack"
    for folder in (packs, git / "objects" / "info", git / "refs" / "heads", git / "refs" / "tags"):
        folder.mkdir(parents=True)
    (git / "config").write_bytes(_CONFIG)
    (git / "HEAD").write_text(f"{source.commit}\n")
    if shallow:
        (git / "shallow").write_bytes(b"".join(b"%s\n" % one for one in sorted(shallow)))
    base = Path(checkout.pack.data.path)
    name = f"pack-{checkout.pack.name().decode()}"
    for suffix in (".pack", ".idx"):
        kept = packs / f"{name}{suffix}"
        os.rename(base.with_suffix(suffix), kept)
        kept.chmod(0o444)
    with (git / "index").open("wb") as file:
        writer = SHA1Writer(file)
        write_index_dict(writer, checkout.entries)
        writer.write_sha()


def _notes(checkout: _Checkout) -> list[str]:
    return [
        *_note("submodules are empty folders", checkout.submodules),
        *_note("files are pointers of Git LFS, without what they point to", checkout.pointers),
        *_note("links lead out of the workspace", checkout.links),
    ]


def _note(what: str, paths: list[str]) -> Iterator[str]:
    if paths:
        more = f" and {len(paths) - MOST_NOTES} more" if len(paths) > MOST_NOTES else ""
        shown = ", ".join(repr(path) for path in sorted(paths)[:MOST_NOTES])
        yield f"{len(paths)} {what}: {shown}{more}"
