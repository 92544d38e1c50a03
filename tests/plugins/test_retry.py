"""What is asked again, when, and how the person sees it."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import Delta, Emit, ModelRefused, ModelUnavailable, Reply, Request
from turnbuckle.plugins import retry
from turnbuckle.session.events import AssistantMessage, LlmFailed, LlmStream, TurnEnd
from turnbuckle.session.parts import Failure, FailureKind, JsonObject
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.completions import answer, chunk, failure
from turnbuckle.testing.modelserver import ModelServer, Response
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.transcript import transcript

AT_ONCE: Install = partial(retry.install, base=0.0)
"""As it ships, but for the waits that it adds by itself."""


def unavailable(kind: FailureKind, retry_after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable(kind, f"{kind}!", retry_after=retry_after)


async def run(folder: Path, replies: list[Step], *plugins: Install) -> Driven:
    async with driven(Scripted(replies), folder, plugins=plugins or (AT_ONCE,)) as session:
        await session.say("go")
    return session


def waits(session: Driven) -> list[bool]:
    """For each failed attempt, whether another was announced."""
    failed = [fact for fact in session.facts if isinstance(fact, LlmFailed)]
    return [fact.retry_at is not None for fact in failed]


# -- what --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rate-limit", "server", "timeout", "transport", "empty"])
async def test_what_may_be_answered_later_is_asked_again(tmp_path: Path, kind: FailureKind) -> None:
    session = await run(tmp_path, [unavailable(kind), say("done")])
    assert transcript(session.entries) == (
        f"user      go\nfailed    {kind}: {kind}!\nassistant done\nend       completed\n"
    )


@pytest.mark.parametrize("kind", ["auth", "quota", "overflow", "protocol"])
async def test_what_would_be_refused_again_is_not(tmp_path: Path, kind: FailureKind) -> None:
    session = await run(tmp_path, [ModelRefused(kind, "no"), say("never")])
    assert transcript(session.entries) == (
        f"user      go\nfailed    {kind}: no\nend       error ({kind}: no)\n"
    )


async def test_there_are_five_attempts_in_all_and_the_last_failure_ends_the_turn(
    tmp_path: Path,
) -> None:
    failures = [ModelUnavailable("server", f"busy {count}") for count in range(1, 7)]
    session = await run(tmp_path, list(failures))
    assert transcript(session.entries) == snapshot("""\
user      go
failed    server: busy 1
failed    server: busy 2
failed    server: busy 3
failed    server: busy 4
failed    server: busy 5
end       error (server: busy 5)
""")
    assert waits(session) == [True] * 4 + [False]


async def test_each_step_has_its_own_attempts(tmp_path: Path) -> None:
    busy = [unavailable("server")] * 4
    async with driven(
        Scripted([*busy, say("1"), *busy, say("2")]), tmp_path, plugins=[AT_ONCE]
    ) as s:
        await s.say("one")
        await s.say("two")
    assert [f.attempt for f in s.facts if isinstance(f, LlmStream)] == [1, 2, 3, 4, 5] * 2


async def test_a_failed_attempts_text_is_discarded_by_the_next(tmp_path: Path) -> None:
    cut = Response(chunks=(chunk({"content": "Hello wor"}),), end="reset")
    async with ModelServer([cut, answer("Hello world")]) as server:
        model = OpenAIChat(server.url)
        async with driven(model, tmp_path, plugins=[AT_ONCE]) as session:
            await session.say("go")
        await model.aclose()
    said = [fact for fact in session.facts if isinstance(fact, AssistantMessage)]
    assert [(message.content, message.interrupted) for message in said] == [("Hello world", None)]


async def test_what_an_inner_layer_decides_stands(tmp_path: Path) -> None:
    async def never_mind(_: RequestFailure, __: Next[RequestFailure, Retry | None]) -> Retry | None:
        return Retry(0.0)

    def inner(ctx: PluginContext) -> None:
        ctx.hooks.request_error.use(never_mind)

    session = await run(tmp_path, [ModelRefused("auth", "no"), say("done")], AT_ONCE, inner)
    assert waits(session) == [True]


# -- when --------------------------------------------------------------------------------------------


async def wait_of(
    folder: Path,
    *,
    attempt: int = 1,
    retry_after: float | None = None,
    chance: float = 0.0,
    kind: FailureKind = "rate-limit",
) -> float | None:
    """How long would be waited, asked of the layer itself: nobody waits."""

    async def nobody(_: RequestFailure) -> Retry | None:
        return None

    plugin = partial(retry.install, chance=lambda: chance)
    async with driven(Scripted([]), folder, plugins=[plugin]) as session:
        refused = Failure(kind=kind, message="m", retry_after=retry_after)
        value = RequestFailure(turn=1, step=1, attempt=attempt, failure=refused)
        decided = await session.opened.agent.hooks.request_error.run(value, nobody)
    return decided.after if decided else None


async def test_the_wait_doubles_with_each_attempt(tmp_path: Path) -> None:
    waits = [
        await wait_of(tmp_path / str(attempt), attempt=attempt, chance=1.0)
        for attempt in range(1, 6)
    ]
    assert waits == [1.0, 2.0, 4.0, 8.0, None]


async def test_by_chance_it_is_down_to_half_of_that(tmp_path: Path) -> None:
    assert await wait_of(tmp_path / "a", attempt=3, chance=0.0) == 2.0
    assert await wait_of(tmp_path / "b", attempt=3, chance=0.5) == 3.0


@given(st.integers(1, 10_000), st.floats(0, 1), st.floats(0.001, 100))
def test_no_attempt_however_late_waits_longer_than_the_cap(
    attempt: int, chance: float, base: float
) -> None:
    wait = retry.wait_after(attempt, base=base, cap=30.0, chance=chance)
    assert min(30.0, base) / 2 <= wait <= 30.0


async def test_what_the_provider_asks_for_is_the_least(tmp_path: Path) -> None:
    assert await wait_of(tmp_path / "a", retry_after=17.0) == 17.0
    assert await wait_of(tmp_path / "b", retry_after=0.1) == 0.5
    assert await wait_of(tmp_path / "c", retry_after=60.0) == 60.0


async def test_more_than_there_is_patience_for_is_not_waited(tmp_path: Path) -> None:
    assert await wait_of(tmp_path / "a", retry_after=60.5) is None
    assert await wait_of(tmp_path / "b", retry_after=1e9) is None


# -- over a wire ---------------------------------------------------------------------------------


async def play(folder: Path, *responses: Response) -> tuple[str, int]:
    """What came of a turn that gets these answers, and how often it asked."""
    async with ModelServer(responses) as server:
        model = OpenAIChat(server.url)
        async with driven(model, folder, plugins=[AT_ONCE]) as session:
            await session.say("go")
        await model.aclose()
        place = server.url.split("/")[2]
        return transcript(session.entries).replace(place, "P"), len(server.requests)


def slow_down(wait: str) -> Response:
    return failure(429, {"message": "slow down"}, {"retry-after": wait})


async def test_a_short_wait_is_waited_and_a_long_one_ends_the_turn_and_is_named(
    tmp_path: Path,
) -> None:
    short = await play(tmp_path / "short", slow_down("0.01"), answer("done"))
    assert short == snapshot(
        (
            """\
user      go
failed    rate-limit: P answered 429: slow down. It asks to wait 0.01 s.
assistant done
end       completed
""",
            2,
        )
    )
    long = await play(tmp_path / "long", slow_down("10800"), answer("never"))
    assert long == snapshot(
        (
            """\
user      go
failed    rate-limit: P answered 429: slow down. It asks to wait 10800 s (about 3 h).
end       error (rate-limit: P answered 429: slow down. It asks to wait 10800 s (about 3 h).)
""",
            1,
        )
    )


@pytest.mark.parametrize("junk", ["soon", "-5", "\u00b2", "Tue, 14 Nov 2023 22:13:20 GMT", ""])
async def test_a_wait_that_is_none_is_as_if_nothing_was_asked_for(
    tmp_path: Path, junk: str
) -> None:
    said, asked = await play(tmp_path, slow_down(junk), answer("done"))
    assert asked == 2
    assert "slow down\n" in said


async def test_a_server_that_is_busy_twice_is_asked_three_times(tmp_path: Path) -> None:
    busy = failure(503, {"message": "busy"})
    assert await play(tmp_path, busy, busy, answer("done")) == snapshot(
        (
            """\
user      go
failed    server: P answered 503: busy
failed    server: P answered 503: busy
assistant done
end       completed
""",
            3,
        )
    )


async def test_an_error_in_the_stream_is_retried_unless_it_is_the_requests_fault(
    tmp_path: Path,
) -> None:
    half = chunk({"content": "Half a"})
    busy = b'data: {"error":{"type":"overloaded_error","message":"busy, try later"}}\n\n'
    bad = b'data: {"error":{"type":"invalid_request_error","message":"bad schema"}}\n\n'
    again = await play(tmp_path / "a", Response(chunks=(half, busy)), answer("Half a loaf"))
    assert again == snapshot(
        (
            """\
user      go
failed    server: P reported an error: busy, try later (overloaded_error)
assistant Half a loaf
end       completed
""",
            2,
        )
    )
    never = await play(tmp_path / "b", Response(chunks=(half, bad)), answer("never"))
    assert never == snapshot(
        (
            """\
user      go
failed    protocol: P reported an error: bad schema (invalid_request_error)
assistant Half a (interrupted)
end       error (protocol: P reported an error: bad schema (invalid_request_error))
""",
            1,
        )
    )


# -- while it waits ------------------------------------------------------------------------------


async def breaks(_: Request, emit: Emit) -> Reply:
    emit(Delta(text="Half an"))
    raise unavailable("server")


PATIENT: Install = partial(retry.install, base=1000.0, cap=1000.0)


async def test_a_cancel_ends_the_wait_and_keeps_what_was_said(tmp_path: Path) -> None:
    async with driven(Scripted([breaks, say("next")]), tmp_path, plugins=[PATIENT]) as session:
        session.send("go")
        await session.until(LlmFailed)
        session.opened.driver.cancel("user")
        await session.until(TurnEnd)
        await session.say("again")
    assert transcript(session.entries) == snapshot("""\
user      go
failed    server: server!
assistant Half an (interrupted)
end       aborted (user)
user      again
assistant next
end       completed
""")


async def test_the_person_sees_what_failed_and_until_when_is_waited(tmp_path: Path) -> None:
    notes: list[tuple[str, JsonObject]] = []
    async with driven(Scripted([breaks]), tmp_path, plugins=[PATIENT]) as session:
        session.opened.session.observe_notes(
            session.scope, lambda type_, data: notes.append((type_, data))
        )
        session.send("go")
        failed = await session.until(LlmFailed)
        assert isinstance(failed, LlmFailed)
        session.opened.driver.cancel("user")
        await session.until(TurnEnd)
    text = "attempt 2 of 5 follows: server!"
    assert notes == [("status", {"text": text, "until": failed.retry_at})]


async def test_nothing_is_said_where_nothing_is_waited_for(tmp_path: Path) -> None:
    notes: list[str] = []
    async with driven(Scripted([ModelRefused("auth", "no")]), tmp_path, plugins=[AT_ONCE]) as s:
        s.opened.session.observe_notes(s.scope, lambda type_, _: notes.append(type_))
        await s.say("go")
    assert notes == []
