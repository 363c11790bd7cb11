"""Objects in an object store (S3, GCS, Azure), by obstore."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import from_url

from proctor.store.objects import CHUNK_BYTES, Listed, MissingObjectError, StoreError

_PART_BYTES = 8 << 20
_TIMEOUT = timedelta(seconds=30)
_RETRY_SECONDS = timedelta(seconds=20)
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")


class BucketObjects:
    """Objects in a bucket, or below a prefix of one.

    Args:
        url: Such as ``s3://bucket/prefix``, ``gs://bucket``, ``az://container``.
        config: obstore's settings, such as ``endpoint`` and ``region``. Credentials that are not
            in it are looked for in the environment and the machine's identity.
    """

    def __init__(self, url: str, config: Mapping[str, str] | None = None) -> None:
        # The keys depend on the scheme: obstore checks them, and no type can.
        settings: Any = dict(config or {})
        options: Any = {"timeout": _TIMEOUT}
        if settings.get("endpoint", "").startswith("http://"):
            options["allow_http"] = True
        self._store = from_url(
            url,
            config=settings,
            client_options=options,
            retry_config={"max_retries": 4, "retry_timeout": _RETRY_SECONDS},
        )

    async def put(self, key: str, file: Path) -> None:
        """Put in one request, or as parts that become an object when all are there."""
        with _named():
            await obstore.put_async(
                self._store, key, file, chunk_size=_PART_BYTES, max_concurrency=2
            )

    async def size(self, key: str) -> int | None:
        """Bytes; None: there is none."""
        try:
            with _named():
                return int((await obstore.head_async(self._store, key))["size"])
        except MissingObjectError:
            return None

    async def read(self, key: str) -> AsyncIterator[bytes]:
        """The content in pieces."""
        with _named():
            found = await obstore.get_async(self._store, key)
            async for chunk in found.stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    async def delete(self, key: str) -> None:
        """Remove the object."""
        try:
            with _named():
                await obstore.delete_async(self._store, key)
        except MissingObjectError:
            return

    async def list(self, prefix: str) -> AsyncIterator[Listed]:
        """All objects below a prefix."""
        with _named():
            async for page in obstore.list(self._store, prefix):
                for one in page:
                    yield Listed(one["path"], one["size"], one["last_modified"])

    async def tidy(self) -> None:
        """Nothing: parts that became no object are the bucket's lifecycle rule to remove."""
        await asyncio.sleep(0)


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        if any(sign in str(error) for sign in _NO_BUCKET):
            raise StoreError("the object store: there is no such bucket") from None
        raise MissingObjectError from None
    except (BaseError, OSError) as error:
        # The library's words may hold a signed address: only their first line's start is said.
        text = str(error).splitlines()[0].partition("?")[0][:200] if str(error) else ""
        raise StoreError(f"the object store: {type(error).__name__}: {text}") from None
