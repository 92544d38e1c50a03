"""A conversation that grows too long: what is left out, when, and what stays as it is."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Emit, ModelRefused, ModelUnavailable, Reply, Request
from turnbuckle.plugins import compaction, retry
from turnbuckle.session.events import (
    AssistantMessage,
    ContextPruned,
    ContextSummary,
    Fact,
    LlmFailed,
    LlmStream,
    RequestHeader,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.parts import JsonObject, Usage
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go, Outcome

STEPS = Settings(model=MODEL, max_steps=40)


async def read(arguments: dict[str, Any], _: Go) -> Outcome:
    """So many words, a line each; `read` is remembered."""
    text = "".join(f"word {number:3}\n" for number in range(arguments["lines"]))
    meta = {"read": {"uri": f"file:///{arguments['path']}", "digest": "d"}}
    return Outcome(content=text, meta=meta)


READ = tool("read", read)

WINDOW = 4000
LONG = say("word " * 2600)
"""What is too long for such a window already."""

TALK: list[Step] = [say("word " * 660)] * 4
TALKED = ("a", "b", "c", "d")
"""Four turns that are together too long for it."""


def reading(path: str, lines: int = 4, usage: Usage | None = None) -> Reply:
    return say(f"I read {path}", (path, "read", {"path": path, "lines": lines}), usage=usage)


def used(total: int) -> Usage:
    return Usage(input=total - 1, output=1, total=total)


def count(session: Driven, kind: type[Fact]) -> int:
    return sum(isinstance(fact, kind) for fact in session.facts)


def asked(model: Scripted) -> list[str]:
    """What each request was for."""
    return [request.why or "step" for request in model.requests]


def end_of(session: Driven) -> str:
    last = session.facts[-1]
    assert isinstance(last, TurnEnd)
    return transcript(session.entries[-1:]).strip()


async def run(
    folder: Path,
    model: Scripted,
    *prompts: str,
    plugins: Sequence[Install] = (compaction.install,),
    notes: list[str] | None = None,
    session_id: str | None = None,
) -> Driven:
    """The one place that knows how turns are driven; every request must rebuild from the file."""

    def note(type_: str, data: JsonObject) -> None:
        if notes is not None and type_ == "status":
            notes.append(data["text"])

    async with driven(
        model, folder, tools=[READ], plugins=plugins, settings=STEPS, session_id=session_id
    ) as session:
        session.opened.session.observe_notes(session.scope, note)
        for prompt in prompts:
            await session.say(prompt)
    assert_rebuilds(session)
    return session


def assert_rebuilds(session: Driven) -> None:
    store = session.opened.session.store
    assert store is not None
    lines, _ = read_lines(store.path)
    requests = [fact for fact in session.facts if isinstance(fact, LlmStream)]
    assert [same for _, same in verify(iter(lines))] == [True] * len(requests)


# -- in the middle of a turn -------------------------------------------------------------------------


async def test_a_long_turn_is_pruned_first_and_summed_up_only_if_that_is_not_enough(
    tmp_path: Path,
) -> None:
    paths = ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py", "g.py", "h.py"]

    async def answer(request: Request, _: Emit) -> Reply:
        if request.why:
            return say("Files were read; nothing was changed.")
        return reading(paths.pop(0), 80) if paths else say("done")

    model = Scripted([answer] * 20, window=1200)
    session = await run(tmp_path, model, "read all files")
    text = transcript(session.entries).replace("word ", "")
    assert "\n".join(line[:50].rstrip() for line in text.splitlines()) == snapshot("""\
user      read all files
assistant I read a.py
  call    a.py read(path='a.py', lines=80)
  result  a.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
assistant I read b.py
  call    b.py read(path='b.py', lines=80)
  result  b.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
assistant I read c.py
  call    c.py read(path='c.py', lines=80)
  result  c.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
assistant I read d.py
  call    d.py read(path='d.py', lines=80)
  result  d.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
assistant I read e.py
  call    e.py read(path='e.py', lines=80)
  result  e.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
pruned    4
assistant I read f.py
  call    f.py read(path='f.py', lines=80)
  result  f.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
pruned    1
assistant I read g.py
  call    g.py read(path='g.py', lines=80)
  result  g.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
pruned    1
summary   [The beginning of the conversation was l
assistant I read h.py
  call    h.py read(path='h.py', lines=80)
  result  h.py   0⏎  1⏎  2⏎  3⏎  4⏎  5⏎  6⏎  7⏎  8
assistant done
end       completed\
""")
    assert asked(model) == ["step"] * 7 + ["compaction"] + ["step"] * 2


async def test_nothing_is_made_smaller_below_the_threshold(tmp_path: Path) -> None:
    model = Scripted([reading("a", 150), say("done", usage=used(790)), say("2")], window=1000)
    session = await run(tmp_path, model, "go", "on")
    assert asked(model) == ["step", "step", "step"]
    assert not count(session, ContextPruned)


async def test_what_the_provider_counted_is_believed_and_only_the_rest_estimated(
    tmp_path: Path,
) -> None:
    def talk(words: int, total: int) -> Scripted:
        long = say("word " * words, usage=used(total))
        return Scripted([say("one"), long, say("Words."), say("done")], window=10_000)

    enough = talk(7000, 7900)
    await run(tmp_path / "below", enough, "a", "b", "c")
    assert asked(enough) == ["step", "step", "step"]

    # The third prompt is estimated, and adds what is missing.
    full = talk(5000, 7900)
    await run(tmp_path / "above", full, "a", "b", "c" * 500)
    assert asked(full) == ["step", "step", "compaction", "step"]


async def test_where_shortening_is_enough_nothing_is_summed_up(tmp_path: Path) -> None:
    model = Scripted([reading("a", 400), reading("b", 200), say("done")], window=1600)
    notes: list[str] = []
    session = await run(tmp_path, model, "go", notes=notes)
    assert asked(model) == ["step", "step", "step"]
    assert (count(session, ContextPruned), count(session, ContextSummary)) == (1, 0)
    results = [m for m in model.requests[-1].messages if isinstance(m, ToolResult)]
    assert [len(result.content) < 500 for result in results] == [True, False]
    assert "call read again" in results[0].content
    assert [note.split(":")[0] for note in notes] == ["made room"]


async def test_what_was_counted_before_it_was_shortened_is_not_believed_after(
    tmp_path: Path,
) -> None:
    replies = [reading("a", 400), reading("b", 200, used(1300)), say("done")]
    model = Scripted(replies, window=1600)
    session = await run(tmp_path, model, "go")
    assert asked(model) == ["step", "step", "step"]
    assert count(session, ContextPruned) == 1


async def test_what_the_person_sees_and_the_log_are_not_shortened(tmp_path: Path) -> None:
    model = Scripted([reading("a", 400), reading("b", 200), say("done")], window=1600)
    session = await run(tmp_path, model, "go")
    results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [result.content.count("\n") for result in results] == [400, 200]


async def test_the_summarys_request_is_the_usual_ones_beginning_and_a_question(
    tmp_path: Path,
) -> None:
    model = Scripted([LONG, say("They said words."), say("done")], window=WINDOW)
    session = await run(tmp_path, model, "speak", "and on")
    first, summary, last = model.requests
    assert asked(model) == ["step", "compaction", "step"]
    assert (summary.config, summary.system, summary.tools) == (
        first.config, first.system, first.tools,
    )  # fmt: skip
    assert count(session, RequestHeader) == 1
    assert summary.messages[0] is first.messages[0]
    question = summary.messages[-1]
    assert isinstance(question, UserMessage)
    assert "Call no tools" in question.content
    assert isinstance(last.messages[0], ContextSummary)
    assert last.messages[0].text.endswith("They said words.")
    streams = [fact for fact in session.facts if isinstance(fact, LlmStream)]
    assert [stream.why for stream in streams] == [None, "compaction", None]


async def test_the_person_is_told_while_it_is_summed_up(tmp_path: Path) -> None:
    notes: list[str] = []
    model = Scripted([LONG, say("They said words."), say("done")], window=WINDOW)
    await run(tmp_path, model, "speak", "and on", notes=notes)
    assert [note.split(",")[0].split(":")[0] for note in notes] == [
        "summing up the older part of the conversation", "made room",
    ]  # fmt: skip


async def test_what_is_said_in_a_summary_is_never_shown_as_an_answer(tmp_path: Path) -> None:
    model = Scripted([LONG, say("They said words."), say("done")], window=WINDOW)
    session = await run(tmp_path, model, "speak", "and on")
    answers = [fact.content for fact in session.facts if isinstance(fact, AssistantMessage)]
    assert answers == [LONG.content, "done"]


async def test_the_request_being_worked_on_stays_if_what_was_before_is_enough(
    tmp_path: Path,
) -> None:
    model = Scripted(
        [
            say("word " * 2000),
            reading("a", 100),
            reading("b", 200),
            say("They said words."),
            say("done"),
        ],
        window=WINDOW,
    )
    await run(tmp_path, model, "speak", "now read, exactly so")
    assert asked(model) == ["step", "step", "step", "compaction", "step"]
    shown = model.requests[-1].messages
    assert isinstance(shown[0], ContextSummary)
    assert isinstance(shown[1], UserMessage)
    assert shown[1].content == "now read, exactly so"


async def test_a_request_that_had_to_be_covered_is_quoted_word_for_word_again_and_again(
    tmp_path: Path,
) -> None:
    async def answer(request: Request, _: Emit) -> Reply:
        if request.why:
            return say("Some files were read.")
        turns = len(model.requests)
        return reading(f"f{turns}", 60) if turns < 30 else say("done")

    model = Scripted([answer] * 40, window=1000)
    session = await run(tmp_path, model, "read: all of it,\nexactly so")
    assert count(session, ContextSummary) >= 3
    assert end_of(session) == "end       completed"
    for fact in session.facts:
        if isinstance(fact, ContextSummary):
            assert fact.text.count("read: all of it,\nexactly so") == 1


# -- summaries of no use -----------------------------------------------------------------------------

USELESS: dict[str, Step] = {
    "longer": say("blah " * 9000),
    "empty": say(""),
    "blank": say(" \n "),
    "calls": say("Sure.", ("x", "read", {"path": "x", "lines": 1})),
    "cut off": say("They sa", finish="length"),
    "broken": say("They sa", finish="truncated"),
    "refused": ModelRefused("auth", "no"),
    "overflow": ModelRefused("overflow", "too long"),
    "down": ModelUnavailable("server", "503"),
}


@pytest.mark.parametrize("fault", USELESS)
async def test_a_summary_of_no_use_is_asked_for_twice_and_changes_nothing(
    tmp_path: Path, fault: str
) -> None:
    async def answer(request: Request, emit: Emit) -> Reply:
        if request.why is None:
            return say("done")
        step = USELESS[fault]
        if isinstance(step, Exception):
            raise step
        assert isinstance(step, Reply)
        return step

    notes: list[str] = []
    model = Scripted([*TALK, *[answer] * 9], window=WINDOW)
    session = await run(tmp_path, model, *TALKED, "and on", "once more", notes=notes)
    # Nor is it tried again at each step.
    assert asked(model) == ["step"] * 4 + ["compaction", "compaction", "step", "step"]
    assert not count(session, ContextSummary)
    assert [m for m in model.requests[-1].messages if isinstance(m, ContextSummary)] == []
    assert count(session, LlmFailed) == 2
    assert end_of(session) == "end       completed"
    assert "could not be made smaller" in notes[-1]
    assert "The instructions and tools alone take about" in notes[-1]


async def test_what_cannot_fit_ends_the_turn_and_names_the_fixed_part(tmp_path: Path) -> None:
    def verbose(ctx: PluginContext) -> None:
        ctx.prompt.section("Rules", "Be brief. " * 800)

    model = Scripted([say("ok")] * 9, window=1000)
    session = await run(tmp_path, model, "go", plugins=[verbose, compaction.install])
    assert asked(model) == []
    assert end_of(session).startswith("end       error (overflow: the conversation takes about 2,")
    assert "tools alone take about 2,0" in end_of(session)
    # Nothing is lost: what was asked stands there for a model with more room.
    assert count(session, UserMessage) == 1


async def test_a_model_that_never_shrinks_anything_cannot_loop(tmp_path: Path) -> None:
    async def parrot(request: Request, _: Emit) -> Reply:
        return say("polly " * 100)

    model = Scripted([parrot] * 60, window=600)
    session = await run(tmp_path, model, *["go on"] * 12)
    assert count(session, TurnEnd) == 12
    assert asked(model).count("compaction") <= 2 * 12


async def test_a_summary_that_never_comes_can_be_cancelled(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def silent(_request: Request, _: Emit) -> Reply:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    model = Scripted([LONG, silent, say("Words."), say("done")], window=WINDOW)
    async with driven(model, tmp_path, plugins=[compaction.install], settings=STEPS) as session:
        await session.say("speak")
        session.send("and on")
        with anyio.fail_after(10):
            await begun.wait()
        session.opened.driver.cancel("user")
        await session.until(TurnEnd, 2)
        assert end_of(session) == "end       aborted (user)"
        assert not count(session, ContextSummary)
        await session.say("again")
        assert end_of(session) == "end       completed"
    assert asked(model) == ["step", "compaction", "compaction", "step"]
    assert_rebuilds(session)


async def test_what_a_summary_took_counts_also_if_it_was_refused(tmp_path: Path) -> None:
    replies = [LONG, say("", usage=used(50)), say("Words.", usage=used(7))]
    model = Scripted([*replies, say("done", usage=used(100))], window=WINDOW)
    session = await run(tmp_path, model, "speak", "and on")
    total = session.opened.session.usage.turn
    assert total is not None
    assert total.total == 157


async def test_a_summary_is_retried_like_any_request(tmp_path: Path) -> None:
    replies: list[Step] = [
        LONG, ModelUnavailable("rate-limit", "slow"), say("Words."), say("done"),
    ]  # fmt: skip
    model = Scripted(replies, window=WINDOW)
    at_once = partial(retry.install, base=0.0)
    session = await run(tmp_path, model, "speak", "and on", plugins=[compaction.install, at_once])
    assert asked(model) == ["step", "compaction", "compaction", "step"]
    streams = [(f.why, f.attempt) for f in session.facts if isinstance(f, LlmStream)]
    assert streams[1:] == [("compaction", 1), ("compaction", 2), (None, 1)]
    assert count(session, ContextSummary) == 1


# -- overflow ----------------------------------------------------------------------------------------

FULL = ModelRefused("overflow", "too long")


async def test_an_overflow_makes_it_smaller_once_and_asks_again(tmp_path: Path) -> None:
    model = Scripted([*TALK, FULL, say("Words."), say("done")])
    session = await run(tmp_path, model, *TALKED, "and on")
    assert asked(model)[4:] == ["step", "compaction", "step"]
    assert end_of(session) == "end       completed"
    failed = next(fact for fact in session.facts if isinstance(fact, LlmFailed))
    assert failed.retry_at is not None


async def test_where_pruning_is_enough_an_overflow_costs_no_summary(tmp_path: Path) -> None:
    model = Scripted([reading("a", 900), reading("b"), FULL, say("done")])
    session = await run(tmp_path, model, "go")
    assert asked(model) == ["step"] * 4
    assert count(session, ContextPruned) == 1
    assert end_of(session) == "end       completed"


async def test_without_a_known_window_only_an_overflow_tells(tmp_path: Path) -> None:
    model = Scripted([say("word " * 9000), say("done")])
    await run(tmp_path, model, "speak", "and on")
    assert asked(model) == ["step", "step"]


async def test_a_second_overflow_of_a_step_stands(tmp_path: Path) -> None:
    model = Scripted([*TALK, FULL, say("Words."), FULL, say("never")])
    session = await run(tmp_path, model, *TALKED, "and on")
    assert asked(model)[4:] == ["step", "compaction", "step"]
    assert end_of(session) == "end       error (overflow: too long)"


async def test_an_overflow_is_not_answered_by_one_round_after_another(tmp_path: Path) -> None:
    replies: list[Step] = [*TALK, reading("a", 2000), reading("b", 60), FULL, FULL]
    model = Scripted([*replies, say("never")])
    session = await run(tmp_path, model, *TALKED, "go")
    assert asked(model) == ["step"] * 8
    assert end_of(session) == "end       error (overflow: too long)"


async def test_where_nothing_shrank_it_is_not_asked_again(tmp_path: Path) -> None:
    model = Scripted([FULL, say("never")])
    session = await run(tmp_path, model, "go " * 900)
    assert asked(model) == ["step"]
    assert end_of(session) == "end       error (overflow: too long)"


@pytest.mark.parametrize("fault", ["empty", "refused", "longer"])
async def test_where_the_summary_fails_the_first_failure_stands(tmp_path: Path, fault: str) -> None:
    notes: list[str] = []
    model = Scripted([*TALK, FULL, USELESS[fault], USELESS[fault], say("never")])
    session = await run(tmp_path, model, *TALKED, "and on", notes=notes)
    assert asked(model)[4:] == ["step", "compaction", "compaction"]
    assert end_of(session) == "end       error (overflow: too long)"
    assert not count(session, ContextSummary)
    assert "tools alone take about" in notes[-1]
    messages = session.opened.session.projection.messages
    assert [type(message) for message in messages] == [
        *[UserMessage, AssistantMessage] * 4, UserMessage,
    ]  # fmt: skip


async def test_where_even_the_beginning_overflows_a_smaller_piece_is_summed_up(
    tmp_path: Path,
) -> None:
    sizes: list[int] = []

    async def narrow(request: Request, _: Emit) -> Reply:
        size = sum(len(getattr(m, "content", "")) for m in request.messages)
        sizes.append(size)
        if size > 4500:
            raise FULL
        return say("Some words." if request.why else "done")

    replies: list[Step] = [say("word " * 300), say("word " * 300), say("word " * 300)]
    model = Scripted([*replies, say("word " * 600), *[narrow] * 20])
    session = await run(tmp_path, model, "a", "b", "c", "d", "e")
    assert end_of(session) == "end       completed"
    failed = [size for size in sizes if size > 4500]
    assert len(failed) == 2, "the request, and its summary"
    assert failed[1] < failed[0]


async def test_a_huge_result_that_was_just_read_is_shortened_where_nothing_else_helps(
    tmp_path: Path,
) -> None:
    model = Scripted([reading("a", 3000), say("done")], window=2000)
    session = await run(tmp_path, model, "go")
    assert asked(model) == ["step", "step"]
    assert end_of(session) == "end       completed"
    result = model.requests[-1].messages[-1]
    assert isinstance(result, ToolResult)
    assert "word   0\n" in result.content
    assert "word 2999\n" in result.content
    assert len(result.content) < 2000


# -- beside other layers, and later ------------------------------------------------------------------


async def test_layers_stand_around_a_summary_too_wherever_they_were_added(tmp_path: Path) -> None:
    async def redact(request: Request, next_layer: Next[Request, Request]) -> Request:
        messages = tuple(
            replace(m, content=m.content.replace("secret", "*"))
            if isinstance(m, UserMessage | AssistantMessage)
            else m
            for m in request.messages
        )
        return await next_layer(replace(request, messages=messages))

    def outer(ctx: PluginContext) -> None:
        ctx.hooks.request.use(redact, outermost=True)

    def inner(ctx: PluginContext) -> None:
        ctx.hooks.request.use(redact)

    for name, plugins in (
        ("inner", [compaction.install, inner]),
        ("outer", [compaction.install, outer]),
    ):
        model = Scripted([say("secret " * 1850), say("Words."), say("done")], window=WINDOW)
        await run(tmp_path / name, model, "secret", "a secret", plugins=plugins)
        assert asked(model) == ["step", "compaction", "step"]
        for request in model.requests:
            assert not any("secret" in getattr(m, "content", "") for m in request.messages)


async def test_a_resumed_session_shows_the_same_and_knows_what_was_read(tmp_path: Path) -> None:
    paths = [f"f{number}" for number in range(12)]

    async def answer(request: Request, _: Emit) -> Reply:
        if request.why:
            return say("Files were read.")
        return reading(replies.pop(0), 60) if replies else say("ok")

    replies = list(paths)
    first = await run(tmp_path, Scripted([answer] * 40, window=1000), "read")
    before = first.opened.session
    assert count(first, ContextSummary) >= 1
    again = await run(tmp_path, Scripted([say("ok")], window=9000), "and on", session_id=before.id)
    after = again.opened.session
    kept = len(before.projection.messages)
    assert after.projection.messages[:kept] == before.projection.messages
    assert after.projection.seqs[:kept] == before.projection.seqs
    assert [after.reads.digest(f"file:///{path}") for path in paths] == ["d"] * 12


async def test_no_call_is_open_when_something_is_left_out(tmp_path: Path) -> None:
    paths = [f"f{number}" for number in range(8)]
    pairs = (paths[:2], paths[2:4], paths[4:6], paths[6:])
    replies = [say("", *((p, "read", {"path": p, "lines": 40}) for p in pair)) for pair in pairs]

    async def answer(request: Request, _: Emit) -> Reply:
        if request.why:
            return say("Files were read.")
        return replies.pop(0) if replies else say("done")

    session = await run(tmp_path, Scripted([answer] * 30, window=1000), "read")
    assert count(session, ContextSummary)
    owed = 0
    for fact in session.facts:
        match fact:
            case AssistantMessage(tool_calls=calls):
                owed += len(calls)
            case ToolResult():
                owed -= 1
            case ContextPruned() | ContextSummary():
                assert owed == 0
            case _:
                pass
