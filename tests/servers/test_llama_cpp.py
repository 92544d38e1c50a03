"""A real model server: llama.cpp with tiny weights, on this machine.

The weights know little, so nothing here depends on what they say.
"""

import os
import queue
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from turnbuckle.cli.opened import Talk
from turnbuckle.cli.pictures import pictures
from turnbuckle.cli.signals import Leave
from turnbuckle.cli.talk import Server, talking
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import CallConfig, Delta, ModelRefused, Request, ToolSpec
from turnbuckle.session.events import AssistantMessage, ToolResult, UserMessage
from turnbuckle.session.parts import Call

if os.environ.get("CI") != "true":
    pytest.importorskip("xllamacpp", reason="install the extra `servers`")

HERE = Path(__file__).parent
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
WEIGHTS = Path(sys.prefix) / "gemma-3-270m-q4_k_m.gguf"
CONTEXT, LONGEST = 8192, 32
"""Tokens of the server's context, and of an answer that asks for no other number."""

pytestmark = pytest.mark.timeout(180)


class Llama:
    """A llama.cpp server as a process, and what it says of itself."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.url = f"{process.stdout.readline().strip()}/v1"
        if not self.url.startswith("http"):
            self.end()
            pytest.fail(f"llama.cpp did not start: {self.tail()}")

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.put(line)

    async def until(self, words: str) -> str:
        """Wait for a line of its log with these words."""

        def wait() -> str:
            while words not in (line := self._lines.get(timeout=60)):
                pass
            return line

        return await to_thread.run_sync(wait)

    def tail(self) -> str:
        """What of its log was not read."""
        return "".join(self._lines.queue)

    def end(self) -> None:
        """End it; its input is what it lives from."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture(scope="module")
def llama() -> Iterator[Llama]:
    program = str(HERE / "llama_server.py")
    argv = [sys.executable, program, str(WEIGHTS), str(CONTEXT), str(LONGEST)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    llama = Llama(process)
    yield llama
    llama.end()


# -- the model by itself -------------------------------------------------------------------------


@asynccontextmanager
async def model_at(url: str) -> AsyncIterator[OpenAIChat]:
    model = OpenAIChat(url)
    try:
        yield model
    finally:
        await model.aclose()


def request(*texts: str, longest: int | None = None) -> Request:
    messages = tuple(UserMessage(turn=1, step=1, content=text) for text in texts)
    config = CallConfig(model="gemma", temperature=0.0, max_tokens=longest)
    return Request(config=config, system="Be brief.", tools=(), messages=messages)


async def test_an_answer_streams_in(llama: Llama) -> None:
    deltas: list[Delta] = []
    async with model_at(llama.url) as model:
        reply = await model(request("Count to ten.", longest=16), deltas.append)
    assert len(deltas) > 1
    assert "".join(delta.text or "" for delta in deltas) == reply.content
    assert reply.finish in ("stop", "length")
    assert reply.usage is not None
    assert 0 < reply.usage.output <= 16 < reply.usage.total
    assert reply.usage.total == reply.usage.input + reply.usage.output


async def test_a_history_with_calls_and_two_messages_in_a_row_is_taken(llama: Llama) -> None:
    call = Call(call_id="c1", name="list_files", arguments="")
    tool = ToolSpec(
        name="list_files",
        description="Lists files.",
        parameters={"type": "object", "properties": {}},
    )
    history = (
        UserMessage(turn=1, step=1, content="The branch is main.", source="context"),
        UserMessage(turn=1, step=1, content="Which files are there?"),
        AssistantMessage(
            turn=1, step=1, content="", reasoning="Hm.", tool_calls=(call,), finish="tool_calls"
        ),
        ToolResult(turn=1, step=1, call_id="c1", content="a.py", is_error=False),
        UserMessage(turn=1, step=2, content="Go on."),
    )
    config = CallConfig(model="gemma", temperature=0.0, max_tokens=4)
    async with model_at(llama.url) as model:
        reply = await model(
            Request(config=config, system="Be brief.", tools=(tool,), messages=history),
            lambda _: None,
        )
    assert reply.finish


async def test_a_cancel_closes_the_connection_and_the_server_stops(llama: Llama) -> None:
    async with model_at(llama.url) as model:
        with anyio.CancelScope() as scope:
            await model(request("Tell me all.", longest=100_000), lambda _: scope.cancel())
        assert scope.cancelled_caught
        await llama.until("cancel task")
        # It has one slot, and that is free again.
        reply = await model(request("Hello.", longest=1), lambda _: None)
        assert reply.usage is not None


async def test_a_request_that_does_not_fit_is_an_overflow_that_names_the_sizes(
    llama: Llama,
) -> None:
    async with model_at(llama.url) as model:
        with pytest.raises(ModelRefused) as caught:
            await model(request("word " * 9000), lambda _: None)
        assert caught.value.failure.kind == "overflow"
        assert f"({CONTEXT} tokens)" in str(caught.value)
        assert "n_prompt_tokens 90" in str(caught.value)
        reply = await model(request("Hello.", longest=1), lambda _: None)
        assert reply.usage is not None


# -- the whole server ----------------------------------------------------------------------------


class Seen:
    """The values of a session's events, as they come."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []  # Any: facts, as JSON
        self._changed = anyio.Event()

    def take(self, value: Any) -> None:  # Any: the same
        self.values.append(value)
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, type_: str) -> dict[str, Any]:
        """Wait for a value of this type; the last there is."""
        while not (found := self.of(type_)):
            await self._changed.wait()
        return found[-1]

    def of(self, type_: str) -> list[dict[str, Any]]:
        """The data of the values of a type."""
        return [value["data"] for value in self.values if value["type"] == type_]


@asynccontextmanager
async def turnbuckle(folder: Path, url: str) -> AsyncIterator[tuple[Talk, Seen]]:
    """The server as a process, with a session in a folder of its own, asking the model there."""
    work = folder / "work"
    work.mkdir()
    env = {name: value for name, value in os.environ.items() if "TURNBUCKLE" not in name} | {
        "PYTHONPATH": str(HERE.parents[1] / "server"),
        "TURNBUCKLE_BASE_URL": url,
        "TURNBUCKLE_MODEL": "gemma",
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
    }
    seen = Seen()
    server = Server(argv=(sys.executable, "-m", "turnbuckle", "serve"), env=env)
    async with talking(server, cwd=work, session_id=None, seen=seen.take, leave=Leave()) as talk:
        yield talk, seen


async def test_a_whole_turn_streams_through_the_server(llama: Llama, tmp_path: Path) -> None:
    async with turnbuckle(tmp_path, llama.url) as (talk, seen):
        result = await talk.turn("Say hello.")
        await seen.until("turn/end")
    assert result.end["kind"] in ("completed", "max-tokens")
    (message,) = seen.of("assistant/message")
    chunks = seen.of("assistant/chunk")
    assert len(chunks) > 1
    assert "".join(chunk.get("text", "") for chunk in chunks) == message["content"]
    assert message["usage"]["output"] > 1
    types = [value["type"] for value in seen.values if "seq" in value]
    steps = ["turn/start", "step/start", "user/message", "llm/stream", "assistant/message",
             "step/end", "turn/end"]  # fmt: skip
    assert [type_ for type_ in types if type_ in steps] == steps


async def test_a_picture_that_its_model_cannot_see_is_told_of_in_words(
    llama: Llama, tmp_path: Path
) -> None:
    picture = tmp_path / "dot.png"
    picture.write_bytes(b64decode(DOT))
    async with turnbuckle(tmp_path, llama.url) as (talk, seen):
        result = await talk.turn("What is this?", images=pictures([picture]))
        await seen.until("turn/end")
    assert result.end["kind"] in ("completed", "max-tokens")
    (added,) = seen.of("inbox/added")
    assert added["context"][0]["image"]["mimeType"] == "image/png"
    assert len(seen.of("llm/stream")) == 1


async def test_a_cancel_of_the_turn_reaches_the_model_server(llama: Llama, tmp_path: Path) -> None:
    async with turnbuckle(tmp_path, llama.url) as (talk, seen):
        async with anyio.create_task_group() as group:
            group.start_soon(talk.turn, "Tell me all that you know.")
            await seen.until("assistant/chunk")
            await talk.cancel()
        end = await seen.until("turn/end")
        await llama.until("cancel task")
    assert end["end"] == {"kind": "aborted", "cause": "user"}
    (message,) = seen.of("assistant/message")
    assert message["interrupted"] is True


async def test_a_prompt_that_does_not_fit_ends_the_turn_and_the_next_one_works(
    llama: Llama, tmp_path: Path
) -> None:
    async with turnbuckle(tmp_path, llama.url) as (talk, _):
        result = await talk.turn("word " * 9000)
    assert result.end["kind"] == "error"
    failure = result.end["failure"]
    assert failure["kind"] == "overflow"
    assert f"({CONTEXT} tokens)" in failure["message"]
