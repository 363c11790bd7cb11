"""Secret values that a phase was given: checked, handed on, and taken out of what it keeps.

Standard library only: the phase ``agent`` imports it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.api.redaction import LEAST_CHARACTERS, SECRET_FOLDERS, Redactor, secrets_of

_MOST_FILES, _MOST_BYTES = 200, 1 << 20  # a Secret holds 1 MiB

KEY_NAME, PASS_NAME = "gateway key", "egress pass"
"""What stands in the place of a phase's own key, and of its pass for the egress proxy."""


class SecretValueError(PlatformError):
    """The value of a variable in ``agent.secretEnv`` cannot be used; it is never shown."""


def agent_secrets(names: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The agent's secret variables.

    Raises:
        LookupError: When the process was not given one that the orders name: a fault of ours.
    """
    given = secrets_of(environ)
    return {name: given[name] for name in names}


def require_redactable(secrets: Mapping[str, str]) -> None:
    """Refuse values that could not be taken out of transcripts.

    Raises:
        SecretValueError: It names the variable, and how long its value is.
    """
    for name, value in secrets.items():
        length = len(value.strip())
        if length < LEAST_CHARACTERS:
            raise SecretValueError(
                f"agent.secretEnv {name}: its value has {length} characters, and one shorter than "
                f"{LEAST_CHARACTERS} cannot be told from other text: use a longer one, or agent.env"
            )


def phase_redactor(
    environ: Mapping[str, str], key: str | None, egress_pass: str | None = None
) -> Redactor:
    """Takes out every secret of this process's environment, its key, and its trial's pass."""
    given = {KEY_NAME: key, PASS_NAME: egress_pass}
    own = {name: value for name, value in given.items() if value}
    return Redactor({**_mounted(environ), **secrets_of(environ), **own})


def _mounted(environ: Mapping[str, str]) -> dict[str, str]:
    """Values of Secrets that are mounted as files: path in the volume → content.

    What is no text is looked for as far as it is text.
    """
    values: dict[str, str] = {}
    folders = [Path(folder) for folder in environ.get(SECRET_FOLDERS, "").split(":") if folder]
    for folder in folders:
        for path in sorted(folder.rglob("*"))[:_MOST_FILES]:
            if path.is_file() and path.stat().st_size <= _MOST_BYTES:
                name = f"{folder.name}/{path.relative_to(folder)}"
                values[name] = path.read_bytes().decode(errors="ignore")
    return values
