"""Errors as answers, the same on both ports."""

import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler

from proctor.api.errors import PlatformError
from proctor.api.results import MANIFEST_FIRST, TOKEN_HEADER
from proctor.results.access import RefusedError
from proctor.store.folders import ConflictError, NotOfferedError
from proctor.store.objects import MissingObjectError, StoreFullError
from proctor.store.spool import BodyError, TooLargeError

_LOGGER = logging.getLogger("proctor.results")


def token_of(request: web.Request) -> str | None:
    """The bearer's token; the header of our own comes first."""
    given = request.headers.get(TOKEN_HEADER)
    if given is None:
        kind, _, given = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
    return given.strip() or None


@web.middleware
async def answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Say what went wrong in one line of JSON; 5xx may be asked again, 4xx may not.

    But for ``MANIFEST_FIRST``: the exchange begins again.
    """
    try:
        return await handler(request)
    except RefusedError as error:
        return problem(error.status, str(error))
    except TooLargeError as error:
        return problem(413, str(error))
    except BodyError as error:
        return problem(422, str(error))
    except ConflictError as error:
        return problem(409, str(error))
    except NotOfferedError as error:
        return problem(MANIFEST_FIRST, str(error))
    except MissingObjectError:
        return problem(410, "the store lost this part")
    except StoreFullError as error:
        _LOGGER.error("%s %s: %s", request.method, request.path, error)
        return problem(507, str(error))
    except (TimeoutError, PlatformError) as error:
        _LOGGER.error("%s %s: %s", request.method, request.path, error)
        return problem(503, str(error))


def count_answers(app: web.Application, count: Callable[[int], None]) -> None:
    """Call ``count`` with the status of each answer."""

    async def counted(_: web.Request, response: web.StreamResponse) -> None:
        count(response.status)

    app.on_response_prepare.append(counted)


def problem(status: int, reason: str) -> web.Response:
    """An answer that says what is wrong."""
    return web.json_response({"error": reason}, status=status)
