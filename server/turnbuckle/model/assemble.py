"""The chunks of a chat completion, as deltas and in the end one reply; pure and incremental."""

from collections.abc import Iterator

from turnbuckle.model.failures import Failures, error_in
from turnbuckle.model.fragments import Calls
from turnbuckle.model.limits import ANSWER_LIMIT, TooLarge
from turnbuckle.model.pieces import Text, word
from turnbuckle.model.port import Delta, Reply, cut
from turnbuckle.model.providers import Provider
from turnbuckle.model.thinking import Thinking
from turnbuckle.session.parts import CallDelta, JsonObject, Usage

TRUNCATED = "truncated"
"""The finish of an answer that ended without one."""

BROKEN = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Finish reasons by which a provider says that it failed."""

_TOO_MANY = 2**53  # more than this is no count, and no JSON number that everyone can read


class Assembler:
    """Gathers one answer from the JSON objects of its stream, in linear time.

    A whole completion (with `message` instead of `delta`) is taken as a stream of one chunk.
    """

    def __init__(self, provider: Provider, failures: Failures) -> None:
        self._failures = failures
        self._reasoning_fields = provider.reasoning_fields
        self._thinking = Thinking() if provider.think_tags else None
        self._content = Text()
        self._reasoning = Text()
        self._calls = Calls()
        self._finish: str | None = None
        self._usage: Usage | None = None
        self.reasoning_field: str | None = None
        """The field that the thoughts came in, if some came."""

    @property
    def finished(self) -> bool:
        """Whether the provider said how the answer ends; only its usage may still come."""
        return self._finish is not None

    @property
    def said(self) -> bool:
        """Whether anything of an answer came: text, thoughts or a call."""
        return bool(self._content or self._reasoning or self._calls)

    @property
    def counted(self) -> bool:
        """Whether usage was given."""
        return self._usage is not None

    def add(self, chunk: object) -> Delta | None:
        """Take one chunk; what it added to the answer, if anything.

        Raises:
            ModelFailed: the chunk is a report of an error.
            TooLarge: the answer is larger than any that is wanted.
        """
        error = error_in(chunk)
        if error is not None:
            if self.finished:
                return None  # the answer is complete; what fails after it is not its fault
            raise self._failures.reported(error)
        if not isinstance(chunk, dict):
            return None
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            choice = {}
        self._usage = _usage(chunk.get("usage")) or _usage(choice.get("usage")) or self._usage
        delta = self._delta(choice.get("delta") or choice.get("message"))
        self._finish = word(choice.get("finish_reason")) or self._finish
        return delta

    def end(self) -> Delta | None:
        """What waited for more, when nothing more comes."""
        return self._told(*self._thinking.end()) if self._thinking else None

    def reply(self) -> Reply:
        """The whole answer after its end, however little it is.

        Raises:
            ModelUnavailable: the provider said that it failed.
        """
        finish = self._finish or TRUNCATED
        if self._finish in BROKEN:
            raise self._failures.failed(
                "server",
                f"{self._failures.provider} broke off its answer ({self._finish}) "
                "without saying why.",
            )
        return Reply(
            content=self._content.whole(),
            reasoning=self._reasoning.whole() or None,
            tool_calls=() if cut(finish) else self._calls.whole(),
            finish=finish,
            usage=self._usage,
        )

    def _delta(self, delta: object) -> Delta | None:
        if not isinstance(delta, dict):
            return None
        text = "".join(_texts(delta.get("content") or delta.get("refusal"), "text"))
        thought = self._thought(delta)
        if self._thinking is not None:
            tagged, text = self._thinking.feed(text)
            thought += tagged
        fragments = delta.get("tool_calls")
        calls = self._calls.add(fragments) if isinstance(fragments, list) else ()
        return self._told(thought, text, calls)

    def _told(self, thought: str, text: str, calls: tuple[CallDelta, ...] = ()) -> Delta | None:
        thought, text = self._reasoning.add(thought), self._content.add(text)
        if self._reasoning.size + self._content.size + self._calls.size > ANSWER_LIMIT:
            raise TooLarge(f"it is larger than {ANSWER_LIMIT} characters")
        if not (text or thought or calls):
            return None
        return Delta(text=text or None, reasoning=thought or None, tool_calls=calls)

    def _thought(self, delta: JsonObject) -> str:
        for name in self._reasoning_fields:
            value = delta.get(name)
            if isinstance(value, str) and value:
                self.reasoning_field = name
                return value
        return "".join(_texts(delta.get("content"), "thinking", plain=False))


def _texts(content: object, kind: str, *, plain: bool = True) -> Iterator[str]:
    """The texts in a `content`: a string, or a list of typed parts that may hold lists again."""
    if isinstance(content, str):
        if plain:
            yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and part.get("type") == kind:
                inner = part.get(kind)
                yield from [inner] if isinstance(inner, str) else _texts(inner, "text")


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    given, made = _count(value, "prompt_tokens"), _count(value, "completion_tokens")
    if given is None and made is None:
        return None
    total = _count(value, "total_tokens")
    cached = _count(value.get("prompt_tokens_details"), "cached_tokens")
    return Usage(
        input=given or 0,
        output=made or 0,
        total=(given or 0) + (made or 0) if total is None else total,
        cached=_count(value, "prompt_cache_hit_tokens") if cached is None else cached,
        reasoning=_count(value.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(value: object, name: str) -> int | None:
    count = value.get(name) if isinstance(value, dict) else None
    return count if type(count) is int and 0 <= count < _TOO_MANY else None
