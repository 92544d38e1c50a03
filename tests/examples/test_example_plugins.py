"""Each example, loaded by its path as a configuration would, has the effect that it promises."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from inline_snapshot import snapshot

from turnbuckle.agent.plugin import Install
from turnbuckle.config.plugins import Source, Wanted, load_plugin
from turnbuckle.model.port import ModelRefused, ModelUnavailable
from turnbuckle.session.events import LlmStream, PluginFact, TurnEnd, UserMessage
from turnbuckle.session.parts import JsonObject, Usage
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go

FOLDER = Path(__file__).parents[2] / "examples" / "plugins"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


def example(name: str) -> Source:
    return load_plugin(Wanted(name, name, FOLDER / f"{name}.py"))


@asynccontextmanager
async def running(
    name: str, folder: Path, replies: Sequence[Step], **settings: object
) -> AsyncIterator[Driven]:
    """A session with the example and a few tools; the example is unloaded at the end."""

    async def add(arguments: JsonObject, _go: Go) -> str:
        return str(arguments["a"] + arguments["b"])

    async def hang(_arguments: JsonObject, _go: Go) -> str:
        await anyio.sleep_forever()
        return "never"

    source = example(name)
    plugin: Install = partial(source.install, **settings)
    tools = [tool("add", add), tool("hang", hang)]
    try:
        async with driven(
            Scripted(replies), folder, tools=tools, plugins=[(name, plugin)]
        ) as session:
            assert session.failures == []
            yield session
            await session.plugins.exchange([])
    finally:
        source.forget()


def adds(call_id: str, total: int) -> Step:
    usage = Usage(input=total - 1, output=1, total=total)
    return say("", (call_id, "add", {"a": 1, "b": 2}), usage=usage)


def test_every_example_is_tested_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert len(EXAMPLES) == 6
    assert [name for name in EXAMPLES if f'running("{name}", tmp_path' not in here] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_and_stands_alone(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    assert "turnbuckle.plugins" not in text
    assert not [other for other in EXAMPLES if f"import {other}" in text]


async def test_the_cost_guard_stops_a_turn_over_its_token_budget(tmp_path: Path) -> None:
    replies = [adds("1", 30_000), adds("2", 20_001), say("hello again")]
    async with running("cost_guard", tmp_path, replies) as session:
        await session.say("go")
        await session.say("and now?")
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 add(a=1, b=2)
  result  1 3
  call    2 add(a=1, b=2)
  result  2 3
end       stopped (token budget exceeded)
user      and now?
assistant hello again
end       completed
""")


async def test_the_cost_guard_lets_a_turn_use_its_whole_budget(tmp_path: Path) -> None:
    async with running("cost_guard", tmp_path, [adds("1", 50_000), say("done")]) as session:
        await session.say("go")
    assert isinstance(session.facts[-1], TurnEnd)
    assert session.facts[-1].end.kind == "completed"


async def test_routing_lets_a_small_model_go_on_where_the_big_one_has_begun(tmp_path: Path) -> None:
    async with ModelServer([answer("small one says 3")]) as server:
        replies = [adds("1", 10), say("big again")]
        async with running("model_routing", tmp_path, replies, url=server.url) as session:
            await session.say("go")
            await session.say("and now?")
        asked = [request.json["model"] for request in server.requests]
    streams = [fact for fact in session.facts if isinstance(fact, LlmStream)]
    assert [(one.turn, one.step, one.model) for one in streams] == [
        (1, 1, "scripted"), (1, 2, "qwen3:8b"), (2, 1, "scripted"),
    ]  # fmt: skip
    assert asked == ["qwen3:8b"]
    assert "assistant small one says 3" in transcript(session.entries)


async def test_failover_answers_the_same_step_from_the_backup(tmp_path: Path) -> None:
    async with ModelServer(
        [answer("backup", ("9", "add", {"a": 2, "b": 2})), answer("4")]
    ) as server:
        replies: list[Step] = [ModelUnavailable("server", "down"), say("well again")]
        async with running("failover", tmp_path, replies, url=server.url) as session:
            await session.say("go")
            await session.say("and now?")
    assert transcript(session.entries) == snapshot("""\
user      go
failed    server: down
assistant backup
  call    9 add(a=2, b=2)
  result  9 4
assistant 4
end       completed
user      and now?
assistant well again
end       completed
""")
    streams = [fact for fact in session.facts if isinstance(fact, LlmStream)]
    assert [(one.turn, one.step, one.attempt) for one in streams] == [
        (1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1),
    ]  # fmt: skip


async def test_failover_gives_up_when_the_backup_fails_too(tmp_path: Path) -> None:
    async with ModelServer([]) as server:
        replies: list[Step] = [ModelRefused("quota", "nothing left")]
        async with running("failover", tmp_path, replies, url=server.url) as session:
            await session.say("go")
    assert isinstance(session.facts[-1], TurnEnd)
    assert session.facts[-1].end.kind == "error"
    assert len([fact for fact in session.facts if isinstance(fact, LlmStream)]) == 2


async def test_redaction_shows_the_model_a_mark_instead(tmp_path: Path) -> None:
    async with running("redaction", tmp_path, [say("done")]) as session:
        await session.say("C-1234567 wrote from jane.doe@example.com: it is broken")
    (message,) = [fact for fact in session.facts if isinstance(fact, UserMessage)]
    assert message.content == "[customer] wrote from [address]: it is broken"


async def test_metrics_keep_what_the_tools_cost_in_each_turn(tmp_path: Path) -> None:
    replies = [
        say("", ("1", "add", {"a": 1, "b": 2}), ("2", "add", {"a": 1})),
        say("", ("3", "none", {})),
        say("done"),
    ]
    async with running("tool_metrics", tmp_path, replies) as session:
        await session.say("go")
    (kept,) = [fact for fact in session.facts if isinstance(fact, PluginFact)]
    assert kept.name == "tool_metrics"
    assert kept.data["counts"] == {"add": 2}
    assert kept.data["seconds"]["add"] >= 0
    assert kept.data["failures"] == 2


async def test_the_timeout_wrapper_cancels_a_body_and_the_turn_goes_on(tmp_path: Path) -> None:
    replies = [say("", ("1", "hang", {}), ("2", "add", {"a": 1, "b": 2})), say("done")]
    limits = {"hang": 0.01}
    async with running("timeout_wrapper", tmp_path, replies, limits=limits) as session:
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 hang()
  call    2 add(a=1, b=2)
  result  1 TIMEOUT <tool error: hang took longer than 0.01 s>
  result  2 3
assistant done
end       completed
""")
