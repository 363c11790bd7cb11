"""Options of the agent type ``command``."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from proctor.api.base import Spec
from proctor.api.validation import require_one

PromptWay = Literal["Stdin", "Argument", "File", "Env"]


class CommandOptions(Spec):
    """Any command line as an agent; it runs once for each user message."""

    command: Annotated[
        Annotated[str, StringConstraints(pattern=r"^[^\x00]+$", min_length=1, max_length=8192)]
        | None,
        Field(description="Command line, run by the image's `sh -c` in the workspace."),
    ] = None
    argv: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=8192)], ...]
        | None,
        Field(
            min_length=1,
            max_length=256,
            description="Program and arguments, for images without a shell; instead of command.",
        ),
    ] = None
    prompt: Annotated[
        PromptWay,
        Field(
            description="How it gets the prompt. Stdin: it reads it. Argument: as last argument, "
            '"$1" in a command line. File: as last argument and PROCTOR_PROMPT_FILE, the path of '
            "a file that holds it. Env: in the variable PROCTOR_PROMPT."
        ),
    ] = "Stdin"

    @model_validator(mode="after")
    def _one_command(self) -> Self:
        require_one(command=self.command, argv=self.argv)
        return self
