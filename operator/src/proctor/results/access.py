"""Who may send and who may read: a token's bearer as a trial's attempt, a person, the operator.

Tokens are reviewed by the API server with the audience of this server, never logged, and known for
a minute at most by their SHA-256.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from proctor.api.errors import PlatformError
from proctor.api.evaltrial import EvalTrialSpec
from proctor.api.results import AUDIENCE
from proctor.api.stored import StoredTrial
from proctor.serving.expiring import Expiring
from proctor.serving.kube import Identity, KubeApi

TRIAL_ACCOUNT = "proctor-trial"
"""Service account of trials' pods: it sends records, and never reads."""

TOKEN_SECONDS = 60.0
ACCESS_SECONDS = 10.0
SENDER_SECONDS = 5.0
"""How long an attempt that was replaced may still send parts; its record is not taken."""


class RefusedError(Exception):
    """The bearer may not do this; the message is for them."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Sender:
    """An attempt that may send its record."""

    namespace: str
    namespace_uid: str
    trial: StoredTrial


class Access:
    """Decides by the API server's word.

    Args:
        operator: The operator's service account, ``namespace/name``; None: there is none.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        api: KubeApi,
        operator: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._operator = operator
        self._identities: Expiring[bytes, Identity] = Expiring(TOKEN_SECONDS, clock)
        self._senders: Expiring[bytes, Sender] = Expiring(SENDER_SECONDS, clock)
        self._allowed: Expiring[tuple[bytes, str, str, str], bool] = Expiring(ACCESS_SECONDS, clock)

    async def sender(self, token: str | None) -> Sender:
        """The current attempt whose pod holds the token.

        Raises:
            RefusedError: It is no such token, or not the current attempt's.
            PlatformError: The API server does not say.
        """
        identity = await self._identity(token)
        name, attempt = _trial_and_attempt(identity)
        body = await self._api.trial(identity.namespace, name)
        if body is None:
            raise RefusedError(403, f"there is no EvalTrial {identity.namespace}/{name}")
        spec = _spec(body)
        if spec.attempt != attempt:
            reason = f"attempt {attempt} is not the current one, {spec.attempt}"
            raise RefusedError(403, reason)
        if (body.get("status") or {}).get("outcome"):
            raise RefusedError(403, "the trial has ended")  # and with it grade, which alone sends
        trial = StoredTrial(
            name=name,
            uid=body["metadata"]["uid"],
            attempt=attempt,
            run=spec.run_name,
            run_uid=spec.run_uid,
            task=spec.task,
            variant=spec.variant,
            repeat=spec.repeat,
        )
        uid = await self._namespace_uid(identity.namespace)
        sender = Sender(identity.namespace, uid, trial)
        self._senders.put(_digest(token or ""), sender)
        return sender

    async def sender_of_part(self, token: str | None) -> Sender:
        """The same, as it was known a moment ago: a record may have many parts."""
        return self._senders.get(_digest(token or "")) or await self.sender(token)

    async def namespace(self, token: str | None, namespace: str, verb: str, resource: str) -> str:
        """UID of a namespace in which the bearer may do this.

        Raises:
            RefusedError: They may not, or there is no such namespace.
            PlatformError: The API server does not say.
        """
        identity = await self._identity(token)
        if identity.service_account.endswith(f"/{TRIAL_ACCOUNT}"):
            raise RefusedError(403, "a trial's token reads nothing and sends no bundles")
        if not await self._may(token or "", identity, namespace, verb, resource):
            reason = f"{identity.username} may not {verb} {resource} in namespace {namespace}"
            raise RefusedError(403, reason)
        return await self._namespace_uid(namespace)

    async def namespace_for_operator(self, token: str | None, namespace: str) -> str:
        """UID of a namespace, when the bearer is the operator; raises as ``namespace`` does."""
        identity = await self._identity(token)
        if self._operator is None or identity.service_account != self._operator:
            raise RefusedError(403, f"{identity.username} is not the operator")
        return await self._namespace_uid(namespace)

    async def _identity(self, token: str | None) -> Identity:
        if not token:
            raise RefusedError(401, "send a token with audience " + AUDIENCE)
        digest = _digest(token)
        identity = self._identities.get(digest)
        if identity is None:
            identity = await self._api.review(token, (AUDIENCE,))
            if identity is None:
                raise RefusedError(401, f"the token is not valid for audience {AUDIENCE}")
            self._identities.put(digest, identity)
        return identity

    async def _may(
        self, token: str, identity: Identity, namespace: str, verb: str, resource: str
    ) -> bool:
        key = (_digest(token), namespace, verb, resource)
        allowed = self._allowed.get(key)
        if allowed is None:
            allowed = await self._api.may(identity, verb, resource, namespace)
            self._allowed.put(key, allowed)
        return allowed

    async def _namespace_uid(self, namespace: str) -> str:
        """Asked each time: a namespace that was made again inherits nothing, not for a second."""
        uid = await self._api.namespace_uid(namespace)
        if uid is None:
            raise RefusedError(404, f"there is no namespace {namespace}")
        return uid


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _trial_and_attempt(identity: Identity) -> tuple[str, int]:
    name, _, attempt = (identity.pod_name or "").rpartition("-")
    is_trial = identity.service_account == f"{identity.namespace}/{TRIAL_ACCOUNT}"
    if not is_trial or not name or not attempt.isascii() or not attempt.isdigit():
        raise RefusedError(403, "the token is not bound to a trial's pod")
    return name, int(attempt)


def _spec(body: Mapping[str, Any]) -> EvalTrialSpec:
    try:
        return EvalTrialSpec.model_validate(body["spec"])
    except ValidationError as error:
        # Not refused: an operator of another version may have written what we do not know yet.
        fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
        raise PlatformError(f"the EvalTrial cannot be read: {fields}") from None
