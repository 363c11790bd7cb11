"""Asks a criterion for its verdict; whatever it does, the answer is a verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.api.catalog import Source, Traits
from proctor.api.evidence import CommandResult, Evidence, EvidenceLimitError
from proctor.api.verdict import Scored, Unscored, Verdict
from proctor.plugins.errors import PluginError
from proctor.plugins.registrar import RegisteredCriterion


def judge(
    registered: RegisteredCriterion, options: Mapping[str, Any], evidence: Evidence
) -> Verdict:
    """Judge one criterion.

    Args:
        registered: Its type.
        options: Its own fields, as planning wrote them into the orders.
        evidence: All there is; the criterion sees what its traits declare.

    Returns:
        What the check says. ``Scored`` 0 when the agent left more than the evidence limits allow;
        ``Unscored`` when the check raised, which is ours.
    """
    try:
        criterion = registered.model.model_validate(dict(options))
        return registered.check(criterion, DeclaredEvidence(evidence, registered.traits))
    except EvidenceLimitError as error:
        return Scored(0.0, f"evidence is beyond its limit: {error}")
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return Unscored(f"criterion {registered.type} failed: {type(error).__name__}: {error}")


class DeclaredEvidence:
    """Evidence that raises ``PluginError`` for what the traits do not declare."""

    def __init__(self, evidence: Evidence, traits: Traits) -> None:
        self._evidence = evidence
        self._traits = traits

    def files(self, glob: str) -> Mapping[str, bytes]:
        """See ``Evidence.files``."""
        self._need("files")
        return self._evidence.files(glob)

    def is_directory(self, path: str) -> bool:
        """See ``Evidence.is_directory``."""
        self._need("files")
        return self._evidence.is_directory(path)

    def reference(self, glob: str) -> Mapping[str, bytes]:
        """See ``Evidence.reference``."""
        self._need("reference")
        return self._evidence.reference(glob)

    def commands(self) -> Sequence[CommandResult]:
        """See ``Evidence.commands``."""
        if not self._traits.checks:
            raise PluginError("it reads command results, but its traits do not declare 'checks'")
        return self._evidence.commands()

    def _need(self, source: Source) -> None:
        if source not in self._traits.reads:
            raise PluginError(f"it reads {source!r}, but its traits do not declare that")
