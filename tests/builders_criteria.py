"""Builders for tests of criteria and plugins, with harmless defaults."""

from typing import Any

from fakes.evidence import FakeEvidence
from proctor.api.evidence import CommandResult
from proctor.api.task import CriterionSpec
from proctor.api.validation import read_model
from proctor.api.verdict import Scored, Unscored
from proctor.plugins.builtin import builtin_registry

REGISTRY = builtin_registry()


def evidence(*results: CommandResult, reference: dict[str, str] | None = None, **files: Any):
    """Evidence with ``files`` by path (text or bytes), ``__`` standing for a dot."""
    return FakeEvidence(
        {name.replace("__", "."): _bytes(data) for name, data in files.items()},
        {name: _bytes(data) for name, data in (reference or {}).items()},
        results,
    )


def a_result(exit_code: int | None = 0, stdout: str = "", stderr: str = "", **fields: Any):
    """How a command ended."""
    return CommandResult(exit_code, stdout.encode(), stderr.encode(), 0.1, **fields)


def verdict_of(type_: str, seen: FakeEvidence, **options: Any) -> Scored | Unscored:
    """What a built-in criterion with ``options`` says about ``seen``."""
    registered = REGISTRY.check(type_)
    return registered.check(read_model(registered.model, options, "criterion"), seen)


def problems(type_: str, **options: Any) -> list[str]:
    """What is wrong with ``options``, one line each; empty when nothing is."""
    found = REGISTRY.criterion(CriterionSpec.model_validate({"type": type_, **options}), "c")
    return [str(problem) for problem in found] if isinstance(found, tuple) else []


def agent_problems(type_: str, **options: Any) -> list[str]:
    """What is wrong with an agent's options, one line each; empty when nothing is."""
    return [str(problem) for problem in REGISTRY.agent_options(type_, options, "o")[1]]


def _bytes(data: str | bytes) -> bytes:
    return data if isinstance(data, bytes) else data.encode()
