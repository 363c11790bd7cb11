"""The environment of the phases: what an agent may see of the user's own, and nothing else.

An allow-list, because nobody knows all names under which people keep their secrets.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

PLAIN = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "SHELL",
    "USER",
    "LOGNAME",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
)
"""Besides these, ``LC_*``."""

ADDRESSES = ("PIP_INDEX_URL", "NPM_CONFIG_REGISTRY", "npm_config_registry")
"""Where this machine's packages come from; kept when no user name or password is in them."""


ENGINE_PREFIXES = (
    "HOME",
    "XDG_",
    "DBUS_",
    "DOCKER_",
    "CONTAINER_",
    "CONTAINERS_",
    "PODMAN_",
    "STORAGE_",
)
"""Beginnings of what a container engine's command needs besides; containers see none of it."""


def phase_environment(
    environ: Mapping[str, str], own_bin: str | None = None, fallback_bin: str | None = None
) -> dict[str, str]:
    """Choose what of ``environ`` the phases get.

    Args:
        environ: The user's environment.
        own_bin: ``bin`` of the virtual environment that Proctor itself runs in; it is taken off
            ``PATH``, so that agents neither see nor change Proctor's own packages.
        fallback_bin: ``bin`` of the interpreter below it; last on ``PATH``.
    """
    kept = {name: value for name, value in environ.items() if _is_allowed(name, value)}
    folders = [
        folder
        for folder in kept.get("PATH", os.defpath).split(os.pathsep)
        if folder and folder != own_bin
    ]
    if fallback_bin and fallback_bin not in folders:
        folders.append(fallback_bin)
    return {**kept, "PATH": os.pathsep.join(folders)}


def own_environment() -> dict[str, str]:
    """The phases' environment, from this process's own."""
    in_venv = sys.prefix != sys.base_prefix
    own_bin = str(Path(sys.prefix) / "bin") if in_venv else None
    return phase_environment(os.environ, own_bin, str(Path(sys.base_exec_prefix) / "bin"))


def engine_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the command of a container engine gets."""
    own = {name: value for name, value in environ.items() if name.startswith(ENGINE_PREFIXES)}
    return {**phase_environment(environ), **own}


def _is_allowed(name: str, value: str) -> bool:
    if name in ADDRESSES:
        return "@" not in value
    return name in PLAIN or name.startswith("LC_")
