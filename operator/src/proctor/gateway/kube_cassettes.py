"""Cassettes of a gateway in a cluster: from immutable ConfigMaps, and on the gateway's own volume.

On the volume each namespace has a folder of its own, and nobody reaches another's.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from proctor.api.errors import SpecError
from proctor.api.evaltrial import TrialModels
from proctor.gateway.cassette import Cassette
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.record_file import Recorder
from proctor.gateway.replay_tape import Tape
from proctor.serving.expiring import Expiring
from proctor.serving.kube import KubeApi

KEPT_SECONDS = 3600.0
"""How long a run without a call keeps its place in a cassette."""


class CassetteError(Exception):
    """A trial's cassette cannot be used; the message is for whoever runs it."""


class KubeCassettes:
    """The tapes and recorders of runs; one of each for a run.

    Args:
        api: The API server.
        folder: The volume of cassettes; None: there is none.
        clock: Seconds that only grow.
    """

    def __init__(self, api: KubeApi, folder: Path | None, clock: Callable[[], float]) -> None:
        self._api = api
        self._folder = folder
        self._tapes: Expiring[tuple[str, ...], Tape] = Expiring(KEPT_SECONDS, clock)
        self._recorders: Expiring[tuple[str, ...], Recorder] = Expiring(KEPT_SECONDS, clock)

    async def tape(self, namespace: str, run_uid: str, models: TrialModels) -> Tape | None:
        """What answers a run in mode ``Replay``; None in any other.

        Raises:
            CassetteError: When there is no such cassette, or it is none.
            PlatformError: When the API server does not say.
        """
        if models.mode != "Replay":
            return None
        place = (models.cassette_config_map or "", models.cassette_key or "")
        key = (namespace, run_uid, *place, models.cassette_path or "")
        tape = self._tapes.get(key)
        if tape is None:
            name, text = await self._text(namespace, models)
            tape = await asyncio.to_thread(_parsed, text, name)
        self._tapes.put(key, tape)
        return tape

    def recorder(self, namespace: str, run_uid: str, models: TrialModels) -> Recorder | None:
        """Where a run in mode ``Record`` is recorded; None in any other; may raise as above."""
        if models.mode != "Record":
            return None
        path = self._path(namespace, models)
        key = (run_uid, str(path))
        recorder = self._recorders.get(key) or Recorder(path, run_uid)
        self._recorders.put(key, recorder)
        return recorder

    async def _text(self, namespace: str, models: TrialModels) -> tuple[str, str]:
        if models.cassette_config_map is not None:
            return await self._of_config_map(namespace, models)
        path = self._path(namespace, models)
        try:
            text = await asyncio.to_thread(path.read_text, "utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CassetteError(f"cassette {models.cassette_path!r}: {error}") from None
        return f"cassette {models.cassette_path!r}", text

    async def _of_config_map(self, namespace: str, models: TrialModels) -> tuple[str, str]:
        name, key = models.cassette_config_map or "", models.cassette_key or ""
        where = f"ConfigMap {namespace}/{name}"
        body = await self._api.config_map(namespace, name)
        if body is None:
            raise CassetteError(f"there is no {where}")
        if body.get("immutable") is not True:
            raise CassetteError(f"{where} can be changed; make it immutable")
        text = (body.get("data") or {}).get(key)
        if text is None:
            raise CassetteError(f"{where} has no key {key!r}")
        return where, text

    def _path(self, namespace: str, models: TrialModels) -> Path:
        if self._folder is None:
            raise CassetteError(
                "this gateway has no volume of cassettes: set gateway.cassettes in the chart"
            )
        if models.cassette_path is None:
            raise CassetteError("the trial names no cassette")
        own = self._folder / namespace
        path = own / models.cassette_path
        if not path.resolve().is_relative_to(own.resolve()):
            raise CassetteError(f"cassette {models.cassette_path!r} is not below the folder")
        return path


def _parsed(text: str, where: str) -> Tape:
    try:
        cassette: Cassette = parse_cassette(text)
    except SpecError as error:
        raise CassetteError(f"{where}: {error}") from None
    return Tape(cassette)
