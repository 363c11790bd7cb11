"""The part of a Kubernetes API server that gateway and results server ask, on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

GATEWAY_TOKEN = "gateway-token"


class FakeApiServer:
    """Knows tokens, trials and ConfigMaps; counts what it is asked."""

    def __init__(self) -> None:
        self.url = ""
        self.tokens: dict[str, dict[str, Any]] = {}
        self.trials: dict[tuple[str, str], dict[str, Any]] = {}
        self.config_maps: dict[tuple[str, str], dict[str, Any]] = {}
        self.namespaces: dict[str, str] = {"team": "team-uid"}
        self.runs: dict[str, list[dict[str, Any]]] = {}
        self.allowed: set[tuple[str, str, str, str]] = set()
        self.asked: list[str] = []
        self.broken: int | None = None

    def issue(
        self,
        token: str,
        *audiences: str,
        pod: str | None = None,
        account: str = "team:default",
    ) -> str:
        extra = {} if pod is None else _extra(pod)
        user = {"username": f"system:serviceaccount:{account}", "extra": extra}
        self.tokens[token] = {"audiences": list(audiences), "user": user}
        return token

    def add_trial(self, name: str, *, uid: str = "trial-1", **spec: Any) -> None:
        fields = {"runName": "r", "task": "t", "variant": "default", "repeat": 0, "agent": "mini"}
        self.trials["team", name] = {
            "metadata": {
                "name": name,
                "namespace": "team",
                "uid": uid,
                "creationTimestamp": "2026-01-31T09:00:00Z",
            },
            "spec": {**fields, **spec},
            "status": {},
        }

    def end_trial(self, name: str, outcome: str) -> None:
        self.trials["team", name]["status"] = {"outcome": outcome}

    def add_config_map(self, name: str, data: dict[str, str], *, immutable: bool = True) -> None:
        self.config_maps["team", name] = {"immutable": immutable, "data": data}

    async def review(self, request: web.Request) -> web.Response:
        self._see(request)
        spec = (await request.json())["spec"]
        known = self.tokens.get(spec["token"])
        audiences = [a for a in (known or {}).get("audiences", ()) if a in spec["audiences"]]
        if known is None or not audiences:
            return web.json_response({"status": {"error": "invalid token"}}, status=201)
        status = {"authenticated": True, "user": known["user"], "audiences": audiences}
        return web.json_response({"status": status}, status=201)

    def allow(self, account: str, verb: str, resource: str, namespace: str) -> None:
        self.allowed.add((f"system:serviceaccount:{account}", verb, resource, namespace))

    async def access(self, request: web.Request) -> web.Response:
        self._see(request)
        spec = (await request.json())["spec"]
        asked = spec["resourceAttributes"]
        key = (spec["user"], asked["verb"], asked["resource"], asked["namespace"])
        return web.json_response({"status": {"allowed": key in self.allowed}}, status=201)

    async def namespace(self, request: web.Request) -> web.Response:
        self._see(request)
        uid = self.namespaces.get(request.match_info["name"])
        if uid is None:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        return web.json_response({"metadata": {"uid": uid}})

    async def evalruns(self, request: web.Request) -> web.Response:
        self._see(request)
        return web.json_response({"items": self.runs.get(request.match_info["namespace"], [])})

    async def trial(self, request: web.Request) -> web.Response:
        return self._get(request, self.trials)

    async def config_map(self, request: web.Request) -> web.Response:
        return self._get(request, self.config_maps)

    def _get(
        self, request: web.Request, objects: dict[tuple[str, str], dict[str, Any]]
    ) -> web.Response:
        self._see(request)
        found = objects.get((request.match_info["namespace"], request.match_info["name"]))
        if found is None:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        return web.json_response(found)

    def _see(self, request: web.Request) -> None:
        self.asked.append(f"{request.method} {request.path}")
        if request.headers.get("authorization") != f"Bearer {GATEWAY_TOKEN}":
            raise web.HTTPUnauthorized
        if self.broken is not None:
            raise _Broken(self.broken)


class _Broken(web.HTTPException):
    status_code = 500

    def __init__(self, status: int) -> None:
        self.status_code = status
        super().__init__()


def _extra(pod: str) -> dict[str, list[str]]:
    prefix = "authentication.kubernetes.io"
    return {f"{prefix}/pod-name": [pod], f"{prefix}/pod-uid": [f"uid-of-{pod}"]}


@asynccontextmanager
async def running_api_server() -> AsyncIterator[FakeApiServer]:
    server = FakeApiServer()
    app = web.Application()
    add = app.router
    add.add_post("/apis/authentication.k8s.io/v1/tokenreviews", server.review)
    add.add_get("/apis/proctor.dev/v1alpha1/namespaces/{namespace}/evaltrials/{name}", server.trial)
    add.add_get("/api/v1/namespaces/{namespace}/configmaps/{name}", server.config_map)
    add.add_post("/apis/authorization.k8s.io/v1/subjectaccessreviews", server.access)
    add.add_get("/apis/proctor.dev/v1alpha1/namespaces/{namespace}/evalruns", server.evalruns)
    add.add_get("/api/v1/namespaces/{name}", server.namespace)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
