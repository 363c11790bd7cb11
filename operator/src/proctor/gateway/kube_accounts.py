"""Accounts of a gateway in a cluster: projected tokens of trial pods.

A token says which pod holds it; the pod's name says which trial and attempt it is; the EvalTrial
says which attempt is the current one, what it may use, and whether it has ended: the token of a pod
that is kept is good for as long as the pod is there.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from proctor.api.errors import PlatformError, SpecError
from proctor.api.evaltrial import EvalTrialSpec, TrialModels
from proctor.gateway.account import Account, Admitted, Operator, Refused, Role
from proctor.gateway.kube_cassettes import CassetteError, KubeCassettes
from proctor.gateway.local_accounts import UNKNOWN_KEY, not_current
from proctor.gateway.record_file import Recorder
from proctor.gateway.replay_tape import Tape
from proctor.serving.expiring import Expiring
from proctor.serving.kube import Identity, KubeApi
from proctor.wire.script import Script
from proctor.wire.script_text import parse_script

AGENT_AUDIENCE = "proctor-gateway-agent"
JUDGE_AUDIENCE = "proctor-gateway-judge"
OPERATOR_AUDIENCE = "proctor-gateway-operator"
_AUDIENCES = (AGENT_AUDIENCE, JUDGE_AUDIENCE, OPERATOR_AUDIENCE)
_ROLES: Mapping[str, Role] = {AGENT_AUDIENCE: "agent", JUDGE_AUDIENCE: "judge"}

TOKEN_SECONDS = 60.0
"""How long a token's review holds (sandbox rule: at most a minute)."""
TRIAL_SECONDS = 5.0
"""How long a replaced attempt may still be served."""


class _RefusedError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.refused = Refused(403, reason)


class KubeAccounts:
    """Accounts by the API server's word.

    Args:
        api: The API server.
        operator: Service account of the operator as ``namespace/name``; None: nobody reads bills.
        clock: Seconds that only grow.
        cassettes: What runs are replayed from and recorded to; None: ConfigMaps only.
    """

    def __init__(
        self,
        api: KubeApi,
        operator: str | None,
        clock: Callable[[], float] = time.monotonic,
        cassettes: KubeCassettes | None = None,
    ) -> None:
        self._api = api
        self._operator = operator
        self._cassettes = cassettes or KubeCassettes(api, None, clock)
        self._identities: Expiring[bytes, Identity] = Expiring(TOKEN_SECONDS, clock)
        self._trials: Expiring[tuple[str, str], Mapping[str, Any]] = Expiring(TRIAL_SECONDS, clock)
        self._scripts: Expiring[tuple[str, str, str], Script] = Expiring(TOKEN_SECONDS, clock)

    async def find(self, key: str) -> Admitted | Operator | Refused:
        """Look a token up; ``PlatformError`` when the API server does not say."""
        identity = await self._identity(key)
        if identity is None:
            return UNKNOWN_KEY
        try:
            return await self._holder(identity)
        except _RefusedError as error:
            return error.refused

    async def _identity(self, token: str) -> Identity | None:
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        identity = self._identities.get(digest)
        if identity is None:
            identity = await self._api.review(token, _AUDIENCES)
            if identity is not None:
                self._identities.put(digest, identity)
        return identity

    async def _holder(self, identity: Identity) -> Admitted | Operator:
        if len(identity.audiences) != 1:
            raise _RefusedError("the token is for several audiences; mount one for each")
        (audience,) = identity.audiences
        if audience == OPERATOR_AUDIENCE:
            return self._operator_of(identity)
        return Admitted(await self._account(identity), _ROLES[audience])

    def _operator_of(self, identity: Identity) -> Operator:
        if self._operator is None or identity.service_account != self._operator:
            raise _RefusedError(f"{identity.service_account!r} is not the operator's account")
        return Operator()

    async def _account(self, identity: Identity) -> Account:
        name, attempt = _trial_and_attempt(identity)
        body = await self._trial(identity.namespace, name)
        spec, metadata = _spec(body), body["metadata"]
        if spec.attempt != attempt:
            raise _RefusedError(not_current(attempt, spec.attempt).reason)
        if (body.get("status") or {}).get("outcome"):
            raise _RefusedError("the trial has ended")
        return Account(
            trial_uid=metadata["uid"],
            attempt=attempt,
            limits=spec.limits,
            mode=spec.models.mode,
            script=await self._script(identity.namespace, spec.models),
            namespace=identity.namespace,
            label=f"{spec.task}/{spec.variant}/{spec.repeat}",
            tape=await self._tape(identity.namespace, spec),
            recorder=self._recorder(identity.namespace, spec),
            opened_at=datetime.fromisoformat(metadata["creationTimestamp"]),
            model=spec.model or "",
            run_uid=spec.run_uid,
            run_budget_usd=spec.run_budget_usd,
        )

    async def _trial(self, namespace: str, name: str) -> Mapping[str, Any]:
        body = self._trials.get((namespace, name))
        if body is None:
            body = await self._api.trial(namespace, name)
            if body is None:
                raise _RefusedError(f"there is no EvalTrial {namespace}/{name}")
            self._trials.put((namespace, name), body)
        return body

    async def _tape(self, namespace: str, spec: EvalTrialSpec) -> Tape | None:
        try:
            return await self._cassettes.tape(namespace, spec.run_uid, spec.models)
        except CassetteError as error:
            raise _RefusedError(str(error)) from None

    def _recorder(self, namespace: str, spec: EvalTrialSpec) -> Recorder | None:
        try:
            return self._cassettes.recorder(namespace, spec.run_uid, spec.models)
        except CassetteError as error:
            raise _RefusedError(str(error)) from None

    async def _script(self, namespace: str, models: TrialModels) -> Script | None:
        if models.mode != "Scripted":
            return None
        if models.script_config_map is None or models.script_key is None:
            raise _RefusedError("the trial is Scripted and names no script")
        place = (namespace, models.script_config_map, models.script_key)
        script = self._scripts.get(place)
        if script is None:
            script = _parsed(await self._api.config_map(*place[:2]), place)
            self._scripts.put(place, script)
        return script


def _trial_and_attempt(identity: Identity) -> tuple[str, int]:
    name, _, attempt = (identity.pod_name or "").rpartition("-")
    if not name or not attempt.isascii() or not attempt.isdigit():
        raise _RefusedError("the token is not bound to a trial's pod")
    return name, int(attempt)


def _spec(body: Mapping[str, Any]) -> EvalTrialSpec:
    try:
        return EvalTrialSpec.model_validate(body["spec"])
    except ValidationError as error:
        # Not refused: an operator of another version may have written what we do not know yet.
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors())
        raise PlatformError(f"the EvalTrial cannot be read: {fields}") from None


def _parsed(body: Mapping[str, Any] | None, place: tuple[str, str, str]) -> Script:
    namespace, name, key = place
    if body is None:
        raise _RefusedError(f"there is no ConfigMap {namespace}/{name}")
    if body.get("immutable") is not True:
        raise _RefusedError(f"ConfigMap {namespace}/{name} can be changed; make it immutable")
    text = (body.get("data") or {}).get(key)
    if text is None:
        raise _RefusedError(f"ConfigMap {namespace}/{name} has no key {key!r}")
    try:
        return parse_script(text, key)
    except SpecError as error:
        raise _RefusedError(f"ConfigMap {namespace}/{name}: {error}") from None
