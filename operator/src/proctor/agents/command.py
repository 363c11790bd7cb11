"""``command``: any command line as an agent. Standard library only.

It runs once for each user message. What it prints is the transcript; its exit code says whether
it crashed. How often it asks a model only the gateway knows.
"""

import signal
from collections.abc import Mapping
from dataclasses import dataclass

from proctor.agents.contract import Emit, Session, TurnLimits
from proctor.agents.output import Capture, LiveText
from proctor.agents.process import STDERR, STDOUT, running
from proctor.agents.turn import OUTPUT_CHARS, Ending, Turn, answering
from proctor.api.events import AgentEnd

LIVE_BYTES = 1_048_576
"""Of each stream that go into the transcript, for one user message."""

_NAMES = {STDOUT: "stdout", STDERR: "stderr"}
_DRAIN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Call:
    """How the command is started for one prompt."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bytes | None = None


class CommandAgent:
    """Starts a command for each user message and waits for its end."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._turns = 0

    async def start(self, session: Session) -> None:
        """Remember where to run."""
        self._session = session

    async def turn(self, prompt: str, limits: TurnLimits, emit: Emit) -> AgentEnd:
        """Run the command; ``crashed`` when it ends with another exit code than 0."""
        session = self._session
        if session is None:
            raise RuntimeError("turn before start")
        self._turns += 1
        turn = Turn(self._turns, emit)
        turn.start(prompt, session.model)

        async def work() -> Ending:
            return await _run(turn, session, prompt)

        return await answering(turn, limits.timeout_seconds, work)

    async def stop(self) -> None:
        """Nothing runs between turns."""


async def _run(turn: Turn, session: Session, prompt: str) -> Ending:
    printed = {fd: Capture(OUTPUT_CHARS) for fd in _NAMES}
    live = {fd: LiveText(LIVE_BYTES) for fd in _NAMES}

    def take(fd: int, data: bytes) -> None:
        printed[fd].feed(data)
        turn.text(_NAMES[fd], live[fd].feed(data))

    call = call_for(session, prompt, turn.number)
    try:
        async with running(
            call.argv, cwd=session.workspace, env=call.env, on_output=take, stdin=call.stdin
        ) as child:
            code = await child.exit_code()
            await child.silence(_DRAIN_SECONDS)
    finally:
        turn.output = printed[STDOUT].text()
    return _ending(code, printed[STDERR].text())


def call_for(session: Session, prompt: str, turn: int) -> Call:
    """The command with its prompt, handed over as the options say.

    A prompt file lies in HOME, not in the workspace, which is what gets graded.
    """
    way = session.options.get("prompt", "Stdin")
    if way == "Argument":
        return Call(_argv(session, prompt), session.env)
    if way == "Env":
        return Call(_argv(session), {**session.env, "PROCTOR_PROMPT": prompt})
    if way == "File":
        file = session.home / f".proctor-prompt-{turn}.txt"
        file.write_text(prompt, encoding="utf-8")
        return Call(_argv(session, str(file)), {**session.env, "PROCTOR_PROMPT_FILE": str(file)})
    return Call(_argv(session), session.env, prompt.encode())


def _argv(session: Session, *arguments: str) -> tuple[str, ...]:
    argv = session.options.get("argv")
    if argv is not None:
        return (*argv, *arguments)
    return ("sh", "-c", session.options["command"], "sh", *arguments)


def _ending(code: int, stderr: str) -> Ending:
    if code == 0:
        return Ending()
    said = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    last = f"; stderr: {said[:200]}" if said else ""
    if code > 0:
        return Ending("crashed", f"exit code {code}{last}")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return Ending("crashed", f"killed by {name}{last}")
