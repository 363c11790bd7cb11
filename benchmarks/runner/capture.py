"""Freezing and looking at a large workspace, beside the system's own tools on the same tree.

    python benchmarks/runner/capture.py [--files N] [--megabytes N] [--rounds N]

Prints a table (CPU and wall seconds, best of N, and peak memory) and exits 1 when a bound is
missed: CPU as a ratio to the peer in the same run, memory above that of an interpreter that
imports the same.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDERS = 400
MATCHED = 10  # one file of so many has a name that the glob matches

_PEAK = """
status = open("/proc/self/status").read()
print(status.partition("VmHWM:")[2].split()[0])
"""
_IMPORTS = """
import sys
from pathlib import Path
from proctor.runner.capture import CapturedWorkspace
from proctor.runner.copying import copy_tree
from proctor.runner.opening import open_up
tree, target = map(Path, sys.argv[1:])
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that the runner does to a workspace.

    Args:
        code: What it does, after the imports.
        peer: The command that does the same; ``{tree}`` and ``{target}`` stand for folders.
        most_times: Bound of CPU, in the peer's.
        most_bytes: Bound of memory above the interpreter's, in bytes of the tree: a look holds what
            it found.
        most_mib: The same, in MiB on top.
    """

    name: str
    code: str
    peer: str
    most_times: float
    most_mib: float
    most_bytes: float = 0.0


PARTS = (
    Part("freeze: copy_tree", "copy_tree(tree, target)", "cp -a {tree} {target}", 2.0, 16),
    Part("freeze: open_up", "open_up(tree)", "chmod -R u+rwX,g+rX {tree}", 5.0, 8),
    Part(
        "look: one file of ten",
        'assert CapturedWorkspace(tree).files("**/*.kept")',
        "find {tree} -name '*.kept' -exec cat {{}} +",
        8.0,
        16,
        1.0 / MATCHED,
    ),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """``peak_mib`` None: not measured."""

    cpu_seconds: float
    wall_seconds: float
    peak_mib: float | None = None


def make_tree(tree: Path, files: int, total_bytes: int) -> None:
    """So many files of one size in folders of their own, as a package manager leaves them."""
    data = os.urandom(max(1, total_bytes // files))
    for number in range(files):
        folder = tree / f"package-{number % FOLDERS}" / "lib"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.{'kept' if number % MATCHED == 0 else 'data'}").write_bytes(data)


def measure(argv: Sequence[str], target: Path) -> Measured:
    """Run it once, with the last target out of the way."""
    shutil.rmtree(target, ignore_errors=True)
    begin = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        last = b""
        while chunk := process.stdout.read(1 << 20):
            last = chunk
        errors = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{argv}: exit code {process.returncode}: {errors.decode()}")
    wall = time.monotonic() - begin
    is_ours = argv[0] == sys.executable
    return Measured(used.ru_utime + used.ru_stime, wall, int(last) / 1024 if is_ours else None)


def best(argv: Sequence[str], target: Path, rounds: int) -> Measured:
    """The least of each figure."""
    found = [measure(argv, target) for _ in range(rounds)]
    peaks = [one.peak_mib for one in found if one.peak_mib is not None]
    return Measured(
        min(one.cpu_seconds for one in found),
        min(one.wall_seconds for one in found),
        max(peaks) if peaks else None,
    )


def ours(code: str, tree: Path, target: Path) -> Sequence[str]:
    return (sys.executable, "-c", f"{_IMPORTS}{code}\n{_PEAK}", str(tree), str(target))


def row(name: str, measured: Measured) -> str:
    peak = "" if measured.peak_mib is None else f"{measured.peak_mib:.1f}"
    return f"{name:<44}{measured.cpu_seconds:>8.2f}{measured.wall_seconds:>8.2f}{peak:>10}"


def compare(part: Part, tree: Path, rounds: int, idle_mib: float, tree_mib: float) -> Sequence[str]:
    """Print both, and say which bounds are missed."""
    target = tree.with_name("target")
    peer = part.peer.format(tree=tree, target=target)
    mine = best(ours(part.code, tree, target), target, rounds)
    theirs = best(("sh", "-c", peer), target, rounds)
    times = mine.cpu_seconds / max(theirs.cpu_seconds, 0.01)
    assert mine.peak_mib is not None
    added, most = mine.peak_mib - idle_mib, part.most_mib + part.most_bytes * tree_mib
    print(row(part.name, mine))
    print(row(f"  {part.peer.partition(' {')[0]}", theirs))
    memory = f"{added:.1f} MiB (bound {most:.0f})"
    print(f"  {times:.2f} times its CPU (bound {part.most_times:g}), {memory}")
    slow = [f"{part.name}: {times:.2f} times the peer's CPU"] if times > part.most_times else []
    large = [f"{part.name}: {added:.1f} MiB"] if added > most else []
    return [*slow, *large]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        make_tree(tree, asked.files, asked.megabytes * 1_000_000)
        idle = best(ours("", tree, tree), Path(folder) / "none", 1)
        assert idle.peak_mib is not None
        print(f"{asked.files} files, {asked.megabytes} MB, best of {asked.rounds}")
        print(f"{'':<44}{'CPU s':>8}{'wall s':>8}{'peak MiB':>10}")
        print(row("the interpreter and its imports", idle))
        for part in PARTS:
            size = asked.megabytes * 1_000_000 / (1 << 20)
            missed += compare(part, tree, asked.rounds, idle.peak_mib, size)
    for text in missed:
        print(f"over its bound: {text}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
