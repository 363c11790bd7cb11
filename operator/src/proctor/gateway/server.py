"""The gateway's HTTP application."""

from aiohttp import web

from proctor.gateway.accounting import Accounting
from proctor.gateway.calls import MAX_REQUEST_BYTES, ModelCalls
from proctor.gateway.service import Service


def application(service: Service) -> web.Application:
    """The routes that agents, ``grade`` and the operator use."""
    calls, accounting = ModelCalls(service), Accounting(service)
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app.router.add_post("/v1/messages", calls.anthropic)
    app.router.add_post("/v1/messages/count_tokens", calls.anthropic_count)
    app.router.add_post("/v1/chat/completions", calls.chat)
    app.router.add_post("/v1/responses", calls.responses)
    app.router.add_post("/v1/responses/input_tokens", calls.responses_count)
    app.router.add_get("/v1/models", calls.models)
    app.router.add_get("/v1/models/{target:.+}", calls.models)
    for version in ("v1beta", "v1alpha", "v1"):
        app.router.add_post(f"/{version}/models/{{target:.+}}", calls.gemini)
    for version in ("v1beta", "v1alpha"):
        app.router.add_get(f"/{version}/models", calls.gemini_models)
        app.router.add_get(f"/{version}/models/{{target:.+}}", calls.gemini_models)
    app.router.add_get("/proctor/v1/ledger", accounting.ledger)
    app.router.add_post("/proctor/v1/close", accounting.close)
    app.router.add_get("/proctor/v1/bills/{trial_uid}/{attempt}", accounting.bill)
    app.router.add_get("/proctor/v1/runs/{run_uid}", accounting.spending)
    return app


async def serve(
    app: web.Application, host: str, port: int, *, drain_seconds: float
) -> tuple[web.AppRunner, int]:
    """Listen; gives the runner, whose ``cleanup`` ends it, and the port.

    A client that goes away cancels its handler, and that ends the provider's answer. On cleanup
    open calls have ``drain_seconds`` to end.
    """
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=drain_seconds
    )
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner, int(runner.addresses[0][1])
