"""What the author of a criterion writes: a model of its fields, and one pure function.

A criterion is judged in two phases. What it needs from the world it names beforehand
(``commands``), and the container ``checks`` runs it; then its check looks at frozen evidence and
nothing else: no clock, no file system, no process. Whatever a check raises is our fault, never
the agent's zero; ``plugins`` turns it into ``Unscored``.
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

from proctor.api.base import Spec
from proctor.api.catalog import Source, Traits
from proctor.api.evidence import Command, Evidence
from proctor.api.verdict import Verdict


class Criterion(Spec):
    """The fields of one criterion type, besides ``type, name, weight, passThreshold``.

    snake_case in Python, camelCase on the wire, frozen; an unknown field is an error.

    Attributes:
        type: Its name in manifests, such as ``run_command``.
        traits: What it needs, known before any of its code runs.
        default_pass_threshold: Score from which it counts as passed, in [0, 1], where its author
            does not say.
    """

    type: ClassVar[str]
    traits: ClassVar[Traits] = Traits()
    default_pass_threshold: ClassVar[float] = 0.9

    def reads(self) -> frozenset[Source]:
        """What this one looks at: all that ``traits`` declares, or less."""
        return self.traits.reads

    def commands(self) -> Sequence[Command]:
        """What ``checks`` runs for it, in order; needs ``traits.checks``."""
        return ()


C = TypeVar("C", bound=Criterion, contravariant=True)


class Check(Protocol[C]):
    """Judges a criterion by its evidence. Pure: the same evidence gives the same verdict."""

    def __call__(self, criterion: C, evidence: Evidence, /) -> Verdict:
        """Say how good the evidence is.

        Returns:
            ``Scored`` when it was checked, also when what the agent left is missing, broken or
            beyond limits; ``Unscored`` when evidence that the platform owes is missing.

        Raises:
            EvidenceLimitError: From the evidence, when the agent left more than the limits allow;
                the caller scores it 0 and names the limit.
        """
