"""Where a person types in a chat: messages, and between them answers to questions."""

import time
from collections import deque
from collections.abc import Callable, Sequence

import anyio
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, Dimension, Window

from turnbuckle.cli.source import CHAT_PROMPT, Typed

QUIET = 1.0
"""Seconds without a key before a question takes the keys: those in flight must not answer it."""

MOST_ROWS = 10
"""How many rows of the prompt are seen at once."""


class Fields:
    """A prompt for messages, and one for answers, which stands in its place while `question` does.

    `keep` is told of every message.
    """

    def __init__(self, past: Sequence[str], keep: Callable[[str], None]) -> None:
        self.question: str | None = None
        self._keep = keep
        self._draft = Buffer(multiline=True, history=InMemoryHistory(past))
        self._reply = Buffer(multiline=True)
        self.control = BufferControl(self._draft, focus_on_click=False)
        self._typed: deque[Typed | None] = deque()
        self._news = anyio.Event()
        self._asking = anyio.Lock()
        self._answered = anyio.Event()
        self._answer: str | None = None
        self._last_key = -QUIET

    @property
    def current(self) -> Buffer:
        """What takes the keys."""
        return self._draft if self.question is None else self._reply

    @property
    def empty(self) -> bool:
        """Whether no message stands in the prompt."""
        return not self._draft.text

    def clear(self) -> None:
        """Take away the message that stands in the prompt; the up key brings it back."""
        self._draft.reset(append_to_history=True)

    async def next(self) -> Typed | None:
        """What is sent next; None when the person wants to leave."""
        while not self._typed:
            self._news = anyio.Event()
            await self._news.wait()
        return self._typed.popleft()

    def put_back(self, text: str) -> None:
        """Lay a text into the prompt again, if nothing stands there."""
        if self.empty:
            self._draft.insert_text(text)

    async def line(
        self, question: str, *, fresh: bool, given: str, asked: Callable[[], None]
    ) -> str | None:
        """Ask for a line; the message that stands in the prompt comes back afterwards.

        `fresh` asks only when no key has come for a moment; `asked` is told when it is asked.
        """
        async with self._asking:
            if fresh:
                await self._quiet()
            self._answered, self._answer = anyio.Event(), None
            self._reply.reset()
            self._reply.insert_text(given)
            self.question, self.control.buffer = question, self._reply
            asked()
            try:
                await self._answered.wait()
            finally:
                self.question, self.control.buffer = None, self._draft
            return self._answer

    async def _quiet(self) -> None:
        rest = QUIET
        while rest > 0:
            rest = self._last_key + QUIET - time.monotonic()
            await anyio.sleep(max(rest, 0))

    def touched(self, _: object) -> None:
        """A key came."""
        self._last_key = time.monotonic()

    def submit(self, *, steer: bool) -> None:
        """Take what stands there as the answer, or as a message."""
        text = self.current.text
        if self.question is not None:
            self._settle(text)
        elif text.strip():
            self._draft.reset(append_to_history=True)
            self._keep(text)
            self._typed.append(Typed(text, steer))
            self._news.set()

    def close(self) -> None:
        """The end of input."""
        if self.question is not None:
            self._settle(None)
        else:
            self._typed.append(None)
            self._news.set()

    def _settle(self, answer: str | None) -> None:
        if not self._answered.is_set():
            self._answer = answer
            self._answered.set()


def bindings(
    fields: Fields, complete: Callable[[str], str], interrupt: Callable[[], None]
) -> KeyBindings:
    """What the keys do that do more than edit; `complete` gives what may follow a text."""
    keys = KeyBindings()
    _sending(keys, fields)

    @keys.add("tab")
    def fill(_: KeyPressEvent) -> None:
        buffer = fields.current
        if buffer.text.startswith("/"):
            buffer.insert_text(complete(buffer.text))
        else:
            buffer.insert_text("    ")

    @keys.add("c-c")
    def stop(_: KeyPressEvent) -> None:
        interrupt()

    @keys.add("c-l")
    def wipe(event: KeyPressEvent) -> None:
        event.app.renderer.clear()

    return keys


def _sending(keys: KeyBindings, fields: Fields) -> None:
    """What ends a message, or does not."""

    @keys.add("enter")
    @keys.add("c-j")
    def send(_: KeyPressEvent) -> None:
        buffer = fields.current
        if buffer.text.endswith("\\") and buffer.document.is_cursor_at_the_end:
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            fields.submit(steer=False)

    @keys.add("c-s")
    def steer(_: KeyPressEvent) -> None:
        fields.submit(steer=True)

    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def go_on(_: KeyPressEvent) -> None:
        fields.current.insert_text("\n")

    @keys.add("c-d")
    def end(_: KeyPressEvent) -> None:
        if fields.current.text:
            fields.current.delete()
        else:
            fields.close()


def prompt_of(fields: Fields) -> Window:
    """The prompt as it is drawn."""

    def before(number: int, wraps: int) -> AnyFormattedText:
        style = "ansicyan" if fields.question is None else "ansiyellow bold"
        return [(style, CHAT_PROMPT if number == wraps == 0 else "  ")]

    return Window(
        fields.control,
        height=Dimension(min=1, max=MOST_ROWS),
        dont_extend_height=True,
        wrap_lines=True,
        get_line_prefix=before,
    )
