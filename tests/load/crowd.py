"""Many sessions of one server at once: what each asks for, what it is told, what must come of it."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import orjson

from agent.order import check_log
from process.autopsy import require_seen
from process.world import CallMade
from turnbuckle.lsp import names
from turnbuckle.lsp.client import Client
from turnbuckle.lsp.lives import SessionEventsParams, SessionEventsStopParams, SessionParams
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.session.codec import parse
from turnbuckle.session.store import read_lines
from turnbuckle.session.verification import verify_file
from turnbuckle.testing.completions import answer, chunk, failure
from turnbuckle.testing.modelserver import Received, Response

ENDS = {
    "talk": {"kind": "completed"},
    "read": {"kind": "completed"},
    "write": {"kind": "completed"},
    "command": {"kind": "completed"},
    "refused": {"kind": "completed"},
    "flood": {"kind": "aborted", "cause": "user"},
    "silence": {"kind": "aborted", "cause": "user"},
    "unanswered": {"kind": "aborted", "cause": "user"},
    "endless": {"kind": "aborted", "cause": "user"},
    "stop-stream": {"kind": "aborted", "cause": "user"},
    "stop-question": {"kind": "aborted", "cause": "user"},
    "stop-command": {"kind": "aborted", "cause": "user"},
    "fail": {"kind": "error"},
}
"""What a member may ask for, and how a turn ends that was asked that."""

ENDLESS = {
    "flood": "assistant/chunk",
    "silence": "assistant/chunk",
    "unanswered": "approval/asked",
    "endless": "tool/start",
}
"""What goes on until somebody else stops it, and what tells that it has begun."""

ACTS = tuple(act for act in ENDS if act not in ENDLESS)

RUNNING = ("command", "refused", "stop-question", "stop-command", "unanswered", "endless")
"""What makes the model run a command, or ask for that."""

LIMIT = 60.0
"""Seconds that one turn may take among many, on a machine that does much else."""

_MEMBER = re.compile(r"member\d+")
_ASKED = re.compile(r"^(member\d+) (\S+) (\d+)$", re.MULTILINE)


def named(number: int) -> str:
    """What a member is called; it stands in all that is said to it and by it, and nowhere else."""
    return f"member{number}"


class Ears:
    """The model of all of them: it does what a prompt says, and hears whether anything is mixed up.

    `asked` counts requests by member, `mixed` are requests in which another member stands too.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.mixed: list[str] = []

    def play(self, received: Received) -> Response:
        """Answer a request."""
        if received.method != "POST":
            return Response(status=404)
        who, act, number = self._who(received)
        last = received.json["messages"][-1]
        if last["role"] == "tool":
            return answer(f"{who} has what it wanted.")
        if act in ("flood", "silence", "stop-stream"):
            return _unending(who, act)
        if act == "fail":
            return failure(400, {"message": f"{who} may not", "type": "invalid_request_error"})
        called = _called(who, act, number)
        return answer(" ".join(f"{who}-says-{word}" for word in range(40)), *called)

    def _who(self, received: Received) -> tuple[str, str, str]:
        said = [one["content"] for one in received.json["messages"] if one["role"] == "user"]
        who, act, number = [found for text in said for found in _ASKED.findall(text)][-1]
        self.asked[who] += 1
        if (heard := set(_MEMBER.findall(received.body.decode()))) != {who}:
            self.mixed.append(f"{who} was asked, and stood beside {heard - {who}}")
        return who, act, number


def _unending(who: str, act: str) -> Response:
    """An answer that goes on for ever, or stays away after its first words."""
    if act == "flood":
        return Response(chunks=(chunk({"content": f"{who}-goes-on-{n} "}) for n in count()))
    return Response(chunks=[chunk({"content": f"{who} begins"})], end="hang")


def _called(who: str, act: str, number: str) -> tuple[CallMade, ...]:
    """What the model calls for this."""
    call = f"{who}-{number}"
    if act == "read":
        return ((call, "read_file", {"path": f"{who}.txt"}),)
    if act == "write":
        made = {"path": f"{who}-{number}.txt", "content": f"{who} wrote {number}\n"}
        return ((call, "write_file", made),)
    if act in RUNNING:
        more = "; exec sleep 600" if act in ("stop-command", "endless") else ""
        line = f"echo {act}-{number} >> {who}.ledger{more}"
        return ((call, "run_command", {"command": line}),)
    return ()


class Member:
    """One session of the crowd, and all that it is told of it."""

    def __init__(self, client: Client, name: str) -> None:
        self.name = name
        self.session_id = ""
        self.values: list[dict[str, Any]] = []  # Any: JSON
        self.said = 0
        self.turns: list[TurnResult] = []
        self.expected: Counter[str] = Counter()
        self._client = client
        self._number = 0
        self._changed = anyio.Event()

    def hear(self, value: dict[str, Any]) -> None:  # Any: JSON
        """A value came on the token of this session."""
        if value["type"] == "assistant/chunk":
            self.said += len(value["data"].get("text", ""))
        if "seq" in value:
            self.values.append(value)
        self._changed.set()
        self._changed = anyio.Event()

    async def open(self) -> None:
        """Open a session and have all that happens in it told."""
        opened = await self._client.request(names.SESSION_OPEN, {})
        self.session_id = opened.session_id
        events = SessionEventsParams(session_id=self.session_id, token=self.name)
        await self._client.request(names.SESSION_EVENTS, events)

    async def close(self) -> None:
        """Hear no more of the session, and close it."""
        stop = SessionEventsStopParams(token=self.name)
        await self._client.request(names.SESSION_EVENTS_STOP, stop)
        params = SessionParams(session_id=self.session_id)
        await self._client.request(names.SESSION_CLOSE, params)

    async def turn(self, act: str, ends: dict[str, str] | None = None) -> TurnResult:
        """Ask for something, do what belongs to it, and see to it that it ends as it should."""
        self._number += 1
        begun = len(self.values)
        prompt = {"type": "text", "text": f"{self.name} {act} {self._number}"}
        key = f"{self.name}-{self._number}"
        params = {"sessionId": self.session_id, "key": key, "input": [prompt]}
        with anyio.fail_after(None if act in ENDLESS else LIMIT):
            question = self._client.ask(names.TURN, params)
            await self._attend(act, begun)
            result = TurnResult.model_validate(await question.answer())
        wanted = ends or ENDS[act]
        assert {name: result.end.get(name) for name in wanted} == wanted, (act, result.end)
        self.turns.append(result)
        self.expected[act] += 1
        return result

    async def stop(self) -> None:
        """Cancel the turn that runs."""
        await self._client.request(names.CANCEL, {"sessionId": self.session_id})

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is so, looked at whenever something was told."""
        while not condition():
            await self._changed.wait()

    async def under_way(self, act: str) -> None:
        """Wait until something that is endless has begun."""
        await self._came(ENDLESS[act], 0)

    def forget(self) -> None:
        """Keep nothing of what was told."""
        self.values.clear()
        self.turns.clear()

    async def _attend(self, act: str, begun: int) -> None:
        """What the person does in a turn that began with the value of this index."""
        match act:
            case "write" | "command" | "endless":
                await self._decide("allow", begun)
            case "refused":
                await self._decide("reject", begun)
            case "stop-stream":
                await self._came("assistant/chunk", begun)
                await self.stop()
            case "stop-question":
                await self._came("approval/asked", begun)
                await self.stop()
            case "stop-command":
                await self._decide("allow", begun)
                await self._came("tool/start", begun)
                await self.stop()

    async def _decide(self, decision: str, begun: int) -> None:
        asked = await self._came("approval/asked", begun)
        params = {"approvalId": asked["approvalId"], "decision": decision}
        assert (await self._client.request(names.APPROVE, params)).accepted

    async def _came(self, type_: str, begun: int) -> dict[str, Any]:  # Any: JSON
        """The data of the first value of a type from this index on, once it has come."""

        def found() -> dict[str, Any] | None:  # Any: JSON
            new = self.values[begun:]
            return next((value["data"] for value in new if value["type"] == type_), None)

        await self.until(found)
        data = found()
        assert data is not None
        return data


class Crowd:
    """The members of one connection, each told on a token of its own."""

    def __init__(self, client: Client) -> None:
        self.members: dict[str, Member] = {}
        self.strangers: list[object] = []
        self._client = client
        client.on_notification("$/progress", self._take)

    async def join(self, number: int) -> Member:
        """One more, whose session is open."""
        member = Member(self._client, named(number))
        self.members[member.name] = member
        await member.open()
        return member

    async def leave(self, member: Member) -> None:
        """One less."""
        await member.close()
        del self.members[member.name]

    def _take(self, params: Any) -> None:  # Any: JSON
        if (member := self.members.get(params["token"])) is not None:
            member.hear(params["value"])
        elif str(params["token"]).startswith("member"):
            self.strangers.append(params)


def path_of(state: Path, member: Member) -> Path:
    """The file of a member's session."""
    (path,) = (state / "sessions").glob(f"**/{member.session_id}.jsonl")
    return path


def require_whole(state: Path, work: Path, member: Member) -> Counter[str]:
    """Pass if a session's file proves itself, is what was told, and nobody else stands in it.

    Gives what was found in it, by kind.
    """
    stats: Counter[str] = Counter()
    path = path_of(state, member)
    lines, torn = read_lines(path)
    assert not torn
    check_log([parse(line) for line in lines], stats)
    verified = verify_file(path)
    assert verified.ok, verified
    stats["requests"] += verified.requests
    for place in (lines, [orjson.dumps(value) for value in member.values]):
        text = b"\n".join(place).decode()
        assert set(_MEMBER.findall(text)) == {member.name}
    for value in member.values:
        require_seen(dict(value), lines)
    facts = [orjson.loads(line) for line in lines]
    ends = [fact["data"]["end"] for fact in facts if fact["type"] == "turn/end"]
    assert ends == [turn.end for turn in member.turns]
    _require_done(work, member)
    return stats


def _require_done(work: Path, member: Member) -> None:
    """What was asked for and allowed has been done, once, and nothing else has."""
    ledger = work / f"{member.name}.ledger"
    ran = ledger.read_text(encoding="utf-8").split() if ledger.exists() else []
    assert len(ran) == len(set(ran))
    did = Counter(line.rpartition("-")[0] for line in ran)
    assert did["command"] == member.expected["command"]
    assert did["stop-command"] <= member.expected["stop-command"]
    assert did.keys() <= {"command", "stop-command", "endless"}
    made = sorted(work.glob(f"{member.name}-*.txt"))
    assert len(made) == member.expected["write"]
    for file in made:
        number = file.stem.partition("-")[2]
        assert file.read_text(encoding="utf-8") == f"{member.name} wrote {number}\n"
