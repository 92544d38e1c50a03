"""A message that waits can be changed or taken out; one that entered a turn cannot."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.agent.hooks import Decision, PreStep
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served


def kind_of(error: ServerRefused) -> object:
    return error.data["kind"] if isinstance(error.data, dict) else None


class Slow:
    """A model whose first answer comes when it may."""

    def __init__(self) -> None:
        self.asked, self.may = anyio.Event(), anyio.Event()
        self.model = Scripted([self._first, say("second"), say("third")])

    async def _first(self, _: Request, _emit: Emit) -> Reply:
        self.asked.set()
        await self.may.wait()
        return say("first")

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [str(getattr(one.messages[-1], "content", "")) for one in self.model.requests]


@asynccontextmanager
async def running(
    folder: Path, plugins: tuple[Install, ...] = ()
) -> AsyncIterator[tuple[Served, Slow, str]]:
    """A session whose first turn runs; its key is `k1`."""
    slow = Slow()
    async with served(slow.model, folder, plugins=plugins) as server:
        session_id = await server.open()
        await server.watch(session_id)
        server.send(session_id, "one")
        if not plugins:
            await slow.asked.wait()
        yield server, slow, session_id
        slow.may.set()


async def edit(server: Served, session_id: str, key: str, text: str | None = None) -> bool:
    """Change a message, or without a text take it out; whether it waited."""
    params: dict[str, Any] = {"sessionId": session_id, "key": key}  # Any: JSON
    more = {"remove": True} if text is None else {"input": [{"type": "text", "text": text}]}
    return bool((await server.client.request(names.INBOX_EDIT, params | more)).changed)


async def test_a_message_that_waits_is_sent_as_it_was_changed(tmp_path: Path) -> None:
    async with running(tmp_path) as (server, slow, session_id):
        second = server.send(session_id, "two")
        assert await edit(server, session_id, "k2", "deux")
        assert await server.fact("inbox/changed") == {"key": "k2", "input": "deux"}
        slow.may.set()
        await server.answer(second)
        assert slow.prompts == ["one", "deux"]


async def test_the_last_change_counts_and_the_same_again_is_none(tmp_path: Path) -> None:
    async with running(tmp_path) as (server, slow, session_id):
        second = server.send(session_id, "two")
        for text in ("a", "b", "b"):
            assert await edit(server, session_id, "k2", text)
        slow.may.set()
        await server.answer(second)
        assert slow.prompts == ["one", "b"]
        assert [one["input"] for one in server.facts("inbox/changed")] == ["a", "b"]


async def test_a_message_that_is_taken_out_never_runs_and_its_sender_is_told(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (server, slow, session_id):
        second, third = server.send(session_id, "two"), server.send(session_id, "three")
        assert await edit(server, session_id, "k2")
        with pytest.raises(ServerRefused) as caught:
            await server.answer(second)
        assert (caught.value.code, kind_of(caught.value)) == (-32800, "dropped")
        assert not await edit(server, session_id, "k2", "again")
        slow.may.set()
        await server.answer(third)
        assert slow.prompts == ["one", "three"]


@pytest.mark.parametrize("key", ["k1", "k9", ""])
async def test_what_does_not_wait_stays_as_it_is(key: str, tmp_path: Path) -> None:
    async with running(tmp_path) as (server, slow, session_id):
        assert not await edit(server, session_id, key, "changed")
        assert not await edit(server, session_id, key)
        assert slow.prompts == ["one"]
        assert server.facts("inbox/changed") == server.facts("inbox/dropped") == []


async def test_a_message_that_is_entering_a_turn_cannot_be_changed(tmp_path: Path) -> None:
    inside, may = anyio.Event(), anyio.Event()

    def install(ctx: PluginContext) -> None:
        async def wait(step: PreStep, next: Next[PreStep, Decision]) -> Decision:
            inside.set()
            await may.wait()
            return await next(step)

        ctx.hooks.pre_step.use(wait)

    async with running(tmp_path, (install,)) as (server, slow, session_id):
        await inside.wait()
        assert not await edit(server, session_id, "k1", "changed")
        assert not await edit(server, session_id, "k1")
        may.set()
        slow.may.set()
        await server.fact("turn/end")
        assert slow.prompts == ["one"]


async def test_an_edit_says_one_thing(tmp_path: Path) -> None:
    async with served(None, tmp_path) as server:
        session_id = await server.open()
        both: dict[str, object] = {"remove": True, "input": [{"type": "text", "text": "x"}]}
        wrong: list[dict[str, object]] = [{}, both, {"input": []}]
        for more in wrong:
            params = {"sessionId": session_id, "key": "k", **more}
            with pytest.raises(ServerRefused) as caught:
                await server.client.request(names.INBOX_EDIT, params)
            assert caught.value.code == -32602


async def test_a_change_outlives_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as (server, _, session_id):
        server.send(session_id, "two")
        await edit(server, session_id, "k2", "deux")
        await server.client.request(names.SESSION_CLOSE, {"sessionId": session_id})
        await server.open(session_id)
        waiting = server.opened(session_id).agent.inbox.waiting
        assert [(item.key, item.input) for item in waiting] == [("k2", "deux")]


async def test_the_messages_of_another_windows_session_are_left_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, slow, session_id):
        async with served(None, tmp_path) as other:
            await other.open(session_id)
            with pytest.raises(ServerRefused) as caught:
                await edit(other, session_id, "k1", "changed")
            assert kind_of(caught.value) == "readOnly"
        slow.may.set()
