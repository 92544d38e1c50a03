"""Which models an endpoint offers."""

import re

import anyio
import httpx

from turnbuckle.model import loose
from turnbuckle.model.endpoint import Endpoint, endpoint_of, proxy_secrets, secrets_in
from turnbuckle.model.failures import Failures
from turnbuckle.model.providers import provider_of
from turnbuckle.model.reading import head_of

_ROOM = 4 * 1024 * 1024  # bytes of a list; a router knows hundreds of models and describes each
_MOST = 1000  # models of a list


async def list_models(
    client: httpx.AsyncClient, base_url: str, *, key: str | None = None, limit: float
) -> tuple[str, ...]:
    """The names of the models, in the endpoint's order; `limit` in seconds for all of it.

    Raises:
        ModelFailed: there is no list.
    """
    endpoint = endpoint_of(base_url, key)
    others = (*secrets_in(base_url), *proxy_secrets())
    failures = Failures(provider_of(base_url).name, key or "", others=others)
    try:
        with anyio.fail_after(limit):
            response, body = await _get(client, endpoint)
    except TimeoutError as error:
        said = f"{endpoint.shown} did not list its models within {limit:g} s."
        raise failures.failed("timeout", said) from error
    except (httpx.RequestError, OSError) as error:
        said = f"{endpoint.shown} cannot be reached ({str(error) or type(error).__name__})."
        raise failures.failed("transport", said) from error
    text = body.decode(errors="replace")
    if not response.is_success:
        raise failures.refused(response.status_code, text)
    if (names := _names(loose.read(text))) is None:
        kind = failures.tidy(response.headers.get("content-type", "something"), 100)
        said = f"{endpoint.shown} answered with no list of models (it sent {kind})."
        raise failures.failed("protocol", said)
    return names


async def _get(client: httpx.AsyncClient, endpoint: Endpoint) -> tuple[httpx.Response, bytes]:
    path = re.sub(r"/chat/completions$", "/models", endpoint.url.path)
    url = endpoint.url.copy_with(path=path)
    headers = endpoint.headers | {"accept": "application/json"}
    async with client.stream("GET", url, headers=headers) as response:
        return response, await head_of(response, _ROOM)


def _names(answer: object) -> tuple[str, ...] | None:
    """The ids in a list of models; None for anything else."""
    match answer:
        case {"data": list(models)}:
            ids = (one.get("id") for one in models[:_MOST] if isinstance(one, dict))
            return tuple(name for name in ids if isinstance(name, str) and _is_name(name))
        case _:
            return None


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 200 and name.isprintable()
