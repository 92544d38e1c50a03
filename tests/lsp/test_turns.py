"""Sessions and turns as a client sees them: joined, queued, cancelled, refused; nothing is lost."""

import os
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import orjson
import pytest

from turnbuckle.agent.hooks import Decision, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import CANCELLED, INVALID_PARAMS, REQUEST_FAILED
from turnbuckle.lsp.turns import RESUME
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session.events import AssistantMessage, UserMessage
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]


class Held:
    """A model's answer, or a tool's, that takes until it is let go."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.go = anyio.Event()

    async def answer(self, _: Request, emit: Emit) -> Reply:
        emit(Delta(text="so far"))
        self.begun.set()
        await self.go.wait()
        return say("so far so good")

    async def run(self, _arguments: Json, _: Go) -> str:
        self.begun.set()
        await self.go.wait()
        return "done"


async def settled() -> None:
    for _ in range(200):
        await anyio.lowlevel.checkpoint()


def said(request: Request) -> list[str]:
    """What the person, and what they pointed at, says in a request."""
    return [m.content for m in request.messages if isinstance(m, UserMessage)]


def stored(server: Served) -> list[Json]:
    """The facts of the only session, from the disk."""
    (log,) = (server.state / "sessions").glob("**/*.jsonl")
    return [orjson.loads(line) for line in log.read_bytes().splitlines()]


async def refused(server: Served, session_id: str, prompt: str, **more: object) -> Json:
    """What a turn is refused with, in the `data` of the error."""
    with pytest.raises(ServerRefused) as caught:
        await server.turn(session_id, prompt, **more)
    assert caught.value.code == REQUEST_FAILED
    assert isinstance(caught.value.data, dict)
    return caught.value.data


# The same message twice.


async def test_a_key_that_is_known_joins_the_same_turn(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "go", key="k")
        await held.begun.wait()
        second = server.send(session_id, "go", key="k")
        third = server.send(session_id, "quite another text", key="k", whenBusy="reject")
        await settled()
        held.go.set()
        answers = [await server.answer(one) for one in (first, second, third)]
        # And when it is over, its end is still known.
        answers.append(await server.turn(session_id, "go", key="k"))
        assert all(answer == answers[0] for answer in answers)
        assert answers[0].end == {"kind": "completed"}
        assert [f["type"] for f in stored(server)].count("user/message") == 1


async def test_a_key_is_still_known_after_a_restart(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        first = await server.turn(session_id, "go", key="k")
    async with served(Scripted([]), tmp_path) as server:
        assert await server.open(session_id) == session_id
        again = await server.turn(session_id, "go", key="k")
        assert (again.turn, again.end, again.seq) == (first.turn, first.end, first.seq)


async def test_a_message_that_waits_can_be_joined_too(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("two")]), tmp_path) as server:
        session_id = await server.open()
        server.send(session_id, "one")
        await held.begun.wait()
        waiting = [server.send(session_id, "two", key="k") for _ in range(2)]
        joined = server.send(session_id, "two", key="k", whenBusy="reject")
        await settled()
        held.go.set()
        assert [(await server.answer(one)).turn for one in (*waiting, joined)] == [2, 2, 2]


# Cancelling, in every state.


async def cancelled(question: Any) -> None:
    """Cancel a request and see that it is answered so."""
    question.cancel()
    with pytest.raises(ServerRefused) as caught:
        await question.answer()
    assert caught.value.code == CANCELLED


async def test_cancelling_a_message_that_waits_drops_it_and_nothing_else(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("three")]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one")
        await held.begun.wait()
        second = server.send(session_id, "two")
        third = server.send(session_id, "three")
        await settled()
        await cancelled(second)
        held.go.set()
        assert (await server.answer(first)).end["kind"] == "completed"
        assert (await server.answer(third)).turn == 2
        (dropped,) = [f["data"] for f in stored(server) if f["type"] == "inbox/dropped"]
        assert dropped == {"keys": ["k2"], "why": "cancelled"}


async def test_cancelling_right_behind_the_message_leaves_nothing_running(tmp_path: Path) -> None:
    model = Scripted([say("two")])
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        await cancelled(server.send(session_id, "one"))
        assert (await server.turn(session_id, "two")).end["kind"] == "completed"
        assert len(model.requests) == 1
        kinds = [f["type"] for f in stored(server)]
        assert kinds.count("turn/start") == kinds.count("turn/end")


async def test_cancelling_in_mid_stream_keeps_what_was_said_and_the_queue(tmp_path: Path) -> None:
    held = Held()
    model = Scripted([held.answer, say("two")])
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one")
        await held.begun.wait()
        second = server.send(session_id, "two")
        await settled()
        await cancelled(first)
        # The queue is kept, and parked until the next message.
        third = server.send(session_id, "three")
        assert (await server.answer(second)).turn == 2
        assert (await server.answer(third)).turn == 3
        ends = [f["data"]["end"] for f in stored(server) if f["type"] == "turn/end"]
        assert ends[0] == {"kind": "aborted", "cause": "user"}
        kept = [m.content for m in model.requests[1].messages if isinstance(m, AssistantMessage)]
        assert kept == ["so far"]


async def test_cancelling_while_a_tool_runs_gives_its_call_a_result(tmp_path: Path) -> None:
    held = Held()
    model = Scripted([say("", ("1", "slow", {})), say("two")])
    async with served(model, tmp_path, tools=[tool("slow", held.run)]) as server:
        session_id = await server.open()
        first = server.send(session_id, "one")
        await held.begun.wait()
        await cancelled(first)
        assert (await server.turn(session_id, "two")).end["kind"] == "completed"
        (result,) = [f["data"] for f in stored(server) if f["type"] == "tool/result"]
        assert (result["callId"], result["code"]) == ("1", "ABORTED")


async def test_cancelling_what_is_over_changes_nothing(tmp_path: Path) -> None:
    async with served(Scripted([say("one"), say("two")]), tmp_path) as server:
        session_id = await server.open()
        question = server.send(session_id, "one")
        result = await server.answer(question)
        server.client.notify("$/cancelRequest", {"id": question.id})
        assert (await server.turn(session_id, "two")).turn == result.turn + 1
        assert {f["data"]["end"]["kind"] for f in stored(server) if f["type"] == "turn/end"} == {
            "completed"
        }


async def test_a_cancelled_request_is_answered_after_its_events(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer]), tmp_path, capacity=0) as server:
        session_id = await server.open()
        await server.watch(session_id)
        question = server.send(session_id, "one")
        await held.begun.wait()
        await cancelled(question)
        assert server.order("events", question)[-2:] == ["turn/end", "answer"]


@pytest.mark.parametrize(("keep", "end"), [(True, "completed"), (False, None)])
async def test_cancel_drops_the_queue_unless_it_is_to_be_kept(
    tmp_path: Path, keep: bool, end: str | None
) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("two"), say("three")]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one")
        await held.begun.wait()
        second = server.send(session_id, "two")
        await settled()
        params = {"sessionId": session_id, "keepQueue": keep}
        for _ in range(2):  # a second one changes nothing
            await server.client.request("turnbuckle/cancel", params)
        assert (await server.answer(first)).end == {"kind": "aborted", "cause": "user"}
        third = server.send(session_id, "three")
        if end is None:
            with pytest.raises(ServerRefused, match="dropped") as caught:
                await server.answer(second)
            assert caught.value.code == CANCELLED
        else:
            assert (await server.answer(second)).end["kind"] == end
        await server.answer(third)


async def test_cancel_is_nothing_while_nothing_runs(tmp_path: Path) -> None:
    async with served(Scripted([say("one")]), tmp_path) as server:
        session_id = await server.open()
        await server.client.request("turnbuckle/cancel", {"sessionId": session_id})
        assert (await server.turn(session_id, "one")).end["kind"] == "completed"


# While a turn runs.


async def test_a_message_waits_for_its_turn(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("two"), say("three")]), tmp_path) as server:
        session_id = await server.open()
        questions = [server.send(session_id, "one")]
        await held.begun.wait()
        questions += [server.send(session_id, text, whenBusy="queue") for text in ("two", "three")]
        await settled()
        held.go.set()
        assert [(await server.answer(one)).turn for one in questions] == [1, 2, 3]


async def test_a_message_that_steers_enters_the_running_turn(tmp_path: Path) -> None:
    held = Held()
    model = Scripted([held.answer, say("as you like")])
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one")
        await held.begun.wait()
        second = server.send(session_id, "rather two", whenBusy="steer")
        await settled()
        held.go.set()
        answers = [await server.answer(one) for one in (first, second)]
        assert answers[0] == answers[1]
        assert said(model.requests[1]) == ["one", "rather two"]


async def test_a_message_that_steers_opens_a_turn_where_none_runs(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        assert (await server.turn(session_id, "go", whenBusy="steer")).turn == 1


async def test_a_message_may_be_refused_while_a_turn_runs(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("two")]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one", whenBusy="reject")
        # Right behind it, before its turn has begun.
        assert await refused(server, session_id, "two", whenBusy="reject") == {
            "kind": "busy", "retryable": True,
        }  # fmt: skip
        await held.begun.wait()
        assert (await refused(server, session_id, "two", whenBusy="reject"))["kind"] == "busy"
        held.go.set()
        await server.answer(first)
        assert (await server.turn(session_id, "two", whenBusy="reject")).turn == 2


async def test_a_session_is_busy_from_the_message_on_to_the_end_of_its_turn(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        driver = server.opened(await server.open()).driver
        seen = [driver.busy]
        driver.send("k", "go")
        assert driver.running is None
        seen.append(driver.busy)
        await driver.idle()
        assert [*seen, driver.busy] == [False, True, False]


async def test_two_sessions_run_side_by_side(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("quick")]), tmp_path) as server:
        slow = server.send(await server.open(), "one")
        await held.begun.wait()
        assert (await server.turn(await server.open(), "two")).end["kind"] == "completed"
        held.go.set()
        assert (await server.answer(slow)).end["kind"] == "completed"


# Going on with what was interrupted.


async def test_a_turn_that_was_cancelled_can_be_resumed(tmp_path: Path) -> None:
    held = Held()
    model = Scripted([held.answer, say("finished")])
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one")
        await held.begun.wait()
        await cancelled(first)
        result = await server.turn(session_id, "", input=[], resume=True, key="again")
        assert result.end["kind"] == "completed"
        assert said(model.requests[1]) == ["one", RESUME]
        # The same request again joins it, though nothing is left to resume.
        assert await server.turn(session_id, "", input=[], resume=True, key="again") == result


async def test_there_is_nothing_to_resume_after_a_turn_that_was_completed(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        for _ in range(2):
            data = await refused(server, session_id, "", input=[], resume=True, key="r")
            assert data == {"kind": "nothingToResume", "retryable": False}
            await server.turn(session_id, "go", key="k")


async def test_a_killed_servers_turn_is_interrupted_and_can_be_resumed(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
    (log,) = (tmp_path / "state" / "sessions").glob("**/*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    (cut,) = [n for n, line in enumerate(lines) if b'"type":"assistant/message"' in line]
    log.write_bytes(b"".join(lines[:cut]))
    model = Scripted([say("finished")])
    async with served(model, tmp_path) as server:
        opened = await server.client.request("turnbuckle/session/open", {"sessionId": session_id})
        assert opened.interrupted is True
        assert (await server.turn(session_id, "", input=[], resume=True, key="r")).turn == 2


# What runs no turn.


async def test_a_second_window_reads_and_writes_nothing(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as first:
        session_id = await first.open()
        await first.turn(session_id, "go")
        async with served(Scripted([say("no")]), tmp_path) as second:
            opened = await second.client.request(
                "turnbuckle/session/open", {"sessionId": session_id}
            )
            assert opened.read_only
            assert await refused(second, session_id, "go on") == {
                "kind": "readOnly", "retryable": True,
            }  # fmt: skip
            await second.watch(session_id)
            await second.fact("live")
            assert second.facts("assistant/message")[0]["content"] == "yes"
        before = (await first.turn(session_id, "still mine", key="k")).turn
        assert before == 2


async def test_nothing_runs_in_a_workspace_that_is_not_trusted(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
    options = {"turnbuckle": {"trusted": False}}
    async with served(Scripted([say("no")]), tmp_path, options=options) as server:
        await server.open(session_id)
        assert (await refused(server, session_id, "go on"))["kind"] == "untrusted"
        await server.watch(session_id)
        await server.fact("live")
        assert server.facts("assistant/message")[0]["content"] == "yes"
        outcome = await server.editor.ask("go on")
        assert outcome["outcome"] == "refused"
        assert "trust" in server.editor.screen.messages[-1]


# What the person points at.


async def pointed(server: Served, model: Scripted, context: list[Json]) -> list[str]:
    session_id = await server.open()
    await server.turn(session_id, "look", context=context)
    return said(model.requests[-1])


def span(first: tuple[int, int], last: tuple[int, int]) -> Json:
    ends = [{"line": line, "character": character} for line, character in (first, last)]
    return {"start": ends[0], "end": ends[1]}


async def test_the_unsaved_text_of_a_selection_wins(tmp_path: Path) -> None:
    model = Scripted([say("I see")])
    async with served(model, tmp_path) as server:
        path = server.work / "a.py"
        path.write_text("on disk\n")
        uri = uri_of(path)
        server.editor.open(uri, "first\nsecond 🦊 third\n")
        server.editor.type(uri, 6, 12, "SECOND")
        item = {
            "kind": "selection",
            "uri": uri,
            "range": span((1, 0), (1, 9)),
            "text": "what the client says",
            "version": 1,
        }
        assert await pointed(server, model, [item]) == [
            f"The person has selected {uri}, line 2:\n\n```\nSECOND 🦊\n```",
            "look",
        ]
        (added,) = [f["data"] for f in stored(server) if f["type"] == "inbox/added"]
        assert added["context"][0]["version"] == 2


async def test_the_text_of_a_file_that_is_open_is_the_editors(tmp_path: Path) -> None:
    model = Scripted([say("I see"), say("I see")])
    async with served(model, tmp_path) as server:
        uri = uri_of(server.work / "a.py")
        server.editor.open(uri, "as it is shown\n")
        for text, shown in ((None, ""), ("old\n", "\n\n```\nas it is shown\n```")):
            context: list[Json] = [{"kind": "file", "uri": uri, "text": text}]
            (head, _) = (await pointed(server, model, context))[-2:]
            assert head == f"The person points at the file {uri}.{shown}"


async def test_what_is_not_open_is_as_the_client_says(tmp_path: Path) -> None:
    model = Scripted([say("I see")])
    async with served(model, tmp_path) as server:
        context: list[Json] = [
            {"kind": "selection", "uri": "file:///nowhere/b.py", "range": span((3, 0), (5, 1)), "text": "x = 1"},
            {"kind": "selection", "uri": "file:///nowhere/c.py"},
            {"kind": "diagnostics", "uri": "file:///nowhere/b.py", "text": "line 4: bad"},
            {"kind": "terminal", "text": "$ make"},
            {"kind": "text", "text": "by the way"},
        ]  # fmt: skip
        assert await pointed(server, model, context) == [
            "The person has selected file:///nowhere/b.py, lines 4 to 6:\n\n```\nx = 1\n```",
            "The person has selected file:///nowhere/c.py:",
            "The editor reports file:///nowhere/b.py:\n\n```\nline 4: bad\n```",
            "From the person's terminal:\n\n```\n$ make\n```",
            "The person adds:\n\nby the way",
            "look",
        ]


async def test_an_empty_selection_has_no_text(tmp_path: Path) -> None:
    model = Scripted([say("I see")])
    async with served(model, tmp_path) as server:
        uri = uri_of(server.work / "a.py")
        server.editor.open(uri, "one\n")
        item = {"kind": "selection", "uri": uri, "range": span((0, 1), (0, 1)), "text": "other"}
        (head, _) = await pointed(server, model, [item])
        assert head == f"The person has selected {uri}, line 1:"


@pytest.mark.parametrize("is_open", [True, False])
async def test_no_item_carries_more_than_its_share(tmp_path: Path, is_open: bool) -> None:
    model = Scripted([say("I see")])
    async with served(model, tmp_path) as server:
        uri = uri_of(server.work / "a.py")
        text = "x" * 100_000
        if is_open:
            server.editor.open(uri, text)
        item = {"kind": "selection", "uri": uri, "range": span((0, 0), (0, 100_000)), "text": text}
        (head, _) = await pointed(server, model, [item])
        assert head.endswith("x\n[34464 characters left out]\n```")
        assert head.count("x") == 65_536


async def test_the_parts_of_a_message_are_one_text(tmp_path: Path) -> None:
    model = Scripted([say("I see")])
    async with served(model, tmp_path) as server:
        parts = [{"type": "text", "text": text} for text in ("one", "two \ud800 three")]
        await server.turn(await server.open(), "", input=parts)
        assert said(model.requests[0]) == ["one\n\ntwo \ufffd three"]


# Wrong requests.


@pytest.mark.parametrize(
    ("params", "place"),
    [
        ({"key": ""}, "key"),
        ({"key": "x" * 201}, "key"),
        ({"key": 5}, "key"),
        ({"input": []}, "input"),
        ({"resume": True}, "input"),
        ({"input": "go"}, "input"),
        ({"input": [{"type": "image", "mimeType": "image/png"}]}, "input.0"),
        ({"input": [{"type": "video"}]}, "input.0"),
        ({"whenBusy": "wait"}, "whenBusy"),
        ({"context": [{"kind": "symbol"}]}, "context.0.kind"),
        ({"context": [{"kind": "file", "range": span((-1, 0), (0, 0))}]}, "context.0.range"),
    ],
)
async def test_a_wrong_parameter_is_named(tmp_path: Path, params: Json, place: str) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        with pytest.raises(ServerRefused, match=place) as caught:
            await server.turn(session_id, "go", **params)
        assert caught.value.code == INVALID_PARAMS
        assert (await server.turn(session_id, "go")).turn == 1


async def test_a_session_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        assert await refused(server, "nonsense", "go") == {
            "kind": "sessionNotFound", "retryable": False,
        }  # fmt: skip
        for session_id in ("nonsense", "../../etc/passwd", "", "*"):
            with pytest.raises(ServerRefused) as caught:
                await server.open(session_id)
            assert caught.value.data == {"kind": "sessionNotFound", "retryable": False}
        for method in ("events", "close"):
            params = {"sessionId": "nonsense", "token": 1}
            with pytest.raises(ServerRefused, match="open it first"):
                await server.client.request(f"turnbuckle/session/{method}", params)


async def test_a_session_of_a_newer_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
    (log,) = (tmp_path / "state" / "sessions").glob("**/*.jsonl")
    newer = log.read_bytes() + b'{"seq":9,"time":0,"type":"brand/new","data":{}}\n'
    log.write_bytes(newer)
    async with served(Scripted([]), tmp_path) as server:
        with pytest.raises(ServerRefused, match="newer version") as caught:
            await server.open(session_id)
        assert caught.value.data == {"kind": "sessionUnreadable", "retryable": False}
    assert log.read_bytes() == newer


async def test_a_damaged_session_is_shown_and_runs_no_turn(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
    (log,) = (tmp_path / "state" / "sessions").glob("**/*.jsonl")
    damaged = log.read_bytes() + b"{}\n"
    log.write_bytes(damaged)
    async with served(Scripted([]), tmp_path) as server:
        opened = await server.client.request("turnbuckle/session/open", {"sessionId": session_id})
        assert opened.read_only
        assert "is damaged" in opened.damaged
        assert "Fork it at turn 1" in opened.damaged
        assert await refused(server, session_id, "go on") == {"kind": "damaged", "retryable": False}
        await server.watch(session_id)
        await server.fact("live")
        assert server.facts("assistant/message")[0]["content"] == "yes"
    assert log.read_bytes() == damaged


async def test_a_session_works_in_the_folder_that_it_was_opened_for(tmp_path: Path) -> None:
    model = Scripted([say("", ("1", "read_file", {"path": "b.txt"})), say("done")])
    async with served(model, tmp_path) as server:
        sub = server.work / "sub"
        sub.mkdir()
        (sub / "b.txt").write_text("here\n")
        await server.turn(await server.open(cwd=sub), "go")
        (result,) = [f["data"] for f in stored(server) if f["type"] == "tool/result"]
        assert "here" in result["content"]
        with pytest.raises(ServerRefused, match="not the URI of a folder") as caught:
            await server.open(cwd=sub / "b.txt")
        assert caught.value.code == INVALID_PARAMS


# What a turn leaves behind.


async def test_a_turn_leaves_nothing_behind_but_its_facts(tmp_path: Path) -> None:
    def dismiss(_message: str, _titles: list[str]) -> None:
        return None

    calls = [say("", (f"{number}", "run_command", {"command": "true"})) for number in range(3)]
    replies = [reply for call in calls for reply in (call, say("done"))]
    async with served(Scripted(replies), tmp_path, answer=dismiss) as server:
        session_id = await server.open()
        held: list[object] = []
        for number in range(3):
            await server.turn(
                session_id, "go", partialResultToken=f"p{number}", workDoneToken=f"w{number}"
            )
            await settled()
            opened, connection = server.opened(session_id), server.connection
            held.append((
                len(opened.session.log._observers), opened.session.scope.labels,
                len(opened.session._note_observers), opened.agent.approvals.pending,
                len(connection.questions), connection.incoming.answers._running,
                server.wirings[0].prompts._attended, opened.agent.inbox.waiting,
                len(server.wirings[0]._tasks._group._tasks),  # type: ignore[union-attr] # asyncio's
            ))  # fmt: skip
        assert held[0] == held[1] == held[2]


async def test_a_fault_that_cannot_be_spelt_ends_only_its_turn(tmp_path: Path) -> None:
    def install(ctx: PluginContext) -> None:
        async def fail(_: PreStep, _next: Next[PreStep, Decision]) -> Decision:
            raise OSError(f"no such file: {os.fsdecode(bytes([0xFF]))}")

        ctx.hooks.pre_step.use(fail)

    async with served(Scripted([]), tmp_path, plugins=[install]) as server:
        session_id = await server.open()
        for turn in (1, 2):
            result = await server.turn(session_id, "go")
            assert (result.turn, result.end["failure"]["kind"]) == (turn, "hook")
            assert "no such file" in result.end["failure"]["message"]


# Ends of sessions and connections.


async def test_closing_a_session_answers_whoever_waits(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer, say("later")]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one", workDoneToken="w")
        await held.begun.wait()
        second = server.send(session_id, "two", partialResultToken="p", workDoneToken="v")
        await settled()
        with anyio.fail_after(5):
            await server.client.request("turnbuckle/session/close", {"sessionId": session_id})
            assert (await server.answer(first)).end == {"kind": "aborted", "cause": "shutdown"}
            with pytest.raises(ServerRefused, match="closed"):
                await server.answer(second)
        # The prompt was not lost: it runs when the session is used again.
        await server.open(session_id)
        assert (await server.turn(session_id, "three", key="k3")).turn == 3
        assert (await server.turn(session_id, "two", key="k2")).turn == 2


async def test_shutdown_is_answered_while_a_turn_runs_and_a_message_waits(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer]), tmp_path) as server:
        session_id = await server.open()
        questions = [server.send(session_id, "one")]
        await held.begun.wait()
        questions.append(server.send(session_id, "two"))
        await settled()
        with anyio.fail_after(2):  # a third of it is what it waits for what does not end
            await server.client.request("shutdown")
        assert (await server.answer(questions[0])).end["kind"] == "aborted"
        with pytest.raises(ServerRefused, match="closed"):
            await questions[1].answer()
    facts = stored(server)
    assert facts[-1]["data"]["end"] == {"kind": "aborted", "cause": "shutdown"}
    assert "inbox/dropped" not in {fact["type"] for fact in facts}


async def test_a_client_that_vanishes_ends_the_turn_and_loses_no_prompt(tmp_path: Path) -> None:
    held = Held()
    async with served(Scripted([held.answer]), tmp_path) as server:
        session_id = await server.open()
        server.send(session_id, "one")
        await held.begun.wait()
        server.send(session_id, "two")
        await settled()
    facts = stored(server)
    assert facts[-1]["type"] == "turn/end"
    assert facts[-1]["data"]["end"] == {"kind": "aborted", "cause": "shutdown"}
    assert "inbox/dropped" not in {fact["type"] for fact in facts}
