"""A model behind an OpenAI-compatible `/chat/completions`: one request out, one stream in."""

import logging

import anyio
import httpx

from turnbuckle.model.answer import Answer
from turnbuckle.model.encode import Encoder
from turnbuckle.model.endpoint import (
    Endpoint,
    endpoint_of,
    new_client,
    proxy_secrets,
    secrets_in,
)
from turnbuckle.model.failures import Failures, wait_in
from turnbuckle.model.limits import EVENT_LIMIT
from turnbuckle.model.picturing import encoded
from turnbuckle.model.port import Emit, ModelFailed, Reply, Request
from turnbuckle.model.providers import Provider, changed_for, provider_of
from turnbuckle.model.reading import Clock, Timeouts, head_of, read_stream
from turnbuckle.session.blobs import Blobs

logger = logging.getLogger(__name__)

ERROR_LIMIT = 64 * 1024
"""The most bytes that are read of a body that is no answer."""


class OpenAIChat:
    """Asks one endpoint. `window` is the model's context in tokens, where that is known.

    A `client` that is passed in stays the caller's; else one is made with the first request, and
    `aclose` closes it. `blobs` are where pictures are kept.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        client: httpx.AsyncClient | None = None,
        provider: Provider | None = None,
        window: int | None = None,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 - immutable
        blobs: Blobs | None = None,
    ) -> None:
        self.window = window
        self._base_url = base_url
        self._key = (key or "").strip()
        self._endpoint: Endpoint | None = None
        self._client = client
        self._own_client: httpx.AsyncClient | None = None
        self._provider = provider or provider_of(base_url)
        self._were: set[Provider] = set()
        self._failures = Failures(
            self._provider.name,
            self._key,
            self._provider.overflow_advice,
            others=(*secrets_in(base_url), *proxy_secrets()),
        )
        self._encoder = Encoder(self._provider)
        self._timeouts = timeouts
        self._blobs = blobs

    def __repr__(self) -> str:
        return f"OpenAIChat({self._provider.name})"

    async def aclose(self) -> None:
        """Close the client, if it was not passed in."""
        if self._own_client is not None:
            await self._own_client.aclose()
            self._own_client = None

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        """Stream one answer; see the port.

        Where the provider refuses a habit of ours, that is changed, and it is asked once more.
        """
        while True:
            wanted = self._encoder.wanted(request)
            body = self._encoder.body(request, await encoded(wanted, self._blobs))
            answer = Answer(
                self._provider,
                self._failures,
                emit,
                asked=self._encoder.tokens(body),
                allowed=request.config.max_tokens,
            )
            try:
                await self._exchange(body, answer)
                reply = answer.reply()
            except ModelFailed as error:
                if answer.said or not self._changes_for(error.failure.message):
                    raise
            else:
                self._encoder.learn(answer.reasoning_field)
                return reply

    def _changes_for(self, complaint: str) -> bool:
        """Change the habit that is complained of; each only once, so that this comes to an end."""
        changed = changed_for(complaint, self._provider)
        if changed is None or changed in self._were:
            return False
        logger.info("%s refused the form of a request; it is asked again", changed.name)
        self._were.add(self._provider)
        self._provider = changed
        self._encoder.follow(changed)
        return True

    async def _exchange(self, body: bytes, answer: Answer) -> None:
        """Send one request and read its answer to the end."""
        endpoint = self._endpoint = self._endpoint or endpoint_of(self._base_url, self._key)
        clock = Clock(self._timeouts)
        logger.debug("asking %s, %d bytes", endpoint.shown, len(body))
        broken: Exception | None = None
        with clock.scope:
            try:
                async with self._http().stream(
                    "POST", endpoint.url, content=body, headers=endpoint.headers
                ) as response:
                    await self._read(response, endpoint, answer, clock)
            except (httpx.RequestError, OSError) as error:
                broken = error
        answer.end()
        # What ended the reading of a complete answer is no failure.
        if answer.finished:
            return
        if broken is not None:
            raise self._unreached(broken, endpoint) from broken
        if clock.scope.cancelled_caught:
            raise self._failures.failed("timeout", clock.why(endpoint.shown))

    def _http(self) -> httpx.AsyncClient:
        if self._client is not None:
            return self._client
        if self._own_client is None:
            self._own_client = new_client(self._base_url)
        return self._own_client

    async def _read(
        self, response: httpx.Response, endpoint: Endpoint, answer: Answer, clock: Clock
    ) -> None:
        if not response.is_success:
            raise await self._refused(response, endpoint)
        content_type = response.headers.get("content-type", "")
        match content_type.partition(";")[0].strip().lower():
            case "text/event-stream" | "text/plain" | "application/octet-stream" | "":
                await read_stream(response, answer, clock)
            case kind if kind.endswith("json"):
                answer.take_whole(await head_of(response, EVENT_LIMIT + 1))
            case _:
                said = self._failures.tidy(await self._error_text(response))
                kind = self._failures.tidy(content_type, 100)
                raise self._failures.failed(
                    "protocol",
                    f"{self._provider.name} sent {kind} instead of an answer. "
                    f"Check the base URL ({endpoint.shown}{endpoint.url.path}). It begins: {said}",
                )

    async def _refused(self, response: httpx.Response, endpoint: Endpoint) -> ModelFailed:
        hint = ""
        if response.status_code in (404, 405) or response.is_redirect:
            place = f"{endpoint.shown}{endpoint.url.path}"
            hint = f"Check the name of the model and the base URL ({place})."
        return self._failures.refused(
            response.status_code,
            await self._error_text(response),
            hint=hint,
            retry_after=wait_in(response.headers),
        )

    async def _error_text(self, response: httpx.Response) -> str:
        """The beginning of a body that is no answer, if it comes in time."""
        body = b""
        with anyio.move_on_after(self._timeouts.grace):
            try:
                body = await head_of(response, ERROR_LIMIT)
            except httpx.RequestError as error:
                logger.debug("the body of an error broke off: %s", error)
        return body.decode(errors="replace")

    def _unreached(self, error: Exception, endpoint: Endpoint) -> ModelFailed:
        said = str(error) or type(error).__name__
        match error:
            case httpx.ConnectTimeout():
                message = f"{endpoint.shown} did not accept a connection in time."
            case httpx.ProxyError():
                message = f"The proxy refused to reach {endpoint.shown} ({said}). Check it."
            case httpx.ConnectError():
                message = (
                    f"Could not connect to {endpoint.shown} ({said}). Check that the server is "
                    "running, the base URL, and the network."
                )
            case httpx.DecodingError():
                message = f"{endpoint.shown} sent an answer that cannot be read: {said}."
                return self._failures.failed("protocol", message)
            case _:
                message = f"The connection to {endpoint.shown} broke ({said})."
        timeout = isinstance(error, httpx.TimeoutException)
        return self._failures.failed("timeout" if timeout else "transport", message)
