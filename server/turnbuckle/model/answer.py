"""One answer from the bytes of its body, however they were cut; pure."""

from turnbuckle.model import loose
from turnbuckle.model.assemble import Assembler
from turnbuckle.model.failures import Failures, error_in
from turnbuckle.model.port import Emit, ModelFailed, Reply
from turnbuckle.model.providers import Provider
from turnbuckle.model.sse import EventTooLarge, SseEvent, SseParser

ANSWER_LIMIT = 256 * 1024 * 1024
"""The most bytes that one streamed answer may have."""

_DONE = "[DONE]"


class Answer:
    """Takes a body, piece by piece or whole; says what it means to `emit`, and in the end `reply`.

    Everything raises ModelFailed where the provider reports an error, or where what came cannot be
    understood.
    """

    def __init__(self, provider: Provider, failures: Failures, emit: Emit) -> None:
        self._failures = failures
        self._emit = emit
        self._parser = SseParser()
        self._assembler = Assembler(failures, provider.reasoning_fields)
        self._size = 0
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
    def reasoning_field(self) -> str | None:
        """The field that the thoughts came in, if some came."""
        return self._assembler.reasoning_field

    def take(self, data: bytes) -> bool:
        """Take a piece of an event stream; whether it completed an event (comments are none)."""
        self._size += len(data)
        if self._size > ANSWER_LIMIT:
            raise self._too_much(f"the answer is larger than {ANSWER_LIMIT} bytes")
        try:
            events = self._parser.feed(data)
        except EventTooLarge as error:
            raise self._too_much(str(error)) from error
        for event in events:
            self._event(event)
        return bool(events)

    def end(self) -> None:
        """The stream is over, or broken off: a last event may be torn, and is left out then."""
        for event in self._parser.close():
            if event.name == "error" or event.data.strip() == _DONE or loose.read(event.data):
                self._event(event)

    def take_whole(self, body: bytes) -> None:
        """Take an answer that came in one piece, though a stream was asked for."""
        text = body.decode(errors="replace")
        chunk = self._decoded(text)
        if error_in(chunk) is None and not (isinstance(chunk, dict) and chunk.get("choices")):
            said = self._failures.tidy(text)
            raise self._failures.failed(
                "protocol", f"{self._failures.provider} sent JSON that is no answer: {said}"
            )
        self._add(chunk)

    def reply(self) -> Reply:
        """The whole answer, when nothing more comes."""
        return self._assembler.reply()

    def _too_much(self, why: str) -> ModelFailed:
        return self._failures.failed("protocol", f"{self._failures.provider} sent too much: {why}.")

    def _event(self, event: SseEvent) -> None:
        if self._done:
            return
        if event.data.strip() == _DONE:
            self._done = True
        elif event.name == "error":
            said = loose.read(event.data)
            self._add({"error": error_in(said) or said or event.data})
        else:
            self._add(self._decoded(event.data))

    def _add(self, chunk: object) -> None:
        delta = self._assembler.add(chunk)
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
