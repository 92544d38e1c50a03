"""Both directions of asking, the client, and the fake editor, without a process."""

from typing import Any

import anyio
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.lives import SessionParams
from turnbuckle.lsp.protocol import Nothing
from turnbuckle.lsp.rpc import Connection, NoAnswer, Refused
from turnbuckle.testing.documents import Unit
from turnbuckle.testing.echo_app import EchoApp
from turnbuckle.testing.editor import HANG, RecordingEditor
from turnbuckle.testing.edits import OpenDocuments
from turnbuckle.testing.wire import in_process, memory_pair

TABLE = {"test/close": (SessionParams, Nothing)}


async def echo(params: object) -> object:
    return params


async def forever(_: object) -> object:
    await anyio.sleep_forever()
    return None


# Asking, on two bare connections.


async def test_a_call_gives_the_result() -> None:
    async with memory_pair() as (left, right):
        right.on_request("echo", echo)
        assert await left.call("echo", {"a": [1, None]}) == {"a": [1, None]}
        assert await left.call("echo") is None
        assert len(left.questions) == 0


async def test_both_sides_may_ask_at_the_same_time() -> None:
    async with memory_pair() as (left, right):

        async def back(params: object) -> object:
            return await right.call("echo", params)

        left.on_request("echo", echo)
        right.on_request("back", back)
        assert await left.call("back", {"x": 1}) == {"x": 1}


async def test_a_known_method_takes_and_gives_models() -> None:
    async with memory_pair() as (left, right):

        async def close(params: SessionParams) -> object:
            got.append(params)
            return Nothing()

        got: list[object] = []
        for side in (left, right):
            side.know(TABLE)
        right.on_request("test/close", close)
        assert await left.call("test/close", SessionParams(session_id="s")) == Nothing()
        assert await left.call("test/close", {"sessionId": "t"}) == Nothing()
        assert got == [SessionParams(session_id="s"), SessionParams(session_id="t")]


async def test_an_error_answer_says_what_the_peer_said() -> None:
    async with memory_pair() as (left, right):

        async def refuse(_: object) -> object:
            raise Refused("not today", kind="busy", retryable=True)

        right.on_request("refuse", refuse)
        with pytest.raises(ServerRefused) as caught:
            await left.call("refuse")
        refused = caught.value
        assert (refused.code, refused.message) == (-32803, "not today")
        assert refused.data == {"kind": "busy", "retryable": True}
        assert isinstance(refused, NoAnswer)
        assert refused.said == "not today"


@pytest.mark.parametrize("answer", [None, [], "text", {"sessionId": 1}])
async def test_an_answer_of_the_wrong_shape_is_no_answer(answer: object) -> None:
    async with memory_pair() as (left, right):

        async def wrong(_: object) -> object:
            return answer

        left.know({"test/open": (SessionParams, SessionParams)})
        right.on_request("test/open", wrong)
        with pytest.raises(NoAnswer, match="wrong shape"):
            await left.call("test/open", {"sessionId": "s"})
        assert len(left.questions) == 0


@pytest.mark.parametrize("error", ["text", 5, [], {}, {"code": "x", "message": 1}])
async def test_an_error_answer_of_the_wrong_shape_is_still_an_error(error: object) -> None:
    async with memory_pair() as (left, right):
        right.on_request("hang", forever)
        question = left.ask("hang")
        body = orjson.dumps({"jsonrpc": "2.0", "id": question.id, "error": error})
        await right.send_text(body)
        with pytest.raises(NoAnswer):
            await question.answer()


async def test_an_answer_that_never_comes_is_given_up_and_cancelled() -> None:
    async with memory_pair() as (left, right):
        over = anyio.Event()

        async def hang(_: object) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                over.set()

        right.on_request("hang", hang)
        with pytest.raises(NoAnswer, match="no answer to hang within 0 seconds"):
            await left.call("hang", timeout=0)
        with anyio.fail_after(10):
            await over.wait()
        assert len(left.questions) == 0


async def test_a_cancelled_call_leaves_nothing_behind_and_cancels_the_peer() -> None:
    async with memory_pair() as (left, right):
        begun, over = anyio.Event(), anyio.Event()

        async def hang(_: object) -> None:
            begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                over.set()

        right.on_request("hang", hang)
        async with anyio.create_task_group() as group:
            group.start_soon(left.call, "hang")
            await begun.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            await over.wait()
        assert len(left.questions) == 0


async def test_a_peer_that_goes_leaves_no_call_waiting() -> None:
    lost: list[str] = []

    async def ask(connection: Connection) -> None:
        try:
            await connection.call("hang", timeout=None)
        except NoAnswer as no_answer:
            lost.append(no_answer.said)

    async with anyio.create_task_group() as group, memory_pair() as (left, right):
        right.on_request("hang", forever)
        for _ in range(3):
            group.start_soon(ask, left)
        await anyio.wait_all_tasks_blocked()
        right.writer.lose()
    assert lost == ["the connection is closed"] * 3
    with pytest.raises(NoAnswer):
        await left.call("echo")
    with pytest.raises(NoAnswer):
        await left.send_text(b"{}")
    left.notify("nobody/hears", {})


async def test_a_call_with_params_that_are_no_json_fails_before_it_is_sent() -> None:
    async with memory_pair() as (left, right):
        right.on_request("echo", echo)
        with pytest.raises(TypeError):
            await left.call("echo", {"x": object()})
        assert len(left.questions) == 0
        assert await left.call("echo", [1]) == [1]


# The client against a served app.


async def test_a_client_shakes_hands_asks_and_shuts_down() -> None:
    async with in_process(EchoApp) as client:
        result = await client.initialize()
        assert "executeCommandProvider" in result["capabilities"]
        assert await client.request("test/echo", {"a": 1}) == {"params": {"a": 1}}
        await client.shutdown()
        with pytest.raises(NoAnswer):
            await client.request("test/echo")


async def test_errors_come_out_of_the_block_as_themselves() -> None:
    async def ask_nonsense() -> None:
        async with in_process(EchoApp) as client:
            await client.initialize()
            await client.request("no/such")

    with pytest.raises(ServerRefused, match="unknown method: no/such"):
        await ask_nonsense()


async def test_a_cancelled_request_waits_until_the_server_is_done_with_it() -> None:
    class Slow(EchoApp):
        async def load(self) -> None:
            await super().load()
            self.connection.on_request("test/undo", self.undo)

        async def undo(self, _: object) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.wait_all_tasks_blocked()
                    done.append(True)

    done: list[bool] = []
    async with in_process(Slow) as client:
        await client.initialize()
        async with anyio.create_task_group() as group:
            group.start_soon(client.request, "test/undo")
            await client.request("test/echo")
            group.cancel_scope.cancel()
        assert done == [True]
        assert len(client.connection.questions) == 0
        assert await client.request("test/echo") == {"params": None}


async def test_a_question_can_be_cancelled_and_its_answer_read() -> None:
    async with in_process(EchoApp) as client:
        await client.initialize()
        kept, dropped = client.ask("test/slow", {"keep": True}), client.ask("test/slow")
        kept.cancel()
        dropped.cancel()
        assert await kept.answer() == {"kept": True}
        with pytest.raises(ServerRefused) as caught:
            await dropped.answer()
        assert caught.value.code == -32800


async def test_progress_arrives_by_token_complete_and_in_order() -> None:
    async with in_process(EchoApp) as client:
        await client.initialize()
        values, seen = client.progress("a"), list[int]()
        undo = client.on_progress(7, lambda value: seen.append(value["number"]))
        async with anyio.create_task_group() as group:
            for token in ("a", 7, "unheard"):
                params = {"token": token, "count": 50, "size": 10}
                group.start_soon(client.request, "test/flood", params)
        assert [(await anext(values))["number"] for _ in range(50)] == list(range(50))
        assert seen == list(range(50))
        undo()
        await client.request("test/flood", {"token": 7, "count": 1, "size": 1})
        assert len(seen) == 50
    assert [value async for value in values] == []


async def test_answers_overtake_text_that_waits() -> None:
    async with in_process(EchoApp, capacity=0) as client:
        await client.initialize()
        order: list[object] = []
        client.on_progress("t", lambda value: order.append(value["number"]))
        async with anyio.create_task_group() as group:
            params = {"token": "t", "count": 1000, "size": 100}
            group.start_soon(client.request, "test/flood", params)
            await client.request("test/echo")
            order.append("answer")
        assert order.index("answer") < 10
        assert [one for one in order if one != "answer"] == list(range(1000))


# The fake editor.


async def test_the_editor_clicks_what_its_script_says() -> None:
    async with in_process(EchoApp) as client:
        answers = iter(["Allow once", None, HANG])
        editor = RecordingEditor(client, answer=lambda message, titles: next(answers))
        await editor.initialize()
        connection, params = client.connection, prompt("Run it?", "Allow once", "Reject")
        requests = connection.incoming.requests
        assert await requests["window/showMessageRequest"](params) == {"title": "Allow once"}
        assert await requests["window/showMessageRequest"](params) is None
        with anyio.move_on_after(0) as scope:
            await requests["window/showMessageRequest"](params)
        assert scope.cancelled_caught
        assert editor.screen.prompts == [("Run it?", ["Allow once", "Reject"])] * 3


async def test_the_editor_records_and_can_be_waited_for() -> None:
    async with in_process(EchoApp) as client:
        editor = RecordingEditor(client)
        await editor.initialize()
        async with anyio.create_task_group() as group:
            params = {"token": "t", "count": 5, "size": 1}
            group.start_soon(client.request, "test/flood", params)
            await editor.screen.until(lambda: len(editor.screen.progress("t")) == 5)
        assert [value["number"] for value in editor.screen.progress("t")] == [0, 1, 2, 3, 4]
        with pytest.raises(AssertionError, match=r"the last that came: \$/progress"):
            await editor.screen.until(lambda: None, limit=0)


def prompt(message: str, *titles: str) -> dict[str, object]:
    return {"type": 3, "message": message, "actions": [{"title": title} for title in titles]}


Told = list[dict[str, Any]]  # Any: JSON


def documents(unit: Unit = "utf-16") -> tuple[OpenDocuments, Told]:
    told: Told = []
    return OpenDocuments(lambda method, params: told.append({method: params}), unit), told


def replace(start: tuple[int, int], end: tuple[int, int], new: str) -> dict[str, Any]:
    first, last = ({"line": line, "character": char} for line, char in (start, end))
    return {"range": {"start": first, "end": last}, "newText": new}


def versioned(version: int | None, *edits: object) -> dict[str, Any]:
    document = {"uri": "x:a", "version": version}
    return {"documentChanges": [{"textDocument": document, "edits": list(edits)}]}


def test_the_editor_really_applies_an_edit_and_tells_the_change() -> None:
    open_documents, told = documents()
    open_documents.open("x:a", "one\ntwo\n", version=4)
    edit = versioned(
        4, replace((0, 0), (0, 3), "1"), replace((1, 3), (1, 3), "!"), replace((1, 3), (1, 3), "?")
    )
    assert open_documents.apply(edit) is None
    assert (open_documents["x:a"].text, open_documents["x:a"].version) == ("1\ntwo!?\n", 5)
    (change,) = (one["textDocument/didChange"] for one in told[1:])
    assert change["textDocument"] == {"uri": "x:a", "version": 5}
    assert [one["text"] for one in change["contentChanges"]] == ["?", "!", "1"]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (versioned(3, replace((0, 0), (0, 1), "x")), "version 3"),
        ({"changes": {"x:b": []}}, "not open"),
        ({"documentChanges": [{"kind": "create", "uri": "x:c"}]}, "not supported"),
    ],
)
def test_the_editor_refuses_what_does_not_fit_and_changes_nothing(
    edit: dict[str, Any], why: str
) -> None:
    open_documents, told = documents()
    open_documents.open("x:a", "one\n", version=4)
    assert why in (open_documents.apply(edit) or "")
    assert open_documents["x:a"].text == "one\n"
    assert len(told) == 1


@given(st.text("ab\r\n😀é", max_size=20), st.data(), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_typing_replaces_the_characters_that_are_named(
    text: str, data: st.DataObject, unit: Unit
) -> None:
    offsets = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n"]
    start, end = sorted(data.draw(st.tuples(*[st.sampled_from(offsets)] * 2)))
    open_documents, _ = documents(unit)
    open_documents.open("x:a", text)
    open_documents.type("x:a", start, end, "new")
    assert open_documents["x:a"].text == text[:start] + "new" + text[end:]
