"""kopf's side: it logs in, watches EvalRuns, and handles signals. It decides nothing."""

import logging
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import kopf

from proctor.api.base import GROUP, VERSION
from proctor.controller.cluster import Gone, Put
from proctor.controller.kube.connection import Connection
from proctor.controller.seen import SeenRun
from proctor.controller.watched import Watched


@dataclass(frozen=True, slots=True)
class Memo:
    """What handlers get."""

    watched: Watched
    connection: Connection


async def watch_runs(memo: Memo, namespaces: Sequence[str]) -> None:
    """Follow EvalRuns until cancelled or told to stop by a signal; empty: all namespaces."""
    await kopf.operator(
        registry=_registry(),
        settings=_settings(),
        memo=memo,
        identity=cast(Any, "proctor-operator"),  # kopf's own guess needs a passwd entry
        clusterwide=not namespaces,
        namespaces=tuple(namespaces),
    )


def _registry() -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(log_in)
    kopf.on.event(GROUP, VERSION, "evalruns", registry=registry)(run_changed)
    return registry


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.server_timeout = 290
    settings.watching.client_timeout = 320
    settings.persistence.finalizer = f"{GROUP}/kopf-unused"  # kopf strips what it thinks its own
    return settings


@dataclass(frozen=True, kw_only=True)
class Login(kopf.ConnectionInfo):
    """Credentials, with the same trust as our own requests (``kube.connection``)."""

    def as_ssl_context(self) -> ssl.SSLContext:
        """The TLS context for kopf's requests."""
        context = super().as_ssl_context()
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


async def log_in(memo: Memo, **_: Any) -> kopf.ConnectionInfo:
    """Give kopf the same credentials as everything else; tokens are asked for again on 401."""
    connection = memo.connection
    return Login(
        server=connection.server,
        ca_path=str(connection.ca_file) if connection.ca_file else None,
        certificate_path=str(connection.certificate_file) if connection.certificate_file else None,
        private_key_path=str(connection.key_file) if connection.key_file else None,
        insecure=connection.insecure,
        scheme="Bearer" if connection.token() else None,
        token=connection.token(),
    )


async def run_changed(event: kopf.RawEvent, memo: Memo, **_: Any) -> None:
    """An EvalRun was listed, added, changed or removed: mirror it, and its run is due."""
    try:
        run = SeenRun.from_body(event["object"])
    except (KeyError, ValueError) as error:
        logging.getLogger(__name__).warning("an EvalRun cannot be read: %r", error)
        return
    memo.watched.runs.take(Gone(run) if event["type"] == "DELETED" else Put(run), None)
