"""The environment of an agent's processes, and of the commands around it."""

import os
from collections.abc import Mapping
from pathlib import Path

_KEYS = ("_API_KEY", "_AUTH_TOKEN", "_ACCESS_TOKEN")
_PREFIXES = ("PROCTOR_", "XDG_")
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def command_environment(
    inherited: Mapping[str, str], home: Path, workspace: Path
) -> dict[str, str]:
    """What ``preRun``, checks and agents share: the image's variables without the runner's own.

    ``PYTHONPATH`` and the like are the image's: the runner's interpreter ignores them. Provider
    keys are dropped, and ordinary installs (pip, npm) land below ``home``, which passes on to the
    checks.
    """
    env = {name: value for name, value in inherited.items() if not _is_private(name)}
    local = home / ".local"
    env.update(
        HOME=str(home),
        USER="agent",
        LOGNAME="agent",
        PWD=str(workspace),
        PATH=f"{local}/bin:{inherited.get('PATH') or _DEFAULT_PATH}",
        PYTHONUSERBASE=str(local),
        NPM_CONFIG_PREFIX=str(local),
        PIP_BREAK_SYSTEM_PACKAGES="1",
    )
    # Volumes belong to root whoever works in them, and git works in nobody else's folders.
    if "GIT_CONFIG_COUNT" not in inherited:
        env.update(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
    # pip falls back to the user's folder where it may not write elsewhere. Root may, so it has to
    # be told; but inside a virtual environment this variable makes every install fail.
    if os.getuid() == 0 and "VIRTUAL_ENV" not in inherited:
        env["PIP_USER"] = "1"
    return env


def checks_environment(inherited: Mapping[str, str], home: Path, workspace: Path) -> dict[str, str]:
    """A command's environment, where programs of the image win over those that lie below HOME.

    What the agent installed is found; what it named ``sh``, ``grep`` or ``python3`` is not.
    """
    env = command_environment(inherited, home, workspace)
    own, _, of_image = env["PATH"].partition(os.pathsep)
    return {**env, "PATH": f"{of_image}{os.pathsep}{own}"}


def agent_environment(
    base: Mapping[str, str], gateway_url: str | None, key: str | None, model: str | None
) -> dict[str, str]:
    """Add the gateway, as the model APIs' own clients look for it, to a command's environment."""
    env = dict(base)
    if gateway_url is not None:
        env["ANTHROPIC_BASE_URL"] = gateway_url
        env["OPENAI_BASE_URL"] = f"{gateway_url}/v1"
        env["GOOGLE_GEMINI_BASE_URL"] = gateway_url
    if key is not None:
        env["ANTHROPIC_API_KEY"] = env["OPENAI_API_KEY"] = env["GEMINI_API_KEY"] = key
    if model is not None:
        env["PROCTOR_MODEL"] = model
    return env


def _is_private(name: str) -> bool:
    return name.startswith(_PREFIXES) or name.endswith(_KEYS)
