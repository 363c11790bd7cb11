"""The sandbox of a Coder Eval task → image and resources of ours."""

from collections.abc import Mapping
from typing import Any

from proctor.planning.translation import Translation

_ELSEWHERE = ("driver", "docker", "limits", "template_sources", "ignore_patterns")


def sandbox_settings(sandbox: Mapping[str, Any], translation: Translation) -> dict[str, Any] | None:
    """Image and resources; the front door, not the file, says where a trial runs."""
    driver = sandbox.get("driver", "tempdir")
    if driver not in ("tempdir", "docker"):
        translation.refuse("sandbox.driver", f"{driver!r} is no driver", "write tempdir or docker")
    for key, value in sandbox.items():
        if key in ("python", "node"):
            for inner, packages in translation.mapping(value, f"sandbox.{key}").items():
                translation.unsupported(f"sandbox.{key}.{inner}", packages)
        elif key not in _ELSEWHERE:
            translation.unsupported(f"sandbox.{key}", value)
    body = _image(sandbox.get("docker"), driver == "docker", translation)
    resources = _resources(sandbox.get("limits"), translation)
    return {**body, **({"resources": resources} if resources else {})} or None


def _image(written: Any, used: bool, translation: Translation) -> dict[str, Any]:
    docker = translation.mapping(written, "sandbox.docker")
    if docker and not used:
        translation.warn("sandbox.docker", "docker is ignored without driver: docker")
        return {}
    return translation.renamed(docker, {"image": "image"}, "sandbox.docker", "sandbox")


def _resources(written: Any, translation: Translation) -> dict[str, str]:
    limits = translation.mapping(written, "sandbox.limits")
    names = {
        "max_memory_mb": "memory",
        "max_disk_mb": "ephemeralStorage",
        "max_cpus": "cpu",
    }
    carried = translation.renamed(limits, names, "sandbox.limits", "sandbox.resources")
    return {name: f"{value}Mi" if name != "cpu" else f"{value}" for name, value in carried.items()}
