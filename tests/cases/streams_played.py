"""A whole turn with a model over HTTP that answers as a case says, and what came of it."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.model.endpoint import new_client
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.reading import Timeouts
from turnbuckle.plugins import retry
from turnbuckle.session.events import (
    AssistantMessage,
    Fact,
    LlmFailed,
    ToolResult,
    TurnEnd,
)
from turnbuckle.testing.agents import driven
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer, Play, Received, Response
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

# Any: what a case's file holds.
Json = dict[str, Any]

NAMES = ("read_file", "search", "grep", "write_file", "append", "run", "ls")
"""The tools that the cases call."""

SOON = 0.01
"""Seconds before an attempt that no case times."""


@dataclass
class Played:
    """The facts of a turn, the calls whose bodies ran, and when which request came."""

    facts: list[Fact] = field(default_factory=list)
    ran: list[tuple[str, Json]] = field(default_factory=list)
    requests: list[Received] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    session_id: str = ""

    def of(self, kind: type[Any]) -> list[Any]:  # Any: facts of that kind
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def first(self) -> AssistantMessage:
        """The first answer that is in the log."""
        found: AssistantMessage = self.of(AssistantMessage)[0]
        return found

    @property
    def end(self) -> TurnEnd:
        found: TurnEnd = self.of(TurnEnd)[0]
        return found

    @property
    def failures(self) -> list[LlmFailed]:
        return self.of(LlmFailed)

    @property
    def results(self) -> list[ToolResult]:
        return self.of(ToolResult)


def pieces(case: Json) -> list[bytes]:
    """The network chunks of a case, byte for byte."""
    return [
        bytes.fromhex(one["hex"]) if "hex" in one else one["text"].encode()
        for one in case.get("chunks", ())
    ]


def response(case: Json) -> Response:
    """What the server answers in a case."""
    http = case.get("http") or {"status": case["status"], "headers": case.get("headers", {})}
    return Response(
        status=http["status"],
        headers=http.get("headers", {}),
        chunks=pieces(case),
        end="reset" if case.get("end") == "reset" else "close",
    )


def rules(ctx: PluginContext) -> None:
    """A prompt of the system."""
    ctx.prompt.section("Rules", "Be brief.")


async def play(
    script: Sequence[Play],
    folder: Path,
    *,
    idle: float = 30.0,
    attempts: int = 1,
    base: float = SOON,
    prompts: Iterable[str] = ("go",),
    session_id: str | None = None,
    **more: Any,  # Any: of the model's constructor
) -> Played:
    """Run turns with the real client of HTTP; after the script the model says that it is done."""
    played = Played()

    async def body(name: str, arguments: Json, _: Go) -> str:
        played.ran.append((name, arguments))
        return "done"

    def noted(one: Play) -> Callable[[Received], Response]:
        def answering(received: Received) -> Response:
            played.asked.append(time.monotonic())
            return one if isinstance(one, Response) else one(received)

        return answering

    script = [*script, *[answer("done")] * 3]
    async with ModelServer(map(noted, script)) as server, new_client() as client:
        model = OpenAIChat(server.url, client=client, timeouts=Timeouts(idle=idle), **more)
        tools = [tool(name, partial(body, name)) for name in NAMES]
        again = partial(retry.install, attempts=attempts, base=base)
        plugins: list[Install] = [rules, again]
        async with driven(
            model, folder, tools=tools, plugins=plugins, session_id=session_id
        ) as agent:
            agent.prompts = len(agent.facts)  # keys that no earlier prompt had
            for prompt in prompts:
                await agent.say(prompt)
            played.facts, played.requests = agent.facts, server.requests
            played.session_id = agent.opened.session.id
    return played


def as_said(played: Played, expect: Json) -> None:
    """What a case says of the answer, its calls and what ran."""
    said = played.first
    if "text" in expect:
        assert said.content == expect["text"]
    if "reasoning" in expect:
        assert (said.reasoning or "") == expect["reasoning"]
    if "usage" in expect:
        usage = expect["usage"]
        assert said.usage is not None
        assert said.usage.input == usage["prompt_tokens"]
        assert said.usage.output == usage["completion_tokens"]
    if "finish" in expect:
        assert said.finish == expect["finish"]
    if "calls" in expect:
        _calls(played, expect["calls"])
    if expect.get("unique_ids"):
        ids = [call.call_id for call in said.tool_calls]
        assert len(set(ids)) == len(ids)
        assert all(ids)
    if "calls_executed" in expect:
        assert len(played.ran) == expect["calls_executed"]


def _calls(played: Played, wanted: list[Json]) -> None:
    runnable = [(one["name"], one["args"]) for one in wanted if one["runnable"]]
    assert sorted(played.ran, key=repr) == sorted(runnable, key=repr)
    if played.end.end.kind == "max-tokens":  # half a call is none
        assert not played.first.tool_calls
        return
    assert [call.name for call in played.first.tool_calls] == [one["name"] for one in wanted]
    for call, one in zip(played.first.tool_calls, wanted, strict=True):
        if "args_raw" in one:
            assert call.arguments == one["args_raw"]
    assert len(played.results) == len(wanted)
    assert [not result.is_error for result in played.results] == [one["runnable"] for one in wanted]


def sent(received: Received) -> list[Json]:
    """The messages of a request."""
    messages: list[Json] = orjson.loads(received.body)["messages"]
    return messages
