"""A session at the terminal, over memory: what is shown, asked and answered."""

import io
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import orjson
import pytest
from inline_snapshot import snapshot

from turnbuckle.cli.activity import Activity
from turnbuckle.cli.approving import Decide, Person, deny
from turnbuckle.cli.dialogue import Dialogue
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.opened import Talk, open_session
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.signals import Leave
from turnbuckle.cli.source import Typist
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.lsp.rpc import Connection
from turnbuckle.testing.plays import FakeApp
from turnbuckle.testing.wire import in_process

CWD = "file:///work"


class Keyboard:
    """Keys that a test types; each read gets the next, and the last one is awaited for ever."""

    def __init__(self, *keys: str) -> None:
        self._keys = list(keys)
        self.asked = anyio.Event()
        self.forgotten = 0

    async def read(self) -> str:
        if not self._keys:
            self.asked.set()
            await anyio.sleep_forever()
        return self._keys.pop(0)

    def forget(self) -> None:
        self.forgotten += 1


@dataclass
class Scene:
    """A dialogue with a fake server in the same process."""

    app: FakeApp
    talk: Talk
    dialogue: Dialogue
    out: io.StringIO
    leave: Leave = field(default_factory=Leave)

    async def turn(self, prompt: str) -> TurnResult:
        with anyio.fail_after(10):
            return await self.dialogue.turn(self.talk, prompt, self.leave)

    @property
    def answers(self) -> list[tuple[str | None, str | None]]:
        return [(answer.decision, answer.note) for answer in self.app.session.approvals.values()]

    @property
    def shown(self) -> str:
        return self.out.getvalue()


@asynccontextmanager
async def scene(keyboard: Keyboard | None = None, *, json: bool = False) -> AsyncIterator[Scene]:
    apps: list[FakeApp] = []

    def make(connection: Connection) -> FakeApp:
        apps.append(FakeApp(connection))
        return apps[-1]

    out = io.StringIO()
    activity = Activity(lambda: 0.0)
    screen = Screen(out, io.StringIO(), activity.lines)
    decide: Decide = Person(screen, Typist(screen, keyboard)).decide if keyboard else deny
    narration = None if json else Narration(echo=False, cwd=CWD)
    dialogue = Dialogue(screen, activity, decide, narration, cwd=CWD)
    async with in_process(make) as client:
        talk = Talk(client, await open_session(client, Path("/work"), None, dialogue.take))
        yield Scene(apps[0], talk, dialogue, out)


async def answered(prompt: str, *keys: str) -> list[tuple[str | None, str | None]]:
    """The answers that keys give to what a turn asks."""
    async with scene(Keyboard(*keys)) as played:
        await played.turn(prompt)
        return played.answers


async def test_an_answer_is_shown() -> None:
    async with scene() as played:
        result = await played.turn("hello")
        assert result.end == {"kind": "completed"}
        assert played.shown == "Hello, here I am.\n"


@pytest.mark.parametrize(
    "keys",
    [["y\n"], ["y", "\r"], ["YES\n"], ["  y \n"], ["x\n", "\n", "what?\n", "y\n"], ["n\x7fy\n"]],
)
async def test_only_a_clear_yes_allows(keys: list[str]) -> None:
    assert await answered("run", *keys) == [("allow", None)]


@pytest.mark.parametrize("keys", [["n\n"], ["No\n"], ["\x04"], [""], ["yep\n", "n\n"]])
async def test_a_no_and_the_end_of_input_reject(keys: list[str]) -> None:
    assert await answered("run", *keys) == [("reject", None)]


async def test_a_rejection_can_have_a_note() -> None:
    assert await answered("run", "r\nuse make\n") == [("reject", "use make")]
    assert await answered("run", "r\n", "\n") == [("reject", None)]


async def test_what_is_not_shown_whole_needs_the_whole_word() -> None:
    assert await answered("huge", "y\n", "n\n") == [("reject", None)]
    assert await answered("huge", "y\n", "yes\n") == [("allow", None)]


async def test_the_question_shows_the_subject_first() -> None:
    async with scene(Keyboard("y\n", "y\n")) as played:
        await played.turn("edit")
        assert played.shown == snapshot("""\
I change it.

● The agent wants to change files  changes are asked for
edit calc.py  +1 -1
  2 -     return a - b
  2 +     return a + b
Allow once? [y]es / [n]o / [r]eject with a note
  allowed once
✓ edit_file calc.py · exit code 0
  ...
  OK
""")


async def test_keys_typed_before_the_question_do_not_answer_it() -> None:
    keyboard = Keyboard("y\nn\n", "n\n")
    async with scene(keyboard) as played:
        await played.turn("two")
        assert keyboard.forgotten == 2
        assert played.answers == [("allow", None), ("reject", None)]


async def test_with_nobody_to_ask_nothing_is_allowed() -> None:
    async with scene() as played:
        await played.turn("run")
        assert played.answers == [("reject", "there is no terminal to ask at")]
        assert played.dialogue.denied
        assert "rejected: there is no terminal to ask at" in played.shown


async def test_a_person_who_says_no_is_not_a_missing_person() -> None:
    async with scene(Keyboard("n\n")) as played:
        await played.turn("run")
        assert not played.dialogue.denied


async def test_a_question_that_is_settled_elsewhere_is_withdrawn() -> None:
    keyboard = Keyboard()
    async with scene(keyboard) as played, anyio.create_task_group() as group:

        async def settle() -> None:
            await keyboard.asked.wait()
            played.app.session.settled_elsewhere.set()

        group.start_soon(settle)
        result = await played.turn("elsewhere")
        assert result.end == {"kind": "completed"}
        assert played.answers == []
        assert "withdrawn: it was settled elsewhere" in played.shown


async def test_an_interrupt_cancels_the_turn_and_withdraws_the_question() -> None:
    keyboard = Keyboard()
    async with scene(keyboard) as played, anyio.create_task_group() as group:

        async def interrupt() -> None:
            await keyboard.asked.wait()
            assert played.leave.interrupt is not None
            played.leave.interrupt()

        group.start_soon(interrupt)
        result = await played.turn("run")
        assert result.end == {"kind": "aborted", "cause": "user"}
        assert played.answers == []
        assert played.leave.interrupt is None
        assert played.shown.endswith("cancelled\n")


async def test_a_turn_that_is_refused_says_so_and_the_next_one_runs() -> None:
    async with scene() as played:
        with pytest.raises(ServerRefused, match="no play"):
            await played.turn("nonsense")
        await played.turn("hello")
        assert "Hello" in played.shown


def values(lines: Iterable[str]) -> list[str]:
    return [orjson.loads(line)["type"] for line in lines]


async def test_as_json_every_value_is_a_line_and_nothing_else_is() -> None:
    async with scene(json=True) as played:
        await played.turn("run")
        lines = played.shown.splitlines()
        assert values(lines)[:3] == ["turn/start", "step/start", "user/message"]
        assert values(lines)[-1] == "turn/end"
        assert "approval/asked" in values(lines)
        assert [orjson.loads(line)["seq"] for line in lines] == list(range(len(lines)))


async def test_damaged_and_unknown_values_are_skipped() -> None:
    async with scene() as played:
        for value in (None, 3, {}, {"seq": 1, "type": "turn/end", "data": {}}, {"type": "x"}):
            played.dialogue.take(value)
        assert played.shown == ""
