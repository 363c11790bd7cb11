"""The order in which trials start."""

import hashlib
from collections.abc import Sequence

from proctor.planning.model import TrialId


def start_order(
    tasks: Sequence[str], variants: Sequence[str], repeats: int, seed: str
) -> tuple[TrialId, ...]:
    """All trials, each once: repeats outermost, then tasks, the variants of a task side by side.

    Which variant of a task comes first rotates from task to task and from repeat to repeat, so
    that no variant always meets the colder machine; ``seed`` says where the rotation begins.
    """
    start = _offset(seed)
    return tuple(
        TrialId(task, variant, repeat)
        for repeat in range(repeats)
        for position, task in enumerate(tasks)
        for variant in _rotated(variants, start + position + repeat)
    )


def _offset(seed: str) -> int:
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") if seed else 0


def _rotated(variants: Sequence[str], by: int) -> Sequence[str]:
    cut = by % len(variants)
    return [*variants[cut:], *variants[:cut]]
