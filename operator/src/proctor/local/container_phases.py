"""The phases of a trial that run code of the task or the agent, each in a container of its own."""

from proctor.api.report import EXIT_CANNOT_START
from proctor.local.engine import Engine
from proctor.local.phases import PhaseEnd, PhaseOrder, Phases, last_line


class ContainerPhases:
    """Runs phases in containers, and those that have none where ``here`` says."""

    def __init__(self, engine: Engine, here: Phases) -> None:
        self._engine = engine
        self._here = here

    async def run(self, order: PhaseOrder) -> PhaseEnd:
        """Run one phase to its end."""
        if order.confined is None:
            return await self._here.run(order)
        container = order.confined.container(order.name, order.arguments, order.variables)
        end = await self._engine.run(container, order.log, order.timeout_seconds)
        exit_code = EXIT_CANNOT_START if end.exit_code is None else end.exit_code
        return PhaseEnd(
            exit_code,
            end.timed_out,
            last_line(order.log),
            out_of_memory=end.out_of_memory,
            started=end.timed_out or exit_code != EXIT_CANNOT_START,
        )

    def kill(self) -> None:
        """End all phases at once."""
        self._engine.kill()
        self._here.kill()
