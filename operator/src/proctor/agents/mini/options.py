"""Options of the agent type ``mini``."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from proctor.api.base import Spec

Api = Literal["Messages", "ChatCompletions"]
ToolName = Literal["read", "write", "list", "shell"]


class MiniOptions(Spec):
    """A small agent loop: it asks a model, runs the tools that it wants, until it wants none."""

    api: Annotated[
        Api,
        Field(description="Model API it speaks: Anthropic Messages or OpenAI Chat Completions."),
    ] = "Messages"
    system_prompt: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=65_536)] | None,
        Field(description="Replaces its own system prompt."),
    ] = None
    tools: Annotated[
        tuple[ToolName, ...],
        Field(max_length=4, description="Tools that the model may use, in the workspace."),
    ] = ("read", "write", "list", "shell")
    max_output_tokens: Annotated[
        int, Field(ge=1, le=1_000_000, description="Most output tokens of one model call.")
    ] = 4096
    shell_timeout_seconds: Annotated[
        int, Field(ge=1, le=3600, description="Limit for one shell command, in seconds.")
    ] = 120
