"""What the providers of models did to the trials of a run (pure)."""

from collections.abc import Iterable

from proctor.api.evaltrial import AttemptStatus, EvalTrialStatus
from proctor.api.outcome import FailureClass


def provider_failures(ended: Iterable[EvalTrialStatus]) -> str:
    """How many trials failed at a provider, and what it last answered; empty when none did."""
    failed = [
        (status.completion_time or "", status.attempts[-1])
        for status in ended
        if status.attempts and status.attempts[-1].failure_class == FailureClass.PROVIDER
    ]
    if not failed:
        return ""
    last: AttemptStatus = max(failed, key=lambda one: one[0])[1]
    trials = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
    return f"{trials} failed at a provider of models, the last one with: {last.message}"
