"""Records in folders, and a results server beside a fake API server."""

import asyncio
import hashlib
import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from builders_planning import a_spec, a_task
from fakes.api_server import GATEWAY_TOKEN, FakeApiServer, running_api_server
from proctor.api.results import AUDIENCE, RECORDS, TOKEN_HEADER, bundles_of, records_of
from proctor.planning.bundle import packed
from proctor.results.config import ResultsConfig
from proctor.results.process import Listen, Running, run_results
from proctor.serving.kube import ApiServer

READER = "team:reader"
WRITER = "team:writer"
OPERATOR = "proctor-system:proctor-operator"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class ARecord:
    """A record folder's content: parts by path, and the manifest that names them."""

    parts: Mapping[str, bytes]
    manifest: bytes = b""
    digest: str = ""

    @property
    def by_digest(self) -> dict[str, bytes]:
        return {sha(data): data for data in self.parts.values()}

    @classmethod
    def of(cls, parts: Mapping[str, bytes]) -> "ARecord":
        described = [
            {"path": path, "sha256": sha(data), "size": len(data)}
            for path, data in sorted(parts.items())
        ]
        body = {"schemaVersion": "1.0", "producer": "proctor/test", "parts": described}
        manifest = json.dumps(body).encode()
        return cls(parts, manifest, sha(manifest))


def an_execution(uid: str = "trial-1", attempt: int = 1) -> bytes:
    trial = {"run": "r", "task": "t", "variant": "default", "repeat": 0}
    body = {
        "schemaVersion": "1.0",
        "trial": {**trial, "uid": uid, "attempt": attempt},
        "context": {},
        "lineage": {},
        "agent": {"status": "completed"},
        "bill": {"mode": "Live"},
        "seconds": {},
    }
    return json.dumps(body).encode()


def a_record(uid: str = "trial-1", attempt: int = 1, **parts: bytes) -> ARecord:
    named = {name.replace("__", "/").replace("_", "."): data for name, data in parts.items()}
    return ARecord.of({"execution.json": an_execution(uid, attempt), **named})


def a_bundle(*names: str) -> ARecord:
    """A bundle's content, in the form of a record's."""
    bundle = packed(a_spec(tasks=[a_task(name) for name in names or ("hello",)]).tasks)
    return ARecord(bundle.parts, bundle.manifest, bundle.digest)


@dataclass
class ResultsBench:
    """A server that can be started again on the same volume, and its callers."""

    api: FakeApiServer
    folder: Path
    config: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    running: Running | None = None
    session: aiohttp.ClientSession | None = None

    def __post_init__(self) -> None:
        (self.folder / "token").write_text(GATEWAY_TOKEN)
        self.api.add_trial("r-abc", attempt=1, runUid="run-uid")
        self.grade = self.api.issue(
            "grade-token", AUDIENCE, pod="r-abc-1", account="team:proctor-trial"
        )
        self.reader = self.api.issue("reader-token", AUDIENCE, account=READER)
        self.api.allow(READER, "get", "evaltrials", "team")
        self.writer = self.api.issue("writer-token", AUDIENCE, account=WRITER)
        self.api.allow(WRITER, "create", "evalruns", "team")
        self.operator = self.api.issue("operator-token", AUDIENCE, account=OPERATOR)
        self.config.setdefault("operatorServiceAccount", OPERATOR.replace(":", "/"))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["ResultsBench"]:
        config = ResultsConfig.model_validate({"folder": self.folder / "data", **self.config})
        server = ApiServer(self.api.url, self.folder / "token")
        listen = Listen("127.0.0.1", 0, 0, 0.5)
        async with (
            run_results(config, server, listen, self.environment) as self.running,
            aiohttp.ClientSession() as self.session,
        ):
            yield self

    @property
    def upload_url(self) -> str:
        assert self.running is not None
        return f"http://127.0.0.1:{self.running.upload_port}"

    @property
    def read_url(self) -> str:
        assert self.running is not None
        return f"http://127.0.0.1:{self.running.read_port}"

    async def ready(self) -> None:
        assert self.session is not None
        async with asyncio.timeout(20):
            while await self._probe() != 200:  # noqa: ASYNC110 - as a kubelet does
                await asyncio.sleep(0.02)

    async def _probe(self) -> int:
        assert self.session is not None
        async with self.session.get(f"{self.read_url}/readyz") as answer:
            return answer.status

    async def put(
        self, path: str, body: bytes, token: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {token or self.grade}"}
        return await self._put(self.upload_url + path, body, headers)

    async def put_read(
        self, path: str, body: bytes, token: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send to the port for people."""
        return await self._put(self.read_url + path, body, {TOKEN_HEADER: token or self.writer})

    async def _put(
        self, url: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        assert self.session is not None
        async with self.session.put(url, data=io.BytesIO(body), headers=headers) as answer:
            text = await answer.text()
            try:
                return answer.status, json.loads(text) if text else {}
            except ValueError:
                return answer.status, {"error": text}

    async def push(
        self, bundle: ARecord, *, namespace: str = "team", token: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        """As `proctor push` does: manifest, missing parts, manifest."""
        path = f"{bundles_of(namespace)}/{bundle.digest}"
        status, body = await self.put_read(path, bundle.manifest, token)
        if status != 202:
            return status, body
        for missing in body["missing"]:
            data = bundle.by_digest[missing]
            status, body = await self.put_read(f"{path}/parts/{missing}", data, token)
            if status != 204:
                return status, body
        return await self.put_read(path, bundle.manifest, token)

    async def send(self, record: ARecord, token: str | None = None) -> tuple[int, dict[str, Any]]:
        """As grade does: manifest, missing parts, manifest."""
        path = f"{RECORDS}/{record.digest}"
        status, body = await self.put(path, record.manifest, token)
        if status != 202:
            return status, body
        for missing in body["missing"]:
            data = record.by_digest[missing]
            status, body = await self.put(f"{path}/parts/{missing}", data, token)
            if status != 204:
                return status, body
        return await self.put(path, record.manifest, token)

    async def get(self, path: str, token: str | None = None) -> tuple[int, bytes]:
        assert self.session is not None
        headers = {TOKEN_HEADER: token or self.reader}
        async with self.session.get(self.read_url + path, headers=headers) as answer:
            return answer.status, await answer.read()

    async def listed(self, query: str = "") -> list[dict[str, Any]]:
        status, body = await self.get(records_of("team") + query)
        assert status == 200, body
        items: list[dict[str, Any]] = json.loads(body)["items"]
        return items


@asynccontextmanager
async def a_results_bench(folder: Path) -> AsyncIterator[ResultsBench]:
    async with running_api_server() as api:
        yield ResultsBench(api, folder)
