"""The same call with the same result, over and over, is noticed; waiting for a change is not."""

from functools import partial
from pathlib import Path
from typing import Any

from inline_snapshot import snapshot

from turnbuckle.model.port import Reply
from turnbuckle.plugins import repeats
from turnbuckle.session.events import ToolResult, UserMessage
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go

HINTED = "has given the same result 3 times in a row"


async def look(arguments: dict[str, Any], _: Go) -> str:
    return f"nothing new at {arguments.get('at', 'all')}"


def calls(*arguments: dict[str, Any] | str) -> list[Reply]:
    """One step for each, and then an end."""
    steps = [say("", (f"c{number}", "look", one)) for number, one in enumerate(arguments, 1)]
    return [*steps, say("done")]


def results(session: Driven) -> list[str | None]:
    return [fact.code for fact in session.facts if isinstance(fact, ToolResult)]


def hints(session: Driven) -> int:
    return sum(isinstance(f, UserMessage) and HINTED in f.content for f in session.facts)


async def test_the_third_same_result_brings_a_hint_and_the_fifth_call_is_denied(
    tmp_path: Path,
) -> None:
    model = Scripted(calls(*[{"at": "a"}] * 6))
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
  call    c1 look(at='a')
  result  c1 nothing new at a
  call    c2 look(at='a')
  result  c2 nothing new at a
  call    c3 look(at='a')
  result  c3 nothing new at a
context   The same call has given the same result 3 times in a row. Making it again will not help: look at what it says, and do something else or ask the person.
  call    c4 look(at='a')
  result  c4 nothing new at a
  call    c5 look(at='a')
  result  c5 DENIED <tool error: the same call gave the same result 4 times in a row, so it was not run again; do something else, or say what stands in the way>
  call    c6 look(at='a')
  result  c6 DENIED <tool error: the same call gave the same result 4 times in a row, so it was not run again; do something else, or say what stands in the way>
assistant done
end       completed
""")


async def test_the_order_and_the_spelling_of_arguments_make_no_difference(tmp_path: Path) -> None:
    spelt = ['{"at":"a","n":1}', '{ "n": 1, "at": "a" }', '{"n":1,"at":"\\u0061"}']
    model = Scripted(calls(*spelt))
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
    assert hints(session) == 1


async def test_waiting_for_something_to_change_is_no_repetition(tmp_path: Path) -> None:
    count = 0

    async def poll(_arguments: dict[str, Any], _: Go) -> str:
        nonlocal count
        count += 1
        return f"{count} of 8 are ready"

    model = Scripted(calls(*[{}] * 8))
    async with driven(
        model, tmp_path, tools=[tool("look", poll)], plugins=[repeats.install]
    ) as session:
        await session.say("go")
    assert (count, hints(session), set(results(session))) == (8, 0, {None})


async def test_another_call_in_between_begins_a_new_row(tmp_path: Path) -> None:
    model = Scripted(calls(*[{"at": "a"}, {"at": "a"}, {"at": "b"}] * 3))
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
    assert (hints(session), set(results(session))) == (0, {None})


async def test_a_denied_call_runs_again_after_another_one(tmp_path: Path) -> None:
    model = Scripted(calls(*[{"at": "a"}] * 5, {"at": "b"}, {"at": "a"}))
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
    assert results(session) == [None] * 4 + ["DENIED", None, None]


async def test_a_word_of_the_person_begins_a_new_row(tmp_path: Path) -> None:
    model = Scripted([*calls({}, {}), *calls({}, {})])
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
        await session.say("look again")
    assert hints(session) == 0


async def test_the_same_failure_is_the_same_result(tmp_path: Path) -> None:
    model = Scripted(calls(*["{broken"] * 3))
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
    assert (hints(session), results(session)) == (1, ["INVALID_ARGS"] * 3)


async def test_arguments_that_are_nested_too_deep_are_told_apart_by_how_they_are_spelt(
    tmp_path: Path,
) -> None:
    deep = f'{{"at": {"[" * 300}{"]" * 300}}}'
    model = Scripted(calls(deep, deep, deep))
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[repeats.install]) as session:
        await session.say("go")
    assert results(session) == [None, None, None]
    assert hints(session) == 1


async def test_without_the_plugin_nothing_is_said(tmp_path: Path) -> None:
    plugin = partial(repeats.install, hint=1, deny=2)
    model = Scripted([*calls({}, {}), *calls({}, {})])
    tools = [tool("look", look)]
    async with driven(model, tmp_path, tools=tools, plugins=[plugin]) as session:
        await session.say("go")
        await session.plugins.exchange([])
        await session.say("go")
    assert results(session) == [None, "DENIED", None, None]
