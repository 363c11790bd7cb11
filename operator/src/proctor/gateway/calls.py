"""The model APIs as agents call them: who calls, what it may, who answers, what it cost."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import unquote

from aiohttp import web

from proctor.api.errors import PlatformError
from proctor.gateway.account import Account, Mode
from proctor.gateway.exchange import Exchange
from proctor.gateway.ledger import Ask, Ending, OpenCall
from proctor.gateway.limits import Refusal
from proctor.gateway.providers import Provider, route
from proctor.gateway.replies import CallError, UnservedError, caller, error_response
from proctor.gateway.reservation import reservation
from proctor.gateway.service import Service
from proctor.gateway.upstream import Forward, UnansweredError
from proctor.wire.format import ModelRequest, RequestError, WireFormat
from proctor.wire.formats import ANTHROPIC_MESSAGES, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES
from proctor.wire.gemini import COUNT

_NOT_ASKED = frozenset({"key", "access_token", "fields", "$fields"})
"""Google's parameters for keys, and for parts of an answer: usage is in another part."""
MAX_REQUEST_BYTES = 64 * 1024 * 1024


_MADE_UP: Mapping[Mode, str] = {"Replay": "cassette", "Scripted": "script"}
"""Who answers when no provider does."""

_Serve = Callable[[web.Request, WireFormat, Account], Awaitable[web.StreamResponse]]


class ModelCalls:
    """Serves model calls and lists of models."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def anthropic(self, http: web.Request) -> web.StreamResponse:
        """``POST /v1/messages``."""
        return await self._shaped(http, ANTHROPIC_MESSAGES, self._call)

    async def anthropic_count(self, http: web.Request) -> web.StreamResponse:
        """``POST /v1/messages/count_tokens``."""
        return await self._shaped(http, ANTHROPIC_MESSAGES, self._count)

    async def chat(self, http: web.Request) -> web.StreamResponse:
        """``POST /v1/chat/completions``."""
        return await self._shaped(http, OPENAI_CHAT, self._call)

    async def responses(self, http: web.Request) -> web.StreamResponse:
        """``POST /v1/responses``."""
        return await self._shaped(http, OPENAI_RESPONSES, self._call)

    async def responses_count(self, http: web.Request) -> web.StreamResponse:
        """``POST /v1/responses/input_tokens``."""
        return await self._shaped(http, OPENAI_RESPONSES, self._count)

    async def gemini(self, http: web.Request) -> web.StreamResponse:
        """``POST /v1beta/models/MODEL:METHOD``."""
        is_count = http.match_info["target"].endswith(f":{COUNT}")
        return await self._shaped(http, GEMINI, self._count if is_count else self._call)

    async def gemini_models(self, http: web.Request) -> web.StreamResponse:
        """``GET /v1beta/models``, or one of them."""
        return await self._shaped(http, GEMINI, self._list)

    async def models(self, http: web.Request) -> web.StreamResponse:
        """``GET /v1/models``, or one of them: by the header that each maker's clients send."""
        if "anthropic-version" in http.headers:
            return await self._shaped(http, ANTHROPIC_MESSAGES, self._list)
        is_google = "x-goog-api-key" in http.headers or "key" in http.query
        return await self._shaped(http, GEMINI if is_google else OPENAI_CHAT, self._list)

    async def _shaped(
        self, http: web.Request, wire_format: WireFormat, serve: _Serve
    ) -> web.StreamResponse:
        try:
            account = await caller(self._service.accounts, http)
            return await serve(http, wire_format, account)
        except CallError as error:
            return error_response(wire_format, error)
        except UnansweredError as error:
            return error_response(wire_format, CallError(502, str(error), final=False))
        except PlatformError as error:
            return error_response(wire_format, CallError(503, str(error), final=False))

    async def _list(
        self, http: web.Request, wire_format: WireFormat, account: Account
    ) -> web.StreamResponse:
        provider = self._lister(wire_format, account)
        forward = Forward(
            wire_format=wire_format,
            request=ModelRequest(model=""),
            body=b"",
            headers=tuple(http.headers.items()),
            query=_query(http),
            provider=provider,
            script=account.script,
            account=account,
            operation="list",
            listed=_listed(http),
        )
        return await self._uncounted(http, forward, account)

    async def _count(
        self, http: web.Request, wire_format: WireFormat, account: Account
    ) -> web.StreamResponse:
        """Count tokens, which costs nothing at those providers that do it."""
        forward = await self._forward(http, wire_format, account)
        if forward.provider is not None and not forward.provider.counts:
            raise CallError(404, f"provider {forward.provider.name!r} counts no tokens")
        return await self._uncounted(http, replace(forward, operation="count"), account)

    async def _uncounted(
        self, http: web.Request, forward: Forward, account: Account
    ) -> web.StreamResponse:
        exchange = Exchange(forward, None, _count_nothing, self._service.client_idle_seconds)
        return await exchange.run(http, self._service.upstreams[account.mode])

    def _lister(self, wire_format: WireFormat, account: Account) -> Provider | None:
        for provider in self._service.providers:
            if provider.lists(wire_format, account.namespace):
                return provider
        if account.asks_provider:
            raise CallError(404, f"no provider speaks {wire_format.name}")
        return None

    async def _call(
        self, http: web.Request, wire_format: WireFormat, account: Account
    ) -> web.StreamResponse:
        try:
            forward = await self._forward(http, wire_format, account)
        except UnservedError as error:
            await self._book_unserved(account, wire_format, error)
            raise
        outgoing = wire_format.outgoing(forward.body, forward.request)
        if outgoing.relay is not None:
            asked = replace(forward.request, usage_in_stream=True)
            forward = replace(forward, body=outgoing.body, request=asked)
        call = await self._opened(account, forward)
        ended, idle = partial(self._ended, call), self._service.client_idle_seconds
        exchange = Exchange(forward, outgoing.relay, ended, idle)
        return await exchange.run(http, self._service.upstreams[account.mode])

    async def _book_unserved(
        self, account: Account, wire_format: WireFormat, error: UnservedError
    ) -> None:
        """That the trial's own model has no provider is a fault of ours, not the agent's zero."""
        if error.model != account.model:
            return
        ask = Ask(error.model, "none", wire_format.name, account.role)
        ending = Ending(error.status, provider_failure=str(error), spent_nothing=True)
        self._ended(await self._booked(account, wire_format, ask), ending)

    async def _forward(
        self, http: web.Request, wire_format: WireFormat, account: Account
    ) -> Forward:
        body = await _body(http)
        request = _request(wire_format, body, _target(http))
        return Forward(
            wire_format=wire_format,
            request=request,
            body=body,
            headers=tuple(http.headers.items()),
            query=_query(http),
            provider=self._provider(account, request, wire_format),
            script=account.script,
            account=account,
            trial=account.trial_uid,
            reserved=reservation(body),
        )

    def _provider(
        self, account: Account, request: ModelRequest, wire_format: WireFormat
    ) -> Provider | None:
        if not account.asks_provider:
            return None
        found = route(self._service.providers, request.model, wire_format, account.namespace)
        if found is None:
            raise UnservedError(request.model, wire_format.name)
        return found

    async def _opened(self, account: Account, forward: Forward) -> OpenCall:
        ask = Ask(
            model=forward.request.model,
            provider=forward.provider.name if forward.provider else _MADE_UP[account.mode],
            wire_format=forward.wire_format.name,
            role=account.role,
            reserved=forward.reserved,
        )
        return await self._booked(account, forward.wire_format, ask)

    async def _booked(self, account: Account, wire_format: WireFormat, ask: Ask) -> OpenCall:
        try:
            call = await self._service.admission.open(account, ask)
        except OSError as error:
            raise PlatformError(f"the ledger cannot be written: {error.strerror}") from error
        if isinstance(call, Refusal):
            self._service.watch.refused(account, call)
            status = wire_format.refusal_status
            raise CallError(status, f"refused by Proctor: {call.reason}")
        self._service.watch.started(call)
        return call

    def _ended(self, call: OpenCall, ending: Ending) -> None:
        try:
            ended = self._service.admission.end(call, ending)
        except OSError as error:
            self._service.watch.failed(call, error)
        else:
            self._service.watch.ended(call, ended)


def _count_nothing(_: Ending) -> None:
    """A list of models is no model call."""


async def _body(http: web.Request) -> bytes:
    try:
        return await http.read()
    except web.HTTPRequestEntityTooLarge:
        raise CallError(413, f"the request is larger than {MAX_REQUEST_BYTES} bytes") from None


def _request(wire_format: WireFormat, body: bytes, target: str) -> ModelRequest:
    try:
        return wire_format.parse(body, target)
    except RequestError as error:
        raise CallError(400, str(error)) from None


def _listed(http: web.Request) -> str:
    name = http.match_info.get("target", "")
    if ".." in name:
        raise CallError(404, f"there is no model {name!r}")
    return name


def _target(http: web.Request) -> str:
    target = http.match_info.get("target", "")
    return f"{target}?{http.rel_url.raw_query_string}" if target else ""


def _query(http: web.Request) -> str:
    """The query as it came, without a key, and without what hides usage from an answer."""
    query: str = http.rel_url.raw_query_string
    if not query:
        return query
    parts = (part for part in query.split("&"))
    return "&".join(part for part in parts if unquote(part.partition("=")[0]) not in _NOT_ASKED)
