"""``mini``: a small agent loop of our own. Standard library only.

It asks the model, runs the tools that it wants and asks again, until it wants none. The history
lives as long as the adapter, so a later user message goes on where the last answer ended.
"""

from dataclasses import dataclass, field
from typing import Any

from proctor.agents.contract import Emit, Session, TurnLimits
from proctor.agents.mini.chat import ChatDialect
from proctor.agents.mini.dialect import Dialect, Message, Question, Reply, ToolCall, ToolResult
from proctor.agents.mini.messages import MessagesDialect
from proctor.agents.mini.model import Model, ModelError
from proctor.agents.mini.tools import SPECS, ToolError, Tools
from proctor.agents.turn import Ending, Turn, answering
from proctor.api.events import AgentEnd

SYSTEM_PROMPT = (
    "You are a careful software engineer working in a workspace on Linux. Use the tools to do "
    "what the user asks; paths are relative to the workspace. Check your work. When it is done, "
    "answer with a short summary and no tool call."
)

_DIALECTS: dict[str, type[MessagesDialect] | type[ChatDialect]] = {
    "Messages": MessagesDialect,
    "ChatCompletions": ChatDialect,
}


@dataclass(slots=True)
class Conversation:
    """What lasts from turn to turn."""

    model_name: str
    model: Model
    dialect: Dialect
    tools: Tools
    options: Any
    history: list[Message] = field(default_factory=list)

    def question(self) -> Question:
        """The next model call."""
        return Question(
            model=self.model_name,
            system=self.options.get("systemPrompt") or SYSTEM_PROMPT,
            messages=self.history,
            tools=[SPECS[name] for name in self.options.get("tools", SPECS)],
            max_output_tokens=self.options.get("maxOutputTokens", 4096),
        )


class MiniAgent:
    """The adapter of the loop."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._conversation: Conversation | None = None
        self._turns = 0

    async def start(self, session: Session) -> None:
        """Remember the session; the model is first asked in a turn."""
        self._session = session

    async def turn(self, prompt: str, limits: TurnLimits, emit: Emit) -> AgentEnd:
        """Answer one user message; ``crashed`` when the model cannot be asked."""
        session = self._session
        if session is None:
            raise RuntimeError("turn before start")
        self._turns += 1
        turn = Turn(self._turns, emit, generations=0)
        turn.start(prompt, session.model)

        async def work() -> Ending:
            if self._conversation is None:
                self._conversation = _conversation(session)
            self._conversation.history.append(self._conversation.dialect.user(prompt))
            try:
                return await _loop(turn, self._conversation, limits.max_turns)
            except ModelError as error:
                return Ending("crashed", str(error))

        return await answering(turn, limits.timeout_seconds, work)

    async def stop(self) -> None:
        """End what shell commands left running."""
        if self._conversation is not None:
            await self._conversation.tools.stop()


def _conversation(session: Session) -> Conversation:
    if session.gateway_url is None:
        raise ModelError("mini needs the model gateway, and there is none")
    if session.model is None:
        raise ModelError("mini needs a model; set agent.model")
    dialect = _DIALECTS[session.options.get("api", "Messages")]()
    return Conversation(
        model_name=session.model,
        model=Model(dialect, session.gateway_url.rstrip("/"), session.api_key or ""),
        dialect=dialect,
        tools=Tools(session),
        options=session.options,
    )


async def _loop(turn: Turn, conversation: Conversation, max_turns: int | None) -> Ending:
    while max_turns is None or (turn.generations or 0) < max_turns:
        generation = f"{turn.number}.{(turn.generations or 0) + 1}"
        turn.generation_start(generation, conversation.model_name)
        reply = await conversation.model.ask(conversation.question())
        _report(turn, generation, reply)
        results = [await _tool(turn, generation, conversation.tools, call) for call in reply.calls]
        # together, so that a turn cut short leaves no tool call without its result behind
        conversation.history.append(reply.message)
        if not results:
            return Ending()
        conversation.history.extend(conversation.dialect.results(results))
    return Ending("max_turns")


def _report(turn: Turn, generation: str, reply: Reply) -> None:
    turn.text(generation, reply.thinking, thinking=True)
    turn.text(generation, reply.text)
    turn.generation_end(stop_reason=reply.stop_reason, usage=reply.usage)
    turn.output = reply.text or turn.output


async def _tool(turn: Turn, generation: str, tools: Tools, call: ToolCall) -> ToolResult:
    turn.tool_start(generation, call.id, call.name, dict(call.parameters))
    try:
        if call.problem is not None:
            raise ToolError(call.problem)
        text = await tools.run(call.name, call.parameters)
    except ToolError as error:
        turn.tool_end(call.id, "error", str(error))
        return ToolResult(call.id, str(error), is_error=True)
    turn.tool_end(call.id, "ok", text)
    return ToolResult(call.id, text)
