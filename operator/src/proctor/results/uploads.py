"""The port for trials: ``grade`` sends its record, and nothing else is there."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from aiohttp import web

from proctor.api.results import MANIFEST_BYTES, RECORD, RECORDS
from proctor.api.stored import StoredFolder
from proctor.results.access import Access
from proctor.results.answers import answer_errors, token_of
from proctor.results.checking import require_same_trial
from proctor.results.sending import read_offer, take_manifest, take_part
from proctor.store.folders import FolderKey
from proctor.store.store import Store


def upload_application(
    store: Store, access: Access, now: Callable[[], datetime]
) -> web.Application:
    """The routes of the port that trials reach."""

    async def manifest(request: web.Request) -> web.Response:
        sender = await access.sender(token_of(request))
        folder = StoredFolder(
            kind=RECORD,
            namespace=sender.namespace,
            namespace_uid=sender.namespace_uid,
            digest=request.match_info["digest"],
            size_bytes=0,
            created_at=now(),
            trial=sender.trial,
        )
        check = partial(require_same_trial, store, trial=sender.trial)
        return await take_manifest(store, folder, await read_offer(request), check)

    async def part(request: web.Request) -> web.Response:
        sender = await access.sender_of_part(token_of(request))
        key = FolderKey(sender.namespace_uid, RECORD, request.match_info["digest"])
        return await take_part(request, store, key)

    app = web.Application(middlewares=[answer_errors], client_max_size=MANIFEST_BYTES)
    app.router.add_put(f"{RECORDS}/{{digest}}", manifest)
    app.router.add_put(f"{RECORDS}/{{digest}}/parts/{{sha256}}", part)
    return app
