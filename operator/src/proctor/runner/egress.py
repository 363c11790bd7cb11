"""How commands and agents find the egress proxy: by the variables that most clients look at."""

from proctor.api.egress_pass import USER
from proctor.runner.places import EgressAccess

_NOT_BY_PROXY = ("localhost", "127.0.0.1", "::1")


def proxy_url(access: EgressAccess) -> str:
    """The proxy's URL with the pass as its password."""
    scheme, _, address = access.url.partition("://")
    return f"{scheme}://{USER}:{access.given_pass}@{address}"


def proxy_environment(access: EgressAccess | None, gateway_url: str | None) -> dict[str, str]:
    """Variables for mode AllowList; none in other modes.

    ``HTTP_PROXY`` is not set: the proxy serves no plain HTTP, and the gateway, which speaks it, is
    reached without it.
    """
    if access is None:
        return {}
    from urllib.parse import urlsplit

    proxy = proxy_url(access)
    gateway = urlsplit(gateway_url).hostname if gateway_url else None
    direct = ",".join((*_NOT_BY_PROXY, *((gateway,) if gateway else ())))
    return {
        "HTTPS_PROXY": proxy,
        "https_proxy": proxy,
        "NO_PROXY": direct,
        "no_proxy": direct,
        "NODE_USE_ENV_PROXY": "1",
    }
