"""Accounts of a gateway without a cluster: random keys."""

import hashlib
import secrets
from dataclasses import dataclass

from proctor.gateway.account import Account, Admitted, Refused

UNKNOWN_KEY = Refused(401, "this API key is not one of a running trial")


@dataclass(frozen=True, slots=True)
class Keys:
    """The two keys of an account; its agent gets one, ``grade`` the other."""

    agent: str
    judge: str


class LocalAccounts:
    """Accounts by random keys; of a trial only the attempt admitted last is served."""

    def __init__(self) -> None:
        self._admitted: dict[bytes, Admitted] = {}
        self._current: dict[str, int] = {}

    def admit(self, account: Account) -> Keys:
        """Make keys for an attempt; those of the trial's other attempts end."""
        keys = Keys(*(f"proctor-{role}-{secrets.token_urlsafe(32)}" for role in ("agent", "judge")))
        self._current[account.trial_uid] = account.attempt
        self._admitted[_digest(keys.agent)] = Admitted(account, "agent")
        self._admitted[_digest(keys.judge)] = Admitted(account, "judge")
        return keys

    def remove(self, trial_uid: str) -> None:
        """Forget a trial and its keys."""
        self._current.pop(trial_uid, None)
        kept = {k: v for k, v in self._admitted.items() if v.account.trial_uid != trial_uid}
        self._admitted = kept

    async def find(self, key: str) -> Admitted | Refused:
        """Look a key up by its digest, so that time tells nothing about the keys."""
        known = self._admitted.get(_digest(key))
        if known is None:
            return UNKNOWN_KEY
        current = self._current[known.account.trial_uid]
        if known.account.attempt != current:
            return not_current(known.account.attempt, current)
        return known


def not_current(attempt: int, current: int) -> Refused:
    """The refusal of an attempt that another one has replaced."""
    return Refused(403, f"attempt {attempt} is over: the trial is at attempt {current}")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
