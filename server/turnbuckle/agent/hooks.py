"""The waterfalls of the loop; those of a tool call are embedded."""

from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import TypeAlias

from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.kernel.waterfall import Waterfall
from turnbuckle.model.port import Request
from turnbuckle.session.events import UserMessage
from turnbuckle.session.parts import Failure
from turnbuckle.tools.hooks import ToolHooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A named part of the system prompt."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The system prompt while it is assembled; `{{name}}` in a section takes a variable's value."""

    sections: tuple[Section, ...]
    variables: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreStep:
    """The step that is about to start, with the input that would enter."""

    turn: int
    step: int
    messages: tuple[UserMessage, ...]


@dataclass(frozen=True, slots=True)
class Enter:
    """The step starts, with exactly these messages."""

    messages: tuple[UserMessage, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    """The input is refused; the turn ends `blocked`."""

    reason: str

    def __post_init__(self) -> None:
        _require_text(self.reason)


@dataclass(frozen=True, slots=True)
class Stop:
    """The turn ends before this step, `stopped`."""

    reason: str

    def __post_init__(self) -> None:
        _require_text(self.reason)


def _require_text(reason: object) -> None:
    # In the layer that gave it, so that the error names it.
    if not isinstance(reason, str):
        raise TypeError(f"a reason is a text, not {type(reason).__name__}")


Decision: TypeAlias = Enter | Reject | Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailure:
    """An attempt that failed; `why` as in `Request`."""

    turn: int
    step: int
    attempt: int
    failure: Failure
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after so many seconds."""

    after: float


@dataclass(frozen=True, slots=True)
class TurnStopping:
    """Nothing is owed any more; a layer that steers now gets one more step."""

    turn: int


Clean: TypeAlias = Callable[[str], str]
"""What becomes of a text before it is kept."""


class Typed:
    """What the person types passes through these, in order, before it is a fact."""

    def __init__(self) -> None:
        self._cleaners: Owned[Clean] = Owned()

    def use(self, scope: Scope, clean: Clean) -> Disposer:
        """Add one that leaves with its scope; what it raises refuses the message."""
        return self._cleaners.add(scope, clean, "typed")

    def __call__(self, text: str) -> str:
        """The text as it may be kept."""
        for clean in self._cleaners:
            text = clean(text)
        return text


class Hooks:
    """Everything that a plugin can stand around."""

    def __init__(self) -> None:
        self.prompt: Waterfall[Prompt, Prompt] = Waterfall("system-prompt/assemble", Prompt)
        self.pre_step: Waterfall[PreStep, Decision] = Waterfall(
            "agent/pre-step", (Enter, Reject, Stop)
        )
        self.request: Waterfall[Request, Request] = Waterfall("agent/request", Request)
        self.request_error: Waterfall[RequestFailure, Retry | None] = Waterfall(
            "agent/request-error", (Retry, NoneType)
        )
        self.turn_stopping: Waterfall[TurnStopping, None] = Waterfall("agent/turn-stopping")
        self.tools = ToolHooks()
        self.typed = Typed()

    def held_by(self) -> dict[object, tuple[str, str]]:
        """Which layers are at work now, as `Waterfall.held_by`: their owner, and the hook."""
        tools = self.tools
        found: dict[object, tuple[str, str]] = {}
        for waterfall in (
            self.prompt, self.pre_step, self.request, self.request_error, self.turn_stopping,
            tools.pre_execute, tools.execute, tools.post_execute,
        ):  # fmt: skip
            found |= {key: (who, waterfall.name) for key, who in waterfall.held_by().items()}
        return found
