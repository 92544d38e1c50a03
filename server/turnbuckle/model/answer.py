"""One answer from the bytes of its body, however they were cut; pure."""

from turnbuckle.model import loose
from turnbuckle.model.assemble import Assembler
from turnbuckle.model.failures import Failures, error_in
from turnbuckle.model.limits import EVENT_LIMIT, TooLarge
from turnbuckle.model.overflow import overflow_in
from turnbuckle.model.port import Delta, Emit, ModelFailed, Reply, cut
from turnbuckle.model.providers import Provider
from turnbuckle.model.sse import SseEvent, SseParser

_DONE = "[DONE]"


class Answer:
    """Takes a body, piece by piece or whole; says what it means to `emit`, and in the end `reply`.

    Everything raises ModelFailed where the provider reports an error, or where what came cannot be
    understood. `asked` is about how many tokens the request has, `allowed` how many the answer may
    have.
    """

    def __init__(
        self,
        provider: Provider,
        failures: Failures,
        emit: Emit,
        *,
        asked: int = 0,
        allowed: int | None = None,
    ) -> None:
        self._provider = provider
        self._failures = failures
        self._emit = emit
        self._asked, self._allowed = asked, allowed
        self._parser = SseParser()
        self._assembler = Assembler(provider, failures)
        self._done = False

    @property
    def finished(self) -> bool:
        """The answer is complete; its usage may still come."""
        return self._done or self._assembler.finished

    @property
    def done(self) -> bool:
        """Nothing more of interest can come."""
        return self._done or (self._assembler.finished and self._assembler.counted)

    @property
    def said(self) -> bool:
        """Whether anything of an answer came."""
        return self._assembler.said

    @property
    def reasoning_field(self) -> str | None:
        """The field that the thoughts came in, if some came."""
        return self._assembler.reasoning_field

    def take(self, data: bytes) -> bool:
        """Take a piece of an event stream; whether it completed an event (comments are none)."""
        try:
            events = self._parser.feed(data)
            for event in events:
                self._event(event)
        except TooLarge as error:
            raise _too_much(self._failures, error) from error
        return bool(events)

    def end(self) -> None:
        """The stream is over, or broken off: a last event may be torn, and is left out then."""
        try:
            for event in self._parser.close():
                if event.name == "error" or event.data.strip() == _DONE or loose.read(event.data):
                    self._event(event)
            self._tell(self._assembler.end())
        except TooLarge as error:
            raise _too_much(self._failures, error) from error

    def take_whole(self, body: bytes) -> None:
        """Take an answer that came in one piece, though a stream was asked for."""
        if len(body) > EVENT_LIMIT:
            error = TooLarge(f"the answer is larger than {EVENT_LIMIT} bytes")
            raise _too_much(self._failures, error)
        text = body.decode(errors="replace")
        chunk = self._decoded(text)
        if error_in(chunk) is None and not (isinstance(chunk, dict) and chunk.get("choices")):
            said = self._failures.tidy(text)
            raise self._failures.failed(
                "protocol", f"{self._failures.provider} sent JSON that is no answer: {said}"
            )
        try:
            self._tell(self._assembler.add(chunk))
        except TooLarge as error:
            raise _too_much(self._failures, error) from error

    def reply(self) -> Reply:
        """The whole answer, after its end; one in which nothing was said is a failure."""
        reply = self._assembler.reply()
        name, said = self._failures.provider, self.said
        too_long = overflow_in(
            self._provider, reply, said=said, asked=self._asked, allowed=self._allowed
        )
        if too_long is not None:
            raise self._failures.failed("overflow", f"{name} {too_long}.")
        counted = reply.usage is not None and reply.usage.output > 0
        why = cut(reply.finish)
        if not (said or why in ("limit", "filter") or (counted and why is None)):
            raise self._failures.failed(
                "empty", f"{name} ended its answer without saying anything."
            )
        return reply

    def _event(self, event: SseEvent) -> None:
        if self._done:
            return
        if event.data.strip() == _DONE:
            self._done = True
        elif event.name == "error":
            said = loose.read(event.data)
            error = error_in(said) or said or event.data
            self._tell(self._assembler.add({"error": error}))
        else:
            self._tell(self._assembler.add(self._decoded(event.data)))

    def _tell(self, delta: Delta | None) -> None:
        if delta is not None:
            self._emit(delta)

    def _decoded(self, data: str) -> object:
        chunk = loose.read(data)
        if chunk is None and data.strip() != "null":
            said = self._failures.tidy(data)
            raise self._failures.failed(
                "protocol", f"{self._failures.provider} sent what is not JSON: {said}"
            )
        return chunk


def _too_much(failures: Failures, error: TooLarge) -> ModelFailed:
    """What is too large, as a failure that says what to do."""
    return failures.failed(
        "protocol",
        f"{failures.provider} sent too much: {error}. Ask for less at once; where it happens "
        "again, try another model.",
    )
