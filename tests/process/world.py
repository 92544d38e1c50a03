"""A model and a folder of files whose random doings a seed decides, and when a server is killed."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from turnbuckle.testing.completions import DONE, answer, chunk
from turnbuckle.testing.modelserver import Received, Response

CallMade: TypeAlias = tuple[str, str, dict[str, Any]]
"""A call's id, tool and arguments. Any: JSON."""

LINES = 30
"""Lines of the file that the model edits."""

_SCRATCH = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")


class Fate:
    """Kills after so many things have happened, whatever they are; `came` is set then."""

    def __init__(self, after: int, kill: Callable[[], None]) -> None:
        self.came = anyio.Event()
        self._left = after
        self._kill = kill

    def tick(self) -> None:
        """Something has happened: a value came, a request was made, a piece was said."""
        self._left -= 1
        if self._left <= 0 and not self.came.is_set():
            self.came.set()
            self._kill()


class World:
    """One seed's model, workspace and dice.

    `calm`: the model does what the `plan` says, and then only says that all is well.

    `requests` are how many requests of the server that lives now came to the model, `before` the
    files as it found them.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.work, self.state = folder / "work", folder / "state"
        self.calm = True
        self.plan: list[Response] = []
        self.fate: Fate | None = None
        self.requests = 0
        self._calls = 0
        self.before: dict[str, str] = {}
        self.work.mkdir(parents=True)
        text = "".join(f"line {number} as it was\n" for number in range(LINES))
        (self.work / "a.txt").write_text(text, encoding="utf-8")
        (self.work / "ledger").touch()

    def begin(self) -> None:
        """A new server lives."""
        self.calm, self.fate, self.requests = True, None, 0
        self.before = self.files()

    def chance(self, share: float) -> bool:
        """Whether something happens that does so in this share of the cases."""
        return self.rng.random() < share

    def tick(self) -> None:
        """Something has happened."""
        if self.fate is not None:
            self.fate.tick()

    def files(self) -> dict[str, str]:
        """The text of every file of the workspace, by name.

        Without hidden ones that were not finished: of a write that a kill cut off, that much stays.
        """
        paths = sorted(path for path in self.work.iterdir() if not _SCRATCH.fullmatch(path.name))
        return {path.name: path.read_text(encoding="utf-8") for path in paths}

    def play(self, received: Received) -> Response:
        """Answer a request, whose calls must all have their results."""
        if received.method != "POST":
            return Response(status=404)
        messages = received.json["messages"]
        require_pairs(messages)
        self.requests += 1
        self.tick()
        if self.calm:
            return self.plan.pop(0) if self.plan else answer("All is well.")
        some = self.rng.choice([0, 1, 1, 2, 4])
        calls = [call for _ in range(some) for call in self._calls_for_one_thing()]
        words = " ".join("word" for _ in range(self.rng.randrange(8)))
        whole = answer(words, *calls)
        cut = self.rng.random()
        if cut < 0.05:
            return Response(chunks=self._ticking(list(whole.chunks)[:-1]), end="hang")  # type: ignore[arg-type]
        if cut < 0.1:
            return Response(chunks=self._ticking([chunk({"content": "half"})]), end="cut")
        return Response(chunks=self._ticking(list(whole.chunks)))  # type: ignore[arg-type]

    def _ticking(self, chunks: list[bytes]) -> Iterator[bytes]:
        for one in chunks:
            if one != DONE:
                self.tick()
            yield one

    def _calls_for_one_thing(self) -> list[CallMade]:
        call_id, do = self._id(), self.rng.random()
        if do < 0.4:
            edit = (call_id, "edit_file", {"path": "a.txt", "edits": self._edits(call_id)})
            return [(self._id(), "read_file", {"path": "a.txt"}), edit]
        if do < 0.55:
            content = f"made by {call_id}\n" * 100
            return [(call_id, "write_file", {"path": f"{call_id}.txt", "content": content})]
        if do < 0.85:
            # It tells that it has begun, and may then have to be ended.
            more = self.rng.choice(["", "", "", "; exec sleep 600", "; sleep 600 & sleep 600"])
            return [(call_id, "run_command", {"command": f"echo {call_id} >> ledger{more}"})]
        if do < 0.95:
            items = [{"text": call_id, "state": "pending"}]
            return [(call_id, "todo_write", {"items": items})]
        return [(call_id, "nope", {})]

    def _id(self) -> str:
        self._calls += 1
        return f"c{self._calls}"

    def edit_turn(self) -> list[Response]:
        """Answers of a turn in which the model edits one file and makes another."""
        edit, make = self._id(), self._id()
        content = f"made by {make}\n" * 100
        return [
            answer("word " * 300, (self._id(), "read_file", {"path": "a.txt"})),
            answer(
                "",
                (edit, "edit_file", {"path": "a.txt", "edits": self._edits(edit)}),
                (make, "write_file", {"path": f"{make}.txt", "content": content}),
            ),
            answer("Done."),
        ]

    def _edits(self, call_id: str) -> list[dict[str, str]]:
        lines = (self.work / "a.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        chosen = self.rng.sample(range(0, len(lines), 10), 2)
        return [
            {"old": lines[at], "new": re.sub(" .*", f" {at} by {call_id}", lines[at])}
            for at in chosen
        ]


def require_killed(words: str, world: World) -> None:
    """Pass if a server is gone, or did not answer, because it was killed; else say its last words."""
    assert world.fate is not None, words
    assert world.fate.came.is_set(), words


def require_pairs(messages: list[dict[str, Any]]) -> None:  # Any: JSON
    """Pass if each call in a request has its result, right behind it and in order."""
    owed: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert owed, "a result without its call"
            assert owed.pop(0) == message["tool_call_id"]
            continue
        assert not owed, f"no results for {owed}"
        owed = [call["id"] for call in message.get("tool_calls") or ()]
    assert not owed, f"no results for {owed}"
