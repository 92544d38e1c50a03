"""Where requests go, and the client that carries them."""

import ipaddress
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from turnbuckle.model.port import ModelRefused

_PATH = "/chat/completions"
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_SHORT = 3  # characters; what is no longer would be found in every text
_CONNECT = 15.0  # seconds; every other wait has its limit where the answer is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A URL that answers chat completions; `shown` is its host and port, for people."""

    url: httpx.URL
    shown: str
    headers: dict[str, str] = field(repr=False)


def endpoint_of(base_url: str, key: str | None) -> Endpoint:
    """The endpoint under a base URL such as `https://host/v1`; a query in it is kept.

    Raises:
        ModelRefused: nothing can be sent to such a URL, or with such a key.
    """
    try:
        urlsplit(base_url)  # the stricter one: it finds half an IPv6 address
        url = httpx.URL(base_url.strip())
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise ModelRefused(
            "protocol",
            "The model's base URL cannot be used: it must look like https://host/v1. "
            "Check TURNBUCKLE_BASE_URL or base_url in the configuration.",
        )
    path = url.path.rstrip("/")
    path = path if path.endswith(_PATH) else path + _PATH
    host = f"[{url.host}]" if ":" in url.host else url.host
    return Endpoint(
        # Without its password, which a log of the client would show.
        url=url.copy_with(path=path, userinfo=b""),
        shown=f"{host}:{url.port or (443 if url.scheme == 'https' else 80)}",
        headers={
            "accept": "text/event-stream",
            # Compressed events arrive late: a compressor waits for more.
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "turnbuckle",
            **_authorization(url, key),
        },
    )


def _authorization(url: httpx.URL, key: str | None) -> dict[str, str]:
    key = (key or "").strip()
    if not key:
        pair = f"{url.username}:{url.password}".encode()
        return {"authorization": f"Basic {b64encode(pair).decode()}"} if url.userinfo else {}
    if not key.isascii() or not key.isprintable():
        raise ModelRefused(
            "auth",
            "The API key holds characters that cannot be sent (a line end, or a letter beyond "
            "ASCII). Copy it again.",
        )
    return {"authorization": f"Bearer {key}"}


def secrets_in(*urls: str) -> tuple[str, ...]:
    """What in URLs opens something: names and passwords, also as they are sent, and queries."""
    found: list[str] = []
    for said in urls:
        try:
            # A proxy may be written without its scheme.
            url = httpx.URL(said.strip() if "://" in said else f"http://{said.strip()}")
        except (httpx.InvalidURL, ValueError):
            continue
        if url.userinfo:
            pair = f"{url.username}:{url.password}".encode()
            # A name in front of a password is shown anywhere; one alone is a key.
            found += [b64encode(pair).decode(), url.password or url.username]
        found += [value for name, value in url.params.multi_items() if "version" not in name]
    return tuple(dict.fromkeys(one for one in found if len(one) > _SHORT))


def proxy_secrets() -> tuple[str, ...]:
    """The passwords of the proxies that requests go through."""
    return secrets_in(*getproxies().values())


def new_client(*base_urls: str) -> httpx.AsyncClient:
    """A client that many models can share; making one costs tens of milliseconds (TLS).

    Proxies from the environment are used, but never for this machine itself; loopback addresses
    other than the usual ones are known from `base_urls`.

    Raises:
        ModelRefused: the environment's proxies or certificates cannot be used.
    """
    direct = dict.fromkeys([*_LOOPBACK, *filter(None, map(_loopback, base_urls))])
    try:
        return httpx.AsyncClient(
            # None as a transport is httpx's way to say: no proxy for these.
            mounts={f"all://{host}": None for host in direct},
            timeout=httpx.Timeout(None, connect=_CONNECT),
            # A tool may run for a while between two steps; httpx would hang up after 5 s.
            limits=httpx.Limits(max_keepalive_connections=8, keepalive_expiry=60.0),
        )
    except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
        raise ModelRefused(
            "protocol",
            f"No HTTP client could be made ({type(error).__name__}). Check HTTP_PROXY, "
            "HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR in the environment.",
        ) from error


def _loopback(base_url: str) -> str | None:
    """The host of a URL as a pattern, if it is this machine."""
    try:
        host = httpx.URL(base_url).host
        address = ipaddress.ip_address(host)
    except (httpx.InvalidURL, ValueError):
        return None
    if not address.is_loopback:
        return None
    return f"[{host}]" if address.version == 6 else host
