"""What must be true of a session's file, and of the workspace, when its server was killed."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from agent.order import check_log
from process.life import Life
from process.world import World
from turnbuckle.session.codec import Entry, parse
from turnbuckle.session.events import (
    ContextRewound,
    EditApplied,
    EditApplying,
    EditUndone,
    InboxAdded,
    LlmStream,
    ToolCall,
    ToolStart,
    TurnEnd,
)
from turnbuckle.session.recovery import closing
from turnbuckle.session.store import read_lines
from turnbuckle.session.verification import verify_file
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.paths import uri_of


class Case:
    """One session over many lives of servers; `lines` and `torn` as the last kill left them."""

    def __init__(self, world: World, session_id: str) -> None:
        self.world = world
        self.session_id = session_id
        self.lines: list[bytes] = []
        self.torn = b""

    @property
    def path(self) -> Path:
        """The session's file."""
        month = f"{self.session_id[:4]}-{self.session_id[4:6]}"
        return self.world.state / "sessions" / month / f"{self.session_id}.jsonl"

    def killed(self, life: Life, stats: Counter[str]) -> None:
        """Look at what a kill has left, against what the client and the model had seen."""
        lines, torn = read_lines(self.path)
        assert lines[: len(self.lines)] == self.lines, "what was on disk has changed"
        entries = [parse(line) for line in lines]
        assert [entry.seq for entry in entries] == list(range(len(entries)))
        for value in life.values:
            require_seen(value, lines)
        for turn in life.turns:
            end = entries[turn.seq].fact
            assert isinstance(end, TurnEnd)
            assert end.turn == turn.turn
        new = entries[len(self.lines) :]
        asked = sum(isinstance(entry.fact, LlmStream) for entry in new)
        assert asked >= self.world.requests, "a model was asked before that was on disk"
        self._require_edits(new)
        self._require_commands(entries)
        stats["edits"] += sum(isinstance(entry.fact, EditApplied) for entry in new)
        stats["commands"] += sum(isinstance(entry.fact, ToolStart) for entry in new)
        self.lines, self.torn = lines, torn

    def _require_edits(self, new: list[Entry]) -> None:
        """No file was touched that the log does not tell of, and each is whole.

        That a session is taken back is on disk before its files are, which each have a fact then.
        """
        edits: dict[str, EditApplying | EditApplied | EditUndone] = {}
        rewound = False
        for entry in new:
            if isinstance(entry.fact, EditApplying | EditApplied | EditUndone):
                edits[entry.fact.uri] = entry.fact
            rewound |= isinstance(entry.fact, ContextRewound)
        before, files = self.world.before, self.world.files()
        for name in (before.keys() | files.keys()) - {"ledger"}:
            text, edit = files.get(name), edits.get(uri_of(self.world.work / name))
            assert text is None or len(text.splitlines()) == (30 if name == "a.txt" else 100)
            if rewound:
                continue
            if edit is None:
                assert text == before.get(name), f"{name} was changed, and no fact tells"
            elif isinstance(edit, EditApplied) and edit.outcome == "applied":
                assert text is not None
                assert digest_of(text) == edit.after

    def _require_commands(self, entries: list[Entry]) -> None:
        """No command began whose beginning is not on disk."""
        ledger = (self.world.work / "ledger").read_text(encoding="utf-8").split()
        started = {e.fact.call_id for e in entries if isinstance(e.fact, ToolStart)}
        calls = {
            orjson.loads(e.fact.arguments)["command"].split()[1]: e.fact.call_id
            for e in entries
            if isinstance(e.fact, ToolCall) and e.fact.name == "run_command"
        }
        for word in ledger:
            # Others are of other sessions in the same folder.
            if word in calls:
                assert calls[word] in started, f"{word} began before that was on disk"
        mine = [word for word in ledger if word in calls]
        assert len(mine) == len(set(mine)), "a command ran twice"

    def opened(self, stats: Counter[str], more: int = 0) -> None:
        """Look at what opening the session again has made of it, before the last `more` facts."""
        lines, torn = read_lines(self.path)
        assert not torn
        before = [parse(line) for line in self.lines]
        assert lines[: len(before)] == self.lines
        entries = [parse(line) for line in lines]
        closed = entries[len(before) : len(entries) - more]
        assert [entry.fact for entry in closed] == closing(before)
        if closing(before):
            stats["turns that were cut off"] += 1
        if self.torn:
            stats["torn lines"] += 1
            kept = [one.read_bytes() for one in self.path.parent.glob(f"{self.path.stem}.torn-*")]
            assert self.torn in kept
        self.lines, self.torn = lines, b""
        self.whole(stats)

    def taken_over(self, stats: Counter[str]) -> None:
        """Look at what another server made of it, which has had one turn since."""
        entries = [parse(line) for line in read_lines(self.path)[0]]
        behind = entries[len(self.lines) :]
        went_on = [entry.seq for entry in behind if isinstance(entry.fact, InboxAdded)]
        self.opened(stats, len(entries) - went_on[0])

    def whole(self, stats: Counter[str]) -> None:
        """The file of a session in which no turn runs."""
        lines, torn = read_lines(self.path)
        assert not torn
        check_log([parse(line) for line in lines], stats)
        verified = verify_file(self.path)
        assert verified.ok, verified


def require_all_open(state: Path, stats: Counter[str]) -> None:
    """Look at all sessions that there are, the forked ones too, once they are closed."""
    for path in (state / "sessions").rglob("*.jsonl"):
        entries = [parse(line) for line in read_lines(path)[0]]
        ends = enumerate(closing(entries), len(entries))
        check_log([*entries, *(Entry(seq, 0, fact) for seq, fact in ends)], stats)
        assert verify_file(path).ok
        stats["sessions"] += 1


def require_seen(value: dict[str, Any], lines: list[bytes]) -> None:  # Any: JSON
    """Pass if what a client was told is on disk; waiting chunks come as one."""
    seq = value["seq"]
    assert seq < len(lines), f"{value['type']} was shown and is lost"
    stored = orjson.loads(lines[seq])
    if value["type"] == "request/header":
        stored.pop("data"), value.pop("data")
    if value["type"] != "assistant/chunk":
        assert stored == value
        return
    said = ""
    while stored["type"] == "assistant/chunk":
        said = stored["data"].get("text", "") + said
        seq -= 1
        stored = orjson.loads(lines[seq])
    assert said.endswith(value["data"].get("text", ""))
