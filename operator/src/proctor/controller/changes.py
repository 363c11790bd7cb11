"""What became of a pod between asking for it and having it, one word each (pure).

Webhooks and policies of a cluster may add to a pod or change it. A word is ``KIND/NAME``:
``container/istio-proxy``, ``volume/ca``, ``env/agent/HTTP_PROXY``, ``mount/agent/etc/ssl``,
``image/agent``, ``command/grade``, ``security/checks``, ``pod/hostNetwork``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from proctor.controller.cluster import Body
from proctor.controller.shape import shape

_NAMED = {"env": "name", "volumeMounts": "mountPath"}
_WORDS = {"env": "env", "volumeMounts": "mount"}


def pod_changes(asked: Body, found: Body) -> tuple[str, ...]:
    """What differs, in the order of the pod; empty when nothing does that decides what runs."""
    before, after = shape(asked), shape(found)
    changes = [
        *_container_changes(before["containers"], after["containers"]),
        *_differing("volume", _by(before["volumes"], "name"), _by(after["volumes"], "name")),
        *_differing("pod", before["pod"], after["pod"]),
    ]
    if before["token"] != after["token"]:
        changes.append("pod/automountServiceAccountToken")
    return tuple(dict.fromkeys(changes))


def not_allowed(changes: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Those that no pattern allows; ``*`` stands for anything, slashes too."""
    return tuple(
        change
        for change in changes
        if not any(fnmatchcase(change, pattern) for pattern in patterns)
    )


def _container_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for group in before:
        old, new = _by(before[group], "name"), _by(after[group], "name")
        for name in {**old, **new}:
            if name in old and name in new:
                yield from _inner_changes(name, old[name], new[name])
            else:
                yield f"container/{name}"
        if [name for name in new if name in old] != [name for name in old if name in new]:
            yield f"order/{group}"


def _inner_changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for field in sorted(old.keys() | new.keys()):
        if field in _NAMED:
            items = (_by(one.get(field) or (), _NAMED[field]) for one in (old, new))
            yield from _differing(f"{_WORDS[field]}/{name}", *items)
        elif old.get(field) != new.get(field):
            yield f"{field}/{name}"


def _differing(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield f"{kind}/{str(name).lstrip('/')}"


def _by(items: Iterable[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    return {str(item[key]): item for item in items}
