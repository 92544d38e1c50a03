"""Who is measured: this server, and the two floors; each as a process that is spoken to."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchmarks.model import Asked, ScriptedModel
from benchmarks.script import Script
from benchmarks.wire import NoAnswer, Stamped, Wire

FLOORS = Path(__file__).resolve().parent / "floor"
FILES = 220
"""Files to read in the workspace, one a step."""

_MARK = re.compile(r"m(\d{6}) ")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a contestant works: files to read, and a folder for whatever it writes."""

    workspace: Path
    scratch: Path

    def file(self, step: object) -> str:
        """The path of the file for a step."""
        return str(self.workspace / f"sample-{step}.txt")

    def make(self) -> None:
        """Write the files: 60 lines each."""
        self.workspace.mkdir(parents=True)
        self.scratch.mkdir(parents=True)
        for step in range(FILES):
            lines = (f"line {line}: the quick brown fox of file {step}\n" for line in range(60))
            Path(self.file(step)).write_text("".join(lines), encoding="utf-8", newline="\n")
        # A turn here may have more steps than is usual.
        (self.scratch / "config.toml").write_text("max_steps = 1000\n", encoding="utf-8")


@dataclass(slots=True)
class Turn:
    """One turn as it was seen from outside; times in nanoseconds."""

    sent: int
    done: int
    asked: list[Asked]
    texts: list[tuple[int, str]] = field(default_factory=list)

    @property
    def to_request(self) -> float:
        """Milliseconds from the prompt to the first byte of the first request."""
        return (self.asked[0].began - self.sent) / 1e6

    def arrivals(self) -> dict[int, int]:
        """When each chunk arrived, by its number; texts may be merged or cut anywhere."""
        seen: dict[int, int] = {}
        rest = ""
        for at, text in self.texts:
            rest += text
            end = 0
            for mark in _MARK.finditer(rest):
                seen.setdefault(int(mark[1]), at)
                end = mark.end()
            rest = rest[end:]
        return seen


class Agent:
    """A contestant that runs. The floors' dialect of the wire; ours differs where it must."""

    def __init__(self, wire: Wire, model: ScriptedModel, place: Place) -> None:
        self.wire = wire
        self.model = model
        self.place = place

    @property
    def pid(self) -> int:
        """Its process."""
        return self.wire.pid

    def start(self) -> tuple[int, int]:
        """Shake hands: when `initialize` was answered, and when a first prompt may be sent."""
        folder = self.place.workspace.as_uri()
        _, answered, _ = self.wire.call(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder,
                "capabilities": {
                    "experimental": {"turnbuckle": {"protocolVersions": [1], "events": {}}}
                },
                "workspaceFolders": [{"uri": folder, "name": "bench"}],
            },
        )
        self.wire.notify("initialized", {})
        return answered, self.opened() or answered

    def opened(self) -> int | None:
        """Open what must be open before the first prompt; when that was, if there is anything."""
        return None

    def send(self, script: Script) -> tuple[int, int]:
        """Send a prompt: the id of its request, and when."""
        return self.wire.request("agent/turn", {"prompt": script.prompt(), "token": "t"})

    def say(self, script: Script, timeout: float = 120) -> Turn:
        """One whole turn.

        Raises:
            Failed: it was refused.
            NoAnswer: it did not end, or nothing was asked of the model.
        """
        before = self.model.requests
        self.wire.progress.clear()
        identity, sent = self.send(script)
        done, _ = self.wire.answer(identity, timeout)
        progress = list(self.wire.progress)
        asked = self.model.since(before, script.steps + 1)
        if len(asked) <= script.steps:
            raise NoAnswer(f"{len(asked)} requests were made instead of {script.steps + 1}")
        return Turn(sent, done, asked, list(self._texts(progress)))

    def _texts(self, progress: Iterable[Stamped]) -> Iterable[tuple[int, str]]:
        for at, body in progress:
            if text := self.text(orjson.loads(body)["params"]["value"]):
                yield at, text

    def text(self, value: Any) -> str | None:  # Any: JSON
        """The text in a progress value."""
        text = value.get("text")
        return text if isinstance(text, str) else None


class Ours(Agent):
    """This server: its session is open and subscribed before the first prompt."""

    session = ""
    _keys = 0

    def opened(self) -> int | None:
        """Open a session, and subscribe to it."""
        self.session, at = self.open_session()
        params = {"sessionId": self.session, "token": "events"}
        self.wire.call("turnbuckle/session/events", params)
        return at

    def open_session(self) -> tuple[str, int]:
        """A new session, and when it was open."""
        cwd = self.place.workspace.as_uri()
        _, at, result = self.wire.call("turnbuckle/session/open", {"cwd": cwd})
        return result["sessionId"], at

    def send(self, script: Script) -> tuple[int, int]:
        """Send a prompt."""
        self._keys += 1
        return self.wire.request(
            "turnbuckle/turn",
            {
                "sessionId": self.session,
                "key": f"bench-{self._keys}",
                "input": [{"type": "text", "text": script.prompt()}],
            },
        )

    def text(self, value: Any) -> str | None:  # Any: JSON
        """The text in a fact: a chunk's, or the whole answer's, which may overtake chunks."""
        named = {"assistant/chunk": "text", "assistant/message": "content"}.get(value["type"], "")
        text = value["data"].get(named)
        return text if isinstance(text, str) else None


@dataclass(frozen=True, slots=True)
class Contestant:
    """How a process of it is started."""

    name: str
    argv: tuple[str, ...]
    speak: Callable[[Wire, ScriptedModel, Place], Agent]

    def spawn(self, model: ScriptedModel, place: Place) -> Agent:
        """Start a process; it is not spoken to yet."""
        wire = Wire(
            self.argv,
            env=_environment(model, place),
            cwd=place.workspace,
            errors=place.scratch / f"{self.name}.log",
        )
        return self.speak(wire, model, place)


# -P, so that nothing in the folder it stands in is imported by mistake; as editors start servers.
_PYTHON = (sys.executable, "-P")
PLAIN = Contestant("plain", (*_PYTHON, str(FLOORS / "plain.py")), Agent)
STOCK = Contestant("stock", (*_PYTHON, str(FLOORS / "stock.py")), Agent)
OURS = Contestant("ours", (*_PYTHON, "-m", "turnbuckle", "serve"), Ours)
ALL = (PLAIN, STOCK, OURS)


def _environment(model: ScriptedModel, place: Place) -> dict[str, str]:
    """This process's environment, without what would make a contestant differ from a fresh one."""
    foreign = ("TURNBUCKLE_", "PYTHON")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(foreign) and not name.lower().endswith("_proxy")
    }
    return {
        **kept,
        "BENCH_URL": model.url,
        "TURNBUCKLE_BASE_URL": model.url,
        "TURNBUCKLE_MODEL": "m",
        "TURNBUCKLE_CONFIG": str(place.scratch / "config.toml"),
        "TURNBUCKLE_STATE_DIR": str(place.scratch / "state"),
    }
