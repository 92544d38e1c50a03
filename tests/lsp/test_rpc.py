"""Every request gets exactly one right answer; the cases are those a stock server gets wrong."""

import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any, TypeAlias

import anyio
import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from turnbuckle.lsp.rpc import Connection, Refused
from turnbuckle.lsp.rpc.framing import Frames, frame
from turnbuckle.lsp.rpc.streams import MemoryPipe
from turnbuckle.lsp.service import Service
from turnbuckle.testing.echo_app import EchoApp

Json: TypeAlias = dict[str, Any]  # Any: JSON


class Wire:
    """A client that sends any bytes and understands only JSON."""

    def __init__(self, service: Service, up: MemoryPipe, down: MemoryPipe) -> None:
        self.service = service
        self.app: EchoApp | None = None
        self._up, self._down = up, down
        self._frames = Frames()
        self._bodies: list[Json] = []

    def send(self, **message: object) -> None:
        self.send_bytes(frame(orjson.dumps({"jsonrpc": "2.0", **message})))

    def send_bytes(self, data: bytes) -> None:
        self._up.write(data)

    def end(self) -> None:
        self._up.close()

    async def next(self) -> Json:
        with anyio.fail_after(10):
            while not self._bodies:
                data = await self._down.read()
                assert data, "the server closed the connection"
                self._bodies += map(orjson.loads, self._frames.feed(data))
        return self._bodies.pop(0)

    async def rest(self) -> list[Json]:
        """Everything up to the server's end of the connection."""
        with anyio.fail_after(10):
            while data := await self._down.read():
                self._bodies += map(orjson.loads, self._frames.feed(data))
        return self._bodies

    async def ask(self, method: str, identity: int | str = 1, **members: object) -> Json:
        self.send(id=identity, method=method, **members)
        answer = await self.next()
        assert answer["id"] == identity
        return answer

    async def error(self, method: str, params: object = None) -> tuple[int, str]:
        error = (await self.ask(method, params=params))["error"]
        return error["code"], error["message"]

    async def initialize(self) -> None:
        assert "result" in await self.ask("initialize", 0, params={"capabilities": {}})

    @property
    def connection(self) -> Connection:
        return self.service.connection


@asynccontextmanager
async def serving(app: type[EchoApp] = EchoApp, *, ready: bool = True) -> AsyncIterator[Wire]:
    """A wire to a server in this process, which has answered `initialize` if it is ready."""
    up, down = MemoryPipe(), MemoryPipe()

    def make(connection: Connection) -> EchoApp:
        wire.app = app(connection)
        return wire.app

    wire = Wire(Service(up, down, make), up, down)
    async with anyio.create_task_group() as group:
        group.start_soon(wire.service.run)
        if ready:
            await wire.initialize()
        yield wire
        wire.end()
        await wire.rest()


def handle(wire: Wire, method: str, handler: Callable[[Any], Awaitable[object]]) -> None:
    wire.connection.on_request(method, handler)


# What stock pygls gets wrong, one by one.


async def test_a_request_without_params_is_answered() -> None:
    async with serving() as wire:
        assert (await wire.ask("test/echo"))["result"] == {"params": None}


async def test_params_of_the_wrong_shape_are_refused_by_the_name_of_the_field() -> None:
    async with serving() as wire:
        assert await wire.error("textDocument/hover", params={"foo": 1}) == (
            -32602,
            "textDocument: required field missing; position: required field missing",
        )
        position = {"line": "one", "character": 0}
        code, reason = await wire.error(
            "textDocument/hover", params={"textDocument": {"uri": "x:"}, "position": position}
        )
        assert (code, reason) == (-32602, "position.line: invalid value for type, expected int")
        assert await wire.error("textDocument/hover", params=[1]) == (
            -32602,
            "params: must be an object",
        )
        assert await wire.error("textDocument/hover") == (
            -32602,
            "textDocument: required field missing; position: required field missing",
        )
        assert await wire.error("turnbuckle/session/close") == (-32602, "sessionId: Field required")
        assert await wire.error("turnbuckle/session/close", params={"sessionId": 5}) == (
            -32602,
            "sessionId: Input should be a valid string",
        )


async def test_a_reason_names_fields_and_never_repeats_a_value() -> None:
    async with serving() as wire:
        secret = "sk-secret-value"
        for method in ("textDocument/hover", "turnbuckle/session/close"):
            for params in (secret, [secret], {"sessionId": [secret], "position": secret}):
                _, reason = await wire.error(method, params=params)
                assert secret not in reason
                assert len(reason) < 500


async def test_a_nested_member_named_jsonrpc_is_data_like_any_other() -> None:
    async with serving() as wire:
        params = {"payload": {"jsonrpc": "2.0", "id": 7, "method": "exit"}}
        assert (await wire.ask("test/echo", params=params))["result"] == {"params": params}


async def test_additional_top_level_members_do_no_harm() -> None:
    async with serving() as wire:
        answer = await wire.ask("test/echo", params={}, trace="x", meta={"a": 1})
        assert answer == {"jsonrpc": "2.0", "id": 1, "result": {"params": {}}}


async def test_a_result_that_is_no_json_is_answered_as_an_internal_error() -> None:
    async def unjson(_: object) -> object:
        return {"value": object()}

    async with serving() as wire:
        handle(wire, "test/unjson", unjson)
        assert await wire.error("test/unjson") == (-32603, "internal error")
        assert (await wire.ask("test/echo", 2))["id"] == 2


async def test_a_late_answer_is_ignored_and_leaves_nothing_behind() -> None:
    async with serving() as wire:
        wire.send(id=1, method="test/ask", params={})
        question = await wire.next()
        wire.send(method="$/cancelRequest", params={"id": 1})
        sent = [await wire.next() for _ in range(2)]
        assert {
            "jsonrpc": "2.0",
            "method": "$/cancelRequest",
            "params": {"id": question["id"]},
        } in sent
        assert [one["error"]["code"] for one in sent if one.get("id") == 1] == [-32800]
        wire.send(id=question["id"], result="late")
        wire.send(id=question["id"], error={"code": 1, "message": "later"})
        assert (await wire.ask("test/echo", 2))["id"] == 2
        assert len(wire.connection.questions) == 0


async def test_cancelling_a_command_stops_what_it_does() -> None:
    async with serving() as wire:
        wire.send(id=1, method="workspace/executeCommand", params={"command": "test.slow"})
        wire.send(method="$/cancelRequest", params={"id": 1})
        assert (await wire.next())["error"]["code"] == -32800
        assert wire.app is not None
        assert wire.app.log[-1] == "cancelled"


async def test_shutdown_works_while_a_command_runs() -> None:
    async with serving() as wire:
        wire.send(id=1, method="workspace/executeCommand", params={"command": "test.slow"})
        wire.send(id=2, method="shutdown")
        first, second = await wire.next(), await wire.next()
        assert (first["id"], first["error"]["code"]) == (1, -32800)
        assert second == {"jsonrpc": "2.0", "id": 2, "result": None}
        wire.send(method="exit")
        assert await wire.rest() == []
    assert wire.service.code == 0


async def test_shutdown_is_answered_when_what_lived_with_the_connection_has_ended() -> None:
    class Slow(EchoApp):
        async def serving(self) -> None:
            try:
                await super().serving()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.wait_all_tasks_blocked()
                    ended.append(True)

    ended: list[bool] = []
    async with serving(Slow) as wire:
        await wire.ask("test/echo")
        assert (await wire.ask("shutdown"))["result"] is None
        assert ended == [True]


async def test_exit_without_shutdown_gives_exit_code_1() -> None:
    async with serving() as wire:
        wire.send(method="exit")
        assert await wire.rest() == []
    assert wire.service.code == 1


async def test_a_request_after_shutdown_is_refused() -> None:
    async with serving() as wire:
        await wire.ask("shutdown")
        for method in ("test/echo", "initialize", "shutdown", "no/such"):
            code, _ = await wire.error(method, params={})
            assert code == -32600
        wire.send(method="test/note", params={"dropped": True})
        await wire.error("test/echo")
        assert wire.app is not None
        assert {"dropped": True} not in wire.app.log


async def test_requests_before_initialize_are_refused_and_notifications_dropped() -> None:
    async with serving(ready=False) as wire:
        for method in ("test/echo", "shutdown", "turnbuckle/session/close", "no/such"):
            code, message = await wire.error(method, params={})
            assert (code, message) == (-32002, "the server is not initialized yet")
        wire.send(method="test/note", params={"early": True})
        wire.send(method="$/cancelRequest", params={"id": 1})
        await wire.initialize()
        assert (await wire.ask("test/log"))["result"] == {"log": ["load", "serving"]}


async def test_an_unexpected_exception_shows_neither_text_nor_traceback_nor_path(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(params: Json) -> object:
        raise KeyError(params["path"])

    async with serving() as wire:
        handle(wire, "test/raise", fail)
        secret = "/home/someone/secret"
        error = (await wire.ask("test/raise", params={"path": secret}))["error"]
        assert (error["code"], error["message"]) == (-32603, "internal error")
        assert list(error["data"]) == ["reference"]
        logged = caplog.text
        assert error["data"]["reference"] in logged
        assert "KeyError" in logged
        assert "in fail" in logged
        assert secret not in logged


async def test_two_connections_have_nothing_in_common() -> None:
    async with serving() as one, serving() as other:
        one.send(id=1, method="test/slow")
        assert (await other.ask("test/log"))["result"] == {"log": ["load", "serving"]}
        one.send(method="exit")
        assert [answer["error"]["code"] for answer in await one.rest()] == [-32800]
        assert (await other.ask("test/echo", 2))["id"] == 2


async def test_busy_worker_threads_do_not_keep_messages_from_being_read() -> None:
    over = threading.Event()

    async def block(_: object) -> None:
        await anyio.to_thread.run_sync(over.wait)

    async with serving() as wire:
        handle(wire, "test/block", block)
        count = int(anyio.to_thread.current_default_thread_limiter().total_tokens) + 5
        for number in range(count):
            wire.send(id=number, method="test/block")
        assert (await wire.ask("test/echo", "quick"))["id"] == "quick"
        over.set()
        assert sorted([(await wire.next())["id"] for _ in range(count)]) == list(range(count))


async def test_an_error_code_is_sent_as_it_is_also_when_it_is_0() -> None:
    async def refuse(_: object) -> object:
        raise Refused("nothing", code=0)

    async with serving() as wire:
        handle(wire, "test/refuse", refuse)
        assert (await wire.ask("test/refuse"))["error"] == {"code": 0, "message": "nothing"}


async def test_no_log_holds_a_body(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving() as wire:
        secret = "sk-body-of-a-message"
        for method in ("test/echo", "textDocument/hover", "turnbuckle/session/close", "no/such"):
            await wire.ask(
                method, params={"sessionId": secret, "position": secret, "key": [secret]}
            )
        wire.send(method="test/note", params={"text": secret})
        wire.send(method="textDocument/didChange", params={"text": secret})
        wire.send_bytes(frame(b'{"broken": "sk-body-of-a-message'))
        await wire.next()
        wire.send(id=9, method="test/ask", params={"text": secret})
        question = await wire.next()
        wire.send(id=question["id"], error={"code": 5, "message": secret})
        await wire.next()
    assert logging.getLogger("pygls").getEffectiveLevel() >= logging.WARNING
    assert secret not in caplog.text


# The rest of the rules.


async def test_an_unknown_method_is_named() -> None:
    async with serving() as wire:
        assert await wire.error("no/such", params={}) == (-32601, "unknown method: no/such")
        assert await wire.error("$/no") == (-32601, "unknown method: $/no")
        _, message = await wire.error("x" * 100_000)
        assert len(message) < 300


async def test_unknown_notifications_are_ignored() -> None:
    async with serving() as wire:
        for method in ("$/whatever", "no/such", "$/setTrace", "workspace/didChangeConfiguration"):
            wire.send(method=method, params={"anything": 1})
        assert (await wire.ask("test/echo"))["id"] == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 50_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"test/echo"}]', -32600),
        (b"1", -32600),
        (b"null", -32600),
        (b'"text"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"test/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"test/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"test/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"test/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"test/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":1000000000000000000000000000000,"method":"test/echo"}', -32600),
        (b'{"jsonrpc":"2.0","method":5}', -32600),
    ],
)
async def test_what_is_no_message_is_answered_with_a_null_id(body: bytes, code: int) -> None:
    async with serving() as wire:
        wire.send_bytes(frame(body))
        answer = await wire.next()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert (await wire.ask("test/echo"))["id"] == 1


@pytest.mark.parametrize("message", [{"method": 5}, {}, {"params": {}}])
async def test_what_has_an_id_but_is_no_message_is_answered_with_it(message: Json) -> None:
    async with serving() as wire:
        wire.send(id="a", **message)
        answer = await wire.next()
        assert (answer["id"], answer["error"]["code"]) == ("a", -32600)


async def test_an_answer_to_nothing_and_an_error_without_id_are_never_answered() -> None:
    async with serving() as wire:
        wire.send(id=77, result={})
        wire.send(id=None, error={"code": -32700, "message": "what?"})
        wire.send(id=77, error={"code": 1, "message": "no"})
        assert (await wire.ask("test/echo"))["id"] == 1


async def test_a_missing_or_other_jsonrpc_member_does_no_harm() -> None:
    async with serving() as wire:
        wire.send_bytes(frame(b'{"id":1,"method":"test/echo"}'))
        assert (await wire.next())["id"] == 1
        assert (await wire.ask("test/echo", 2, jsonrpc="1.0"))["jsonrpc"] == "2.0"


async def test_ids_of_both_kinds_are_told_apart() -> None:
    async with serving() as wire:
        wire.send(id=1, method="test/slow")
        assert (await wire.ask("test/echo", "1"))["id"] == "1"
        wire.send(method="$/cancelRequest", params={"id": "1"})
        wire.send(method="$/cancelRequest", params={"id": 1})
        answer = await wire.next()
        assert (answer["id"], answer["error"]["code"]) == (1, -32800)


async def test_an_id_that_is_in_use_is_refused_and_the_first_goes_on() -> None:
    async with serving() as wire:
        wire.send(id=1, method="test/slow", params={"keep": True})
        code, _ = await wire.error("test/echo")
        assert code == -32600
        wire.send(method="$/cancelRequest", params={"id": 1})
        assert (await wire.next())["result"] == {"kept": True}
        assert (await wire.ask("test/echo"))["result"] == {"params": None}


async def test_a_cancelled_handler_that_returns_is_answered_with_what_it_returns() -> None:
    async with serving() as wire:
        wire.send(id=1, method="test/slow", params={"keep": True})
        wire.send(method="$/cancelRequest", params={"id": 1})
        assert (await wire.next())["result"] == {"kept": True}


@pytest.mark.parametrize("params", [None, {}, {"id": None}, {"id": {}}, [], {"id": 99}])
async def test_a_cancel_that_fits_nothing_is_ignored(params: object) -> None:
    async with serving() as wire:
        wire.send(method="$/cancelRequest", params=params)
        assert (await wire.ask("test/echo"))["id"] == 1


async def test_a_second_initialize_is_refused_and_changes_nothing() -> None:
    async with serving() as wire:
        assert await wire.error("initialize", params={}) == (
            -32600,
            "the server is initialized already",
        )
        assert (await wire.ask("test/log", 2))["result"]["log"].count("load") == 1


async def test_a_refused_initialize_may_be_tried_again() -> None:
    async with serving(ready=False) as wire:
        error = (await wire.ask("initialize", params={"rootUri": "refuse:"}))["error"]
        data = {"kind": "place", "retryable": False}
        assert error == {"code": -32803, "message": "not here", "data": data}
        assert await wire.error("test/echo") == (-32002, "the server is not initialized yet")
        code, message = await wire.error("initialize")
        assert (code, message) == (-32602, "params: must be an object")
        await wire.initialize()


async def test_messages_right_behind_initialize_find_their_handlers() -> None:
    async with serving(ready=False) as wire:
        wire.send(id=0, method="initialize", params={"capabilities": {}})
        wire.send(method="initialized", params={})
        wire.send(method="test/note", params={"first": True})
        wire.send(id=1, method="test/log")
        assert "result" in await wire.next()
        assert (await wire.next())["result"]["log"][:2] == ["load", {"first": True}]


async def test_nothing_is_sent_before_initialize_but_messages_to_the_person() -> None:
    async with serving(ready=False) as wire:
        with pytest.raises(RuntimeError, match="before initialize"):
            wire.connection.notify("$/progress", {})
        with pytest.raises(RuntimeError, match="before initialize"):
            await wire.connection.call("workspace/configuration", {})
        with pytest.raises(RuntimeError, match="before initialize"):
            await wire.connection.send_text(b"{}")
        wire.connection.notify("window/logMessage", {"type": 3, "message": "hello"})
        assert (await wire.next())["method"] == "window/logMessage"
        await wire.initialize()


async def test_handlers_see_messages_in_the_order_of_arrival() -> None:
    async with serving() as wire:
        for number in range(3):
            wire.send(method="test/note", params={"note": number})
            wire.send(id=number, method="test/echo")
        for _ in range(3):
            await wire.next()
        assert wire.app is not None
        assert wire.app.log[2:] == [
            {"note": 0}, "echo", {"note": 1}, "echo", {"note": 2}, "echo",
        ]  # fmt: skip


async def test_a_notification_that_fails_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fail(params: Json) -> None:
        raise ValueError(params["text"])

    async with serving() as wire:
        wire.connection.on_notification("test/fail", fail)
        wire.send(method="test/fail", params={"text": "a secret"})
        wire.send(method="textDocument/didChange", params={"wrong": True})
        assert (await wire.ask("test/echo"))["id"] == 1
    assert "test/fail failed" in caplog.text
    assert "a secret" not in caplog.text


async def test_two_thousand_requests_at_once_are_each_answered_once() -> None:
    async with serving() as wire:
        count = 2000
        for number in range(count):
            wire.send(id=number + 1, method="test/echo", params={"number": number})
        answers = [await wire.next() for _ in range(count)]
        assert sorted(answer["id"] for answer in answers) == list(range(1, count + 1))


async def test_an_end_of_input_cancels_and_answers_what_runs() -> None:
    async with serving() as wire:
        wire.send(id=1, method="test/slow")
        await wire.ask("test/echo", 2)
        wire.end()
        assert [(answer["id"], answer["error"]["code"]) for answer in await wire.rest()] == [
            (1, -32800)
        ]
    assert wire.service.code == 1
    assert wire.app is not None
    assert wire.app.log[-1] == "served"


async def test_an_end_of_input_in_mid_frame_is_an_end_like_any_other() -> None:
    async with serving() as wire:
        wire.send_bytes(b"Content-Length: 500\r\n\r\n{")
        wire.end()
        assert await wire.rest() == []
    assert wire.service.code == 1


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"Content-Length: -5\r\n\r\n", -32700),
        (b"no header at all\r\n\r\n", -32700),
        (b"Content-Length: 99999999999\r\n\r\n", -32600),
    ],
)
async def test_a_stream_out_of_step_is_answered_once_and_closed(header: bytes, code: int) -> None:
    async with serving() as wire:
        wire.send_bytes(header + frame(b'{"id":1,"method":"test/echo"}'))
        assert [(one["id"], one["error"]["code"]) for one in await wire.rest()] == [(None, code)]
    assert wire.service.code == 1


async def test_a_server_that_cannot_load_says_so_and_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(EchoApp):
        async def load(self) -> None:
            raise ImportError("no module named secret")

    up, down = MemoryPipe(), MemoryPipe()
    wire = Wire(Service(up, down, Broken), up, down)
    async with anyio.create_task_group() as group:
        group.start_soon(wire.service.run)
        await wire.initialize()
        (message,) = await wire.rest()
    assert message["method"] == "window/showMessage"
    assert "could not be loaded" in message["params"]["message"]
    assert "ImportError" in caplog.text
    assert wire.service.code == 1


METHODS: dict[str, set[object]] = {
    "test/echo": {"result"},
    "test/slow": {-32800},
    "test/unjson": {-32603},
    "no/such": {-32601},
    "textDocument/hover": {-32602},
}
STEP = st.one_of(
    st.tuples(st.just("ask"), st.integers(0, 5), st.sampled_from(sorted(METHODS))),
    st.tuples(st.just("cancel"), st.integers(0, 5), st.just("")),
)


@settings(deadline=None, max_examples=50, phases=[Phase.generate, Phase.shrink])
@given(st.lists(STEP, max_size=40), st.booleans())
def test_each_request_gets_one_answer_whatever_is_mixed(
    steps: list[tuple[str, int, str]], shut: bool
) -> None:
    anyio.run(_mix, steps, shut)


async def _mix(steps: list[tuple[str, int, str]], shut: bool) -> None:
    async def unjson(_: object) -> object:
        return object()

    asked: dict[int, list[set[object]]] = {}
    async with serving() as wire:
        handle(wire, "test/unjson", unjson)
        for step, identity, method in steps:
            if step == "ask":
                # An id that is in use is refused; which one is, hangs on what was done before.
                asked.setdefault(identity, []).append({-32600, *METHODS[method]})
                wire.send(id=identity, method=method)
            else:
                wire.send(method="$/cancelRequest", params={"id": identity})
        if shut:
            wire.send(id="end", method="shutdown")
            wire.send(method="exit")
        wire.end()
        answers = await wire.rest()
    said: dict[int, list[object]] = {}
    for answer in answers:
        if answer["id"] != "end":
            what = "result" if "result" in answer else answer["error"]["code"]
            said.setdefault(answer["id"], []).append(what)
    assert {identity: len(all_) for identity, all_ in said.items()} == {
        identity: len(all_) for identity, all_ in asked.items()
    }
    for identity, all_ in said.items():
        assert set(all_) <= set(chain.from_iterable(asked[identity]))


async def test_a_client_that_does_not_read_stops_nobody_else_and_costs_no_memory() -> None:
    async with serving() as deaf, serving() as other:
        deaf.send(id=1, method="test/flood", params={"token": "t", "count": 10**6, "size": 1000})
        for number in range(20):
            assert (await other.ask("test/echo", number + 1))["id"] == number + 1
        deaf.send(id=2, method="test/echo")
        await other.ask("test/echo", 99)
        assert deaf.connection.writer.backlog < 1000
        deaf.send(method="$/cancelRequest", params={"id": 1})
        while (message := await deaf.next()).get("id") != 2:
            assert message["method"] == "$/progress"
        assert (await deaf.next())["error"]["code"] == -32800
