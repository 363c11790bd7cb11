"""What to do with pods that nothing more is to be learned from (pure).

Derived anew in every pass, so a restart between recording a verdict and letting go of its pod
costs nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from proctor.api.outcome import Outcome
from proctor.controller.ending import is_stuck
from proctor.controller.names import FINALIZER
from proctor.controller.observe import is_over
from proctor.controller.seen import SeenPod, SeenTrial

Policy = Literal["Keep", "KeepFailed", "Delete"]


@dataclass(frozen=True, slots=True)
class Tidy:
    """What to do with one pod: take our finalizer off it, delete it, or both."""

    pod: SeenPod
    release: bool
    delete: bool


def tidying(
    pods: Mapping[str, SeenPod], trials: Mapping[str, SeenTrial], policy: Policy
) -> Iterator[Tidy]:
    """Pods of ended trials, of attempts in the history, and of trials that are gone."""
    for pod in pods.values():
        trial = trials.get(pod.trial)
        known = trial if trial and trial.identity.uid == pod.owner else None
        if known is not None and not is_over(known, pod.attempt) and not known.identity.deleting:
            continue
        release = FINALIZER in pod.finalizers
        unwanted = _is_unwanted(known, policy) or is_stuck(pod)
        delete = pod.identity.deleting is None and unwanted
        if release or delete:
            yield Tidy(pod, release, delete)


def abandoned(pods: Mapping[str, SeenPod], trials: Mapping[str, SeenTrial]) -> Iterator[Tidy]:
    """Pods that a run which has ended left without a verdict: nobody waits for it any more.

    An upgrade of the operator can refuse a run that an earlier version had accepted.
    """
    for pod in pods.values():
        trial = trials.get(pod.trial)
        if (
            trial is not None
            and trial.identity.uid == pod.owner
            and not is_over(trial, pod.attempt)
        ):
            yield from releasing({pod.identity.name: pod})


def releasing(pods: Mapping[str, SeenPod]) -> Iterator[Tidy]:
    """Every pod of a run that is gone: nobody is left to ask for its verdict."""
    for pod in pods.values():
        release, delete = FINALIZER in pod.finalizers, pod.identity.deleting is None
        if release or delete:
            yield Tidy(pod, release, delete)


def _is_unwanted(trial: SeenTrial | None, policy: Policy) -> bool:
    """A trial's own pods go with it; others are kept for whoever looks for the reason."""
    if trial is None or policy == "Delete":
        return True
    return policy == "KeepFailed" and trial.status.outcome == Outcome.PASSED
