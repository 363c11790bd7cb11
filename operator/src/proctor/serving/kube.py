"""The API server, as far as our servers ask it: who holds a token, what they may do, a trial.

The gateway may ask for ``tokenreviews: create``, ``evaltrials: get``, ``configmaps: get``; the
results server for ``tokenreviews``, ``subjectaccessreviews: create``, ``evaltrials``, ``evalruns``,
``namespaces: get`` and ``evalruns: list``.
"""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from proctor.api.base import GROUP, VERSION
from proctor.api.errors import PlatformError

_POD_NAME = "authentication.kubernetes.io/pod-name"
_POD_UID = "authentication.kubernetes.io/pod-uid"
_SERVICE_ACCOUNT = "system:serviceaccount:"
_TIMEOUT = aiohttp.ClientTimeout(total=10)


@dataclass(frozen=True, slots=True)
class ApiServer:
    """Where the API server is and how to speak to it.

    Args:
        url: Without a slash at the end.
        token_file: The gateway's own token; read again for each request, because it rotates.
        ca_file: Certificate authority; None: the system's.
    """

    url: str
    token_file: Path
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose a token is.

    Args:
        audiences: Those of the asked ones that it is for; at least one.
        service_account: ``namespace/name``; empty when it is none.
        pod_name: None when the token is not bound to a pod; so with ``pod_uid``.
        username, uid, groups, extra: As an access review takes them.
    """

    audiences: frozenset[str]
    service_account: str
    pod_name: str | None
    pod_uid: str | None
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """Namespace of the service account and of the pod."""
        return self.service_account.partition("/")[0]


class KubeApi:
    """Asks the API server."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        context = ssl.create_default_context(cafile=server.ca_file)
        # Python 3.13 refuses authorities without a key usage, which many clusters have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self._session = aiohttp.ClientSession(
            timeout=_TIMEOUT, connector=aiohttp.TCPConnector(ssl=context)
        )

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()

    async def review(self, token: str, audiences: tuple[str, ...]) -> Identity | None:
        """Whose a token is; None when it is not valid for any of the audiences.

        Raises:
            PlatformError: When the API server does not say.
        """
        asked = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": list(audiences)},
        }
        body = await self._send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", asked)
        return None if body is None else _identity(body.get("status") or {}, audiences)

    async def trial(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        """An EvalTrial as JSON; None when there is none; ``PlatformError`` as above."""
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/evaltrials/{name}"
        return await self._send("GET", path)

    async def may(self, user: "Identity", verb: str, resource: str, namespace: str) -> bool:
        """Whether a user may do this to all ``resource`` of ``proctor.dev`` in a namespace.

        ``PlatformError`` as above.
        """
        spec = {
            "user": user.username,
            "groups": list(user.groups),
            "uid": user.uid,
            "extra": {key: list(values) for key, values in user.extra.items()},
            "resourceAttributes": {
                "namespace": namespace,
                "verb": verb,
                "group": GROUP,
                "resource": resource,
            },
        }
        kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        body = await self._send("POST", path, {**kind, "spec": spec})
        return body is not None and (body.get("status") or {}).get("allowed") is True

    async def namespace_uid(self, name: str) -> str | None:
        """UID of a namespace; None when there is none; ``PlatformError`` as above."""
        body = await self._send("GET", f"/api/v1/namespaces/{name}")
        return None if body is None else str(body["metadata"]["uid"])

    async def runs(self, namespace: str) -> Sequence[Mapping[str, Any]]:
        """All EvalRuns of a namespace as JSON; ``PlatformError`` as above."""
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/evalruns"
        return (await self._send("GET", path) or {}).get("items") or ()

    async def config_map(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        """A ConfigMap as JSON; None when there is none; ``PlatformError`` as above."""
        return await self._send("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}")

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any] | None:
        try:
            token = self._server.token_file.read_text("utf-8").strip()
            async with self._session.request(
                method,
                f"{self._server.url}{path}",
                json=body,
                headers={"authorization": f"Bearer {token}"},
                allow_redirects=False,
            ) as response:
                return await _object(response, method, path)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise PlatformError(
                f"the API server cannot be asked: {type(error).__name__}"
            ) from error


async def _object(
    response: aiohttp.ClientResponse, method: str, path: str
) -> Mapping[str, Any] | None:
    if response.status == 404 and method == "GET":
        return None
    if response.status >= 300:
        raise PlatformError(f"the API server answered {response.status} to {method} {path}")
    body = await response.json()
    if not isinstance(body, dict):
        raise PlatformError(f"the API server's answer to {method} {path} is not an object")
    return body


def _identity(status: Mapping[str, Any], asked: tuple[str, ...]) -> Identity | None:
    audiences = frozenset(status.get("audiences") or ()) & frozenset(asked)
    if status.get("authenticated") is not True or not audiences:
        return None
    user = status.get("user") or {}
    name = str(user.get("username") or "")
    account = name.removeprefix(_SERVICE_ACCOUNT).replace(":", "/", 1)
    return Identity(
        audiences=audiences,
        service_account=account if name.startswith(_SERVICE_ACCOUNT) else "",
        pod_name=_first(user, _POD_NAME),
        pod_uid=_first(user, _POD_UID),
        username=name,
        uid=str(user.get("uid") or ""),
        groups=tuple(user.get("groups") or ()),
        extra={key: tuple(values) for key, values in (user.get("extra") or {}).items()},
    )


def _first(user: Mapping[str, Any], key: str) -> str | None:
    values = (user.get("extra") or {}).get(key) or ()
    return str(values[0]) if values else None
