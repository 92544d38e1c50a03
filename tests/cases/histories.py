"""What a session's history and its file may hold: the cases B."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from cases.case import Case, Run, same_as
from cases.streams_played import play, sent
from turnbuckle.agent.cutting import end_of_head, start_of_pair, start_of_tail
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.model.port import ModelRefused, Reply, Request
from turnbuckle.plugins import compaction
from turnbuckle.session import codec
from turnbuckle.session.events import (
    FORMAT,
    AssistantMessage,
    Fact,
    InboxAdded,
    LlmStream,
    Message,
    SessionCreated,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import Call, End
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.completions import answer
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

# Any: what a case's file holds.
Json = dict[str, Any]

SESSION = "case-0001"


def pairs_hold(messages: list[Message] | tuple[Message, ...]) -> bool:
    """Whether each call is followed by exactly its results, in order."""
    left = list(messages)
    while left:
        message = left.pop(0)
        if isinstance(message, ToolResult):
            return False
        calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
        for call in calls:
            result = left.pop(0) if left else None
            if not isinstance(result, ToolResult) or result.call_id != call.call_id:
                return False
    return True


def calls_of(message: Json) -> list[tuple[str, str, Json]]:
    return [(call["id"], call["name"], call["args"]) for call in message.get("tool_calls", ())]


async def cancelled(case: Case, folder: Path) -> None:
    """A cancel while one of two calls still runs."""
    user, assistant, done, _, again = case.data["messages"]
    begun = anyio.Event()

    async def run(arguments: Json, _: Go) -> str:
        if arguments["cmd"] == done["tool_call_id"]:
            return str(done["content"])
        begun.set()
        await anyio.sleep_forever()
        return ""

    model = Scripted([say("", *calls_of(assistant)), say("fine")])
    async with driven(model, folder, tools=[tool("run", run)]) as agent:
        agent.send(user["content"])
        await begun.wait()
        await agent.until(ToolResult)
        agent.opened.driver.cancel("user")
        await agent.until(TurnEnd)
        await agent.say(again["content"])
    assert pairs_hold(model.requests[1].messages) is case.data["expect"]["pairs_ok"]
    last = [m for m in model.requests[1].messages if isinstance(m, ToolResult)][-1]
    assert case.data["expect"]["b_result_contains"] in last.content
    assert "unknown" in last.content, last.content


def facts_of(lines: list[Json]) -> Iterator[Fact]:
    """The facts that stand for neutral lines: a prompt opens a turn, an answer closes it."""
    turn = 0
    for line in lines:
        match line["type"]:
            case "user":
                turn += 1
                key = f"k{turn}"
                yield InboxAdded(key=key, target="turn", input=line["text"])
                yield TurnStart(turn=turn)
                yield StepStart(turn=turn, step=1)
                yield UserMessage(turn=turn, step=1, key=key, content=line["text"])
            case "assistant":
                yield AssistantMessage(turn=turn, step=1, content=line["text"], finish="stop")
                yield StepEnd(turn=turn, step=1, tool_calls=0)
                yield TurnEnd(turn=turn, end=End(kind="completed"))
            case "tool_call":
                arguments = json.dumps(line["args"])
                call = Call(call_id=line["id"], name=line["name"], arguments=arguments)
                yield AssistantMessage(
                    turn=turn, step=1, content="", tool_calls=(call,), finish="tool_calls"
                )
                yield ToolCall(
                    turn=turn, step=1, call_id=call.call_id, name=call.name, arguments=arguments
                )
                yield ToolStart(call_id=call.call_id, attempt=1)
            case _:
                pass


def write(folder: Path, lines: list[str], tail: str) -> Path:
    """A session file of these lines, with these bytes after its last newline."""
    path = folder / "state" / "sessions" / "2026-01" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    made = facts_of([json.loads(line) for line in lines])
    facts = [SessionCreated(version=FORMAT, id=SESSION), *made]
    stored = (
        codec.line(seq, 1_700_000_000_000, fact, codec.encode_fact(fact))
        for seq, fact in enumerate(facts)
    )
    path.write_bytes(b"".join(stored) + bytes.fromhex(tail))
    return path


def said(agent: Driven) -> list[str]:
    """What was said in a session, by whomever."""
    spoken = (m for m in agent.facts if isinstance(m, UserMessage | AssistantMessage))
    return [message.content for message in spoken if message.content]


@contextmanager
def warnings() -> Iterator[list[str]]:
    """What is said to the server's log meanwhile that somebody should see."""
    seen: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: seen.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("turnbuckle")
    logger.addHandler(handler)
    try:
        yield seen
    finally:
        logger.removeHandler(handler)


async def opened(case: Case, folder: Path) -> None:
    """A file whose end is not as it should be opens, goes on, and opens again."""
    for number, data in enumerate(case.data.get("cases", [case.data])):
        await opened_one(data, folder / str(number))


async def opened_one(data: Json, folder: Path) -> None:
    expect = data["expect"]
    write(folder, data["lines"], data["tail_hex"])
    before = [json.loads(line).get("text") for line in data["lines"]]
    before = [text for text in before if text is not None]
    with warnings() as told:
        model = Scripted([say("and on")])
        async with driven(model, folder, session_id=SESSION) as agent:
            assert said(agent)[: len(before)] == before
            if "text1" in expect:
                assert said(agent)[0] == expect["text1"]
            if "turn_state" in expect:
                end = [fact for fact in agent.facts if isinstance(fact, TurnEnd)][-1]
                assert end.end.kind == expect["turn_state"]
            text = json.loads(data["append"])["text"] if "append" in data else "next"
            await agent.say(text)
    if expect.get("pairs_ok"):
        assert pairs_hold(model.requests[0].messages)
        result = next(m for m in model.requests[0].messages if isinstance(m, ToolResult))
        assert result.code == "TOOL_OUTCOME_UNKNOWN"
    assert told or not data["tail_hex"]
    torn = bytes.fromhex(data["tail_hex"])
    aside = b"".join(path.read_bytes() for path in sorted(folder.rglob("*.torn-*")))
    assert aside.strip() == torn.strip(), (aside, torn)
    async with driven(Scripted([]), folder, session_id=SESSION) as agent:
        kept = [text for text in said(agent) if text != "and on"]
        assert kept == [*before, text]
        if "events_after_reopen" in expect:
            assert len(kept) == expect["events_after_reopen"]


async def too_long(case: Case, folder: Path) -> None:
    """A prompt that fills the window: it is made smaller as far as that helps, and not for ever."""

    def verbose(ctx: PluginContext) -> None:
        ctx.prompt.section("Rules", "abcd" * case.data["fixed_tokens"])

    async def refuses(request: Request, _: object) -> Reply:
        raise ModelRefused("overflow", "too many tokens")

    for number, model in enumerate(
        [
            Scripted([say("ok")] * 9, window=case.data["context"]),
            Scripted([refuses] * 9, window=case.data["context"]),
            Scripted([say("ok")] * 9, window=case.data["fixed_tokens"] * 2 // 3),
        ]
    ):
        plugins = [verbose, compaction.install]
        async with driven(model, folder / str(number), plugins=plugins) as agent:
            await agent.say("word " * case.data["history_tokens"])
        asked = [fact for fact in agent.facts if isinstance(fact, LlmStream) and fact.why]
        assert len(asked) <= case.data["expect"]["max_compactions"]
        end = [fact for fact in agent.facts if isinstance(fact, TurnEnd)][-1].end
        if number == 0:  # it fits into the window after all: it is sent
            assert end.kind == "completed"
            continue
        assert end.failure is not None, (number, end)
        assert end.failure.kind == "overflow"
        if number == 2:
            assert f"{case.data['fixed_tokens']:,}"[:3] in end.failure.message, end.failure.message


async def cut(case: Case, _: Path) -> None:
    """Wherever a history is cut, whole rounds are on both sides."""
    messages = [message_of(number, m) for number, m in enumerate(case.data["messages"])]
    for index in case.data["cuts"]:
        start = start_of_pair(messages, index)
        assert start <= index
        assert pairs_hold(messages[:start])
        assert pairs_hold(messages[start:])
    for limit in range(200):
        assert pairs_hold(messages[start_of_tail(messages, limit) :])
        assert pairs_hold(messages[: end_of_head(messages, limit)])


def message_of(number: int, message: Json) -> Message:
    match message["role"]:
        case "user":
            return UserMessage(turn=number, step=1, content=message["content"])
        case "assistant":
            calls = tuple(
                Call(call_id=call_id, name=name, arguments=json.dumps(arguments))
                for call_id, name, arguments in calls_of(message)
            )
            return AssistantMessage(
                turn=number, step=1, content=message["content"] or "", tool_calls=calls,
                finish="stop",
            )  # fmt: skip
        case _:
            return ToolResult(
                turn=number, step=1, call_id=message["tool_call_id"], content=message["content"],
                is_error=False,
            )  # fmt: skip


async def resumed(case: Case, folder: Path) -> None:
    """A session that is opened again and again has one prompt of the system, and none in its log."""
    session_id = None
    for _ in range(case.data["resumes"] + 1):
        script = [answer("fine")]
        played = await play(script, folder, session_id=session_id)
        session_id = played.session_id
        roles = [message["role"] for message in sent(played.requests[0])]
        assert roles.count("system") == case.data["expect"]["system_messages"]
        assert roles[0] == "system"
    assert not [fact for fact in played.facts if fact.type.startswith("system")]


async def shown_when_kept(_: Case, folder: Path) -> None:
    """What a client is shown of a call can be read from the file already."""

    async def run(_arguments: Json, _: Go) -> str:
        return "what it found"

    model = Scripted([say("", ("c", "find", {})), say("done")])
    found = tool("find", run)
    async with served(model, folder, tools=[found], events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        stored: list[bytes] = []

        def read(method: str, params: Any) -> None:
            if params["value"]["type"] == "tool/result":
                stored.append(next(server.state.rglob("*.jsonl")).read_bytes())
            server.editor.screen.add(method, params)

        server.client.on_notification("$/progress", partial(read, "$/progress"))
        await server.turn(session_id, "go")
    assert len(stored) == 1
    assert b"what it found" in stored[0]


async def state_files(case: Case, folder: Path) -> None:
    """Files of ours that hold something else: nothing is lost by that but what they were for."""
    for number, (content, expected) in enumerate(case.data["rows"]):
        place = folder / str(number)
        for name in ("history", "sessions/2026-01/bad-0001.jsonl", "sessions/bad", "shown/x"):
            path = place / "state" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        assert expected == "starts"
        async with served(Scripted([say("fine")]), place) as server:
            session_id = await server.open()
            assert (await server.turn(session_id, "go")).end["kind"] == "completed"
            listed = await server.client.request("turnbuckle/session/list", {})
            assert session_id in [one.session_id for one in listed.sessions]
        assert (place / "state" / "sessions/2026-01/bad-0001.jsonl").read_text() == content


RUN: dict[str, Run] = {
    "B01": cancelled,
    "B02": opened,
    "B04": opened,
    "B06": opened,
    "B07": opened,
    "B08": same_as(
        "agent.test_sessions",
        "test_a_second_process_reads_and_takes_over_when_the_first_was_killed",
        "test_what_another_process_writes_is_not_deleted",
    ),
    "B10": too_long,
    "B11": cut,
    "B13": resumed,
    "B16": shown_when_kept,
    "B17": state_files,
}
