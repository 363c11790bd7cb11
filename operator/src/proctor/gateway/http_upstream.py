"""Answers from providers over HTTP: our key instead of the client's, bytes as they are."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType

import aiohttp
from yarl import URL

from proctor.gateway.decoding import decoded
from proctor.gateway.hints import retry_after_seconds
from proctor.gateway.limiter import Limiters, Turn
from proctor.gateway.patience import Patience
from proctor.gateway.providers import Provider
from proctor.gateway.retries import TOO_FAST, Retries, Timeouts
from proctor.gateway.sending import HOP_BY_HOP, place, sent_headers
from proctor.gateway.upstream import Answer, CutError, Forward, UnansweredError

_NOT_RETURNED = HOP_BY_HOP | {"alt-svc", "set-cookie", "strict-transport-security"}
_MAX_ERROR_BYTES = 1024 * 1024
_NOT_SENT_YET = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_LOST_AT_ONCE = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
"""A connection that was kept open too long looks so: nobody has worked on the request."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call with all that its attempts share."""

    forward: Forward
    provider: Provider
    key: str | None
    deadline: float


class HttpUpstream:
    """Asks the provider of each call.

    Args:
        session: From ``client_session``.
        retries: None: the default.
        timeouts: None: the default.
        now: The time, for hints that name one.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        retries: Retries | None = None,
        timeouts: Timeouts | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._session = session
        self._retries = retries or Retries()
        self._timeouts = timeouts or Timeouts()
        self._now = now
        self._limiters = Limiters(now, time.monotonic)

    def answer(self, forward: Forward) -> "_Held":
        """Ask the provider, again when it failed before it answered."""
        return _Held(self, forward)

    async def open(self, forward: Forward, held: "_Held") -> Answer:
        """An answer; what is to be closed after it is handed to ``held``."""
        if forward.provider is None:
            raise UnansweredError("no provider", sent=False)
        key = forward.provider.key.read()
        deadline = asyncio.get_running_loop().time() + self._timeouts.total_seconds
        asked = _Asked(forward, forward.provider, key, deadline)
        attempt = 0
        while True:
            found = await self._try(asked, attempt, held)
            if isinstance(found, aiohttp.ClientResponse):
                return await self._answer(asked, found)
            held.close()
            await asyncio.sleep(found)
            attempt += 1

    async def _try(
        self, asked: _Asked, attempt: int, held: "_Held"
    ) -> aiohttp.ClientResponse | float:
        """An answer, or how long to wait before the next attempt."""
        turn = held.turn = await self._turn(asked)
        try:
            response = held.response = await self._send(asked)
        except _NOT_SENT_YET as error:
            asked.forward.way.sent = False
            return self._wait(attempt, _said(asked.provider, error), error, sent=False)
        except _LOST_AT_ONCE as error:
            return self._wait(attempt, _said(asked.provider, error), error, sent=True)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise UnansweredError(_said(asked.provider, error), sent=True) from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        wait = None
        if response.status >= 400 and headers.get("x-should-retry") != "false":
            asked_seconds = retry_after_seconds(headers, self._now())
            wait = self._retries.after_answer(attempt, response.status, asked_seconds, _chance())
        asked.forward.way.sent = wait is None
        if turn is not None:
            _learn(turn, response.status, headers, wait)
        return response if wait is None else wait

    async def _turn(self, asked: _Asked) -> Turn | None:
        """A call's turn; lists and counts have limits of their own."""
        forward = asked.forward
        if forward.operation != "generate":
            return None
        limiter = self._limiters.of(asked.provider.name, asked.key)
        return await limiter.begin(forward.trial, forward.reserved.total)

    def _wait(self, attempt: int, said: str, error: Exception, *, sent: bool) -> float:
        wait = self._retries.wait_seconds(attempt, chance=_chance())
        if wait is None:
            raise UnansweredError(said, sent=sent) from error
        return wait

    async def _send(self, asked: _Asked) -> aiohttp.ClientResponse:
        forward, provider = asked.forward, asked.provider
        url = URL(provider.base_url + place(forward, provider.manner), encoded=True)
        is_listing = forward.operation == "list"
        forward.way.sent = True
        async with asyncio.timeout(self._timeouts.first_byte_seconds):
            # A redirect would carry the key to another host.
            return await self._session.request(
                "GET" if is_listing else "POST",
                url,
                data=None if is_listing else forward.body,
                headers=sent_headers(forward, provider.manner, asked.key),
                allow_redirects=False,
            )

    async def _answer(self, asked: _Asked, response: aiohttp.ClientResponse) -> Answer:
        headers = [(k, v) for k, v in response.headers.items() if k.lower() not in _NOT_RETURNED]
        chunks = self._chunks(asked, response)
        if response.status < 400:
            return Answer(response.status, headers, chunks)
        body = await _error_body(asked, response, chunks)
        headers = [
            (k, v) for k, v in headers if k.lower() not in ("content-length", "content-encoding")
        ]
        return Answer(response.status, headers, _once(body))

    async def _chunks(
        self, asked: _Asked, response: aiohttp.ClientResponse
    ) -> AsyncIterator[bytes]:
        time_of, content = asyncio.get_running_loop().time, response.content
        patience = Patience(content, self._timeouts.idle_seconds, asked.deadline)
        try:
            while True:
                # Most of what comes is there when it is asked for: only waiting needs a timer.
                chunk = content.read_nowait()
                if not chunk:
                    if content.at_eof():
                        return
                    with patience:
                        chunk = await content.readany()
                elif time_of() > asked.deadline:
                    raise TimeoutError
                if chunk:
                    yield chunk
        except (aiohttp.ClientError, TimeoutError) as error:
            said = f"provider {asked.provider.name!r} broke off its answer: {type(error).__name__}"
            raise CutError(said) from error
        finally:
            patience.end()


class _Held:
    """The context of one call: its turn at the provider, and the answer that is open."""

    def __init__(self, upstream: HttpUpstream, forward: Forward) -> None:
        self._upstream = upstream
        self._forward = forward
        self.turn: Turn | None = None
        self.response: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> Answer:
        """Ask."""
        try:
            return await self._upstream.open(self._forward, self)
        except BaseException:
            self.close()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the answer."""
        self.close()

    def close(self) -> None:
        """End what one attempt holds."""
        turn, response = self.turn, self.response
        self.turn = self.response = None
        if response is not None:
            # Closing, not releasing: what the client did not want to read must not be paid for.
            response.close()
        if turn is not None:
            turn.end()


def _learn(turn: Turn, status: int, headers: Mapping[str, str], wait: float | None) -> None:
    turn.answered(headers)
    if status in TOO_FAST:
        turn.refused(wait or 0.0)


def _chance() -> float:
    return random.random()


def _said(provider: Provider, error: BaseException) -> str:
    return f"provider {provider.name!r} did not answer: {type(error).__name__}"


async def _error_body(
    asked: _Asked, response: aiohttp.ClientResponse, chunks: AsyncIterator[bytes]
) -> bytes:
    """The error as it is, but that it never shows the gateway's key, nor a part of it."""
    if response.status == 401:
        said = f"provider {asked.provider.name!r} refused the gateway's own key"
        return asked.forward.wire_format.error(401, said)
    body = b""
    try:
        async for chunk in decoded(chunks, response.headers.get("content-encoding", "")):
            body = (body + chunk)[:_MAX_ERROR_BYTES]
            if len(body) == _MAX_ERROR_BYTES:
                break
    except CutError:
        # What came of it is more than another error would say.
        pass
    return body.replace(asked.key.encode(), b"[key]") if asked.key else body


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


def client_session() -> aiohttp.ClientSession:
    """A session for providers: long answers, no decompression, no cookies, no proxy settings."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=60),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=15),
    )
