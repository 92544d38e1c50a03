"""Random turns against the invariants, then a crash at a random byte, and the invariants again.

Every sequence follows from its seed alone: the model, the tools, the layers, the person and the
disk draw from one generator, and nothing waits for a clock.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from agent.order import assert_pairs, check_log
from turnbuckle.agent.agent import Settings
from turnbuckle.agent.hooks import PreStep, RequestFailure, Retry
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next, Stack
from turnbuckle.model.port import Delta, Emit, ModelUnavailable, Reply, Request
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    LlmStream,
    StepStart,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.parts import Call, Target
from turnbuckle.session.projection import project
from turnbuckle.session.rebuild import Rebuild, verify
from turnbuckle.session.recovery import closing
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.subject import Command
from turnbuckle.tools.tool import Go, Outcome, Tool, ToolError

SEQUENCES = int(os.environ.get("TURNBUCKLE_STRESS_SEQUENCES", "3000"))
BATCHES = 10
FIRST = int(os.environ.get("TURNBUCKLE_STRESS_SEED", "0"))

KINDS = ("read", "throw", "swallow", "slow", "write", "ask", "unprepared", "nonsense")

NONSENSE = [
    Outcome(content=None),  # type: ignore[arg-type]
    Outcome(content="x", meta={"bad": float("nan")}),
    Outcome(content="x" * 200_000),
    Outcome(content="\ud800", contexts=("\udc00",)),
    Outcome(content="x", facts=(None,)),  # type: ignore[arg-type]
]


class World:
    """One seed's model, tools, layers and disk."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.calls = self.syncs = 0
        self.fail_at = self.rng.randrange(1, 12) if self.rng.random() < 0.12 else 0
        self.settings = Settings(
            model=MODEL, max_steps=6, max_parallel_tool_calls=self.rng.choice([1, 2, 10])
        )
        self.window = None
        self.running: list[str] = []
        self.causes: dict[int, str] = {}
        self.faults: list[str] = []

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    async def sync(self, _descriptor: int) -> None:
        await self.pause(4)
        self.syncs += 1
        if self.syncs == self.fail_at:
            raise OSError(28, "No space left on device")

    async def pause(self, most: int) -> None:
        for _ in range(self.rng.randrange(most)):
            await checkpoint()

    async def __call__(self, _request: Request, emit: Emit) -> Reply:
        said = []
        for _ in range(self.rng.randrange(5)):
            said.append("x" * self.rng.randrange(1, 5))
            emit(Delta(text=said[-1]))
            await self.pause(3)
        if self.chance(0.1):
            raise ModelUnavailable("server", "503")
        calls = []
        for _ in range(self.rng.randrange(1, 6) if self.chance(0.7) else 0):
            self.calls += 1
            name = self.rng.choice([*KINDS, "nope"])
            call_id = self.rng.choice([f"c{self.calls}", "", "c1"])
            arguments = self.rng.choices(["{}", "", "{bad"], [50, 40, 10])[0]
            calls.append(Call(call_id=call_id, name=name, arguments=arguments))
        finish = self.rng.choices(["stop", "length", "truncated"], [90, 5, 5])[0]
        return Reply(content="".join(said), tool_calls=tuple(calls), finish=finish)

    async def body(self, kind: str) -> Outcome:
        self.running.append(kind)
        if len(self.running) > self.settings.max_parallel_tool_calls:
            self.faults.append(f"too many at once: {self.running}")
        if len(self.running) > 1 and "write" in self.running:
            self.faults.append(f"an exclusive call beside others: {self.running}")
        try:
            return await self.inner(kind)
        finally:
            self.running.remove(kind)

    async def inner(self, kind: str) -> Outcome:
        await self.pause(6)
        if kind == "throw":
            raise self.rng.choice([ValueError("boom"), asyncio.CancelledError(), SystemExit(1)])
        if kind == "nonsense":
            return self.rng.choice(NONSENSE)
        if kind == "slow":
            await self.pause(30)
        if kind == "swallow":
            try:
                await self.pause(30)
            except BaseException:
                if self.chance(0.5):
                    return Outcome(content="swallowed")
                raise
        return Outcome(content="ok", contexts=("context",) if self.chance(0.2) else ())

    def tools(self) -> list[Tool[Any]]:
        def body_of(kind: str) -> Callable[[dict[str, Any], Go], Any]:
            async def body(_arguments: dict[str, Any], _go: Go) -> Outcome:
                return await self.body(kind)

            return body

        subjects: dict[str, Command | ToolError] = {
            "ask": COMMAND,
            "write": COMMAND,
            "unprepared": ToolError("NOT_FOUND", "no"),
        }
        return [
            tool(
                kind,
                body_of(kind),
                subject=subjects.get(kind),
                mode="exclusive" if kind == "write" else "parallel",
            )
            for kind in KINDS
        ]

    def install(self, ctx: PluginContext) -> None:
        async def wobble(value: Any, next_: Next[Any, Any]) -> Any:
            await checkpoint()
            if self.chance(0.03):
                raise RuntimeError("a layer")
            if self.chance(0.01):
                raise asyncio.CancelledError
            if self.chance(0.01):
                return "nonsense"
            if self.chance(0.1):
                await next_(value)
            return await next_(value)

        hooks = ctx.hooks
        stacks: list[Stack[Any, Any]] = [
            hooks.pre_step, hooks.request_error, hooks.turn_stopping, hooks.prompt,
            hooks.pre_execute, hooks.execute, hooks.post_execute,
        ]  # fmt: skip
        for stack in stacks:
            if self.chance(0.3):
                stack.use(wobble)

        async def again(
            failure: RequestFailure, _next: Next[RequestFailure, Retry | None]
        ) -> Retry | None:
            return Retry(0) if failure.attempt < 3 else None

        async def redact(request: Request, next_: Next[Request, Request]) -> Request:
            messages = tuple(
                replace(m, content="R") if isinstance(m, UserMessage) else m
                for m in request.messages
                if not (isinstance(m, UserMessage) and m.source == "context")
            )
            return await next_(replace(request, messages=messages))

        async def steer(step: PreStep, next_: Next[PreStep, Any]) -> Any:
            if self.chance(0.2):
                ctx.session.inject("injected")
            return await next_(step)

        hooks.request_error.use(again)
        hooks.pre_step.use(steer)
        if self.chance(0.25):
            hooks.request.use(redact)

        def rude(start: StepStart) -> None:
            ctx.session.keep({"at": start.step})
            if self.chance(0.3):
                raise RuntimeError("an observer")

        ctx.on(StepStart, rude)


_TARGETS: list[Target] = ["turn", "turn", "step"]


async def person(world: World, session: Driven) -> None:
    """Sends, steers, cancels and decides at random moments."""
    driver, approvals = session.opened.driver, session.opened.agent.approvals
    for number in range(world.rng.randrange(1, 12)):
        await world.pause(world.rng.choice([1, 2, 4, 10, 40]))
        what = world.rng.random()
        if what < 0.35:
            target: Target = world.rng.choice(_TARGETS)
            driver.send(f"k{number}", "hello", target=target)
        elif what < 0.5:
            if (turn := driver.running) is not None:
                world.causes.setdefault(turn, f"cause {number}")
            driver.cancel(f"cause {number}", keep_queue=world.chance(0.5))
        elif approvals.pending:
            asked = world.rng.choice(approvals.pending)
            approvals.decide(asked.approval_id, allow=world.chance(0.7), by="person")


async def drain(world: World, session: Driven) -> None:
    """Answer what is asked until the driver is idle."""
    driver, approvals = session.opened.driver, session.opened.agent.approvals
    while not driver._idle.is_set():
        for asked in approvals.pending:
            approvals.decide(asked.approval_id, allow=world.chance(0.7), by="person")
        await checkpoint()


def assert_projection_is_a_fold(session: Driven) -> None:
    """Observers run after the commit, so compare with what this projection has seen."""

    def same(entry: Entry, _line: bytes) -> None:
        seen = [e for e in session.entries if e.seq <= entry.seq]
        faults.extend([entry.seq] * (project(seen).messages != projection.messages))

    faults: list[int] = []
    projection = session.opened.session.projection
    session.opened.session.log.observe(session.scope, same)

    def judge() -> None:
        assert faults == [], "the projection parted from a fold from scratch"

    session.scope.defer(judge)


async def one(seed: int, folder: Path, stats: Counter[str]) -> None:
    world = World(seed)
    async with driven(
        world, folder, tools=world.tools(), plugins=[world.install],
        settings=world.settings, sync=world.sync,
    ) as session:  # fmt: skip
        if world.chance(0.3):
            assert_projection_is_a_fold(session)
        session.opened.driver.send("first", "go")
        await person(world, session)
        if not world.chance(0.1):
            await drain(world, session)
        session_id = session.opened.session.id
    await session.scope.aclose()
    assert not session.opened.agent.approvals.pending
    check_log(session.entries, stats)
    assert world.faults == []
    ends = [fact for fact in session.facts if isinstance(fact, TurnEnd)]
    assert {
        end.turn: end.end.cause
        for end in ends
        if end.end.kind == "aborted" and end.end.cause != "shutdown"
    } == {turn: cause for turn, cause in world.causes.items() if not went_down(ends, turn)}
    store = session.opened.session.store
    assert store is not None
    if store._failure is None:
        lines, _ = read_lines(store.path)
        assert len(lines) == len(session.entries)
        assert all(same for _, same in verify(iter(lines)))
    await crash(world, folder, session_id, session.entries, store.path)
    stats["sequences"] += 1
    stats["facts"] += len(session.entries)


def went_down(ends: list[TurnEnd], turn: int) -> bool:
    """Whether the whole session was closed in that turn, whatever else was wanted of it."""
    return any(end.turn == turn and end.end.cause == "shutdown" for end in ends)


async def crash(
    world: World, folder: Path, session_id: str, before: list[Entry], path: Path
) -> None:
    """Cut the file at any byte, open the session again, and run one more turn."""
    raw = path.read_bytes()
    path.write_bytes(raw[: world.rng.randrange(len(raw) + 1)])
    kept = len(read_lines(path)[0])
    async with driven(Quiet(), folder, session_id=session_id, sync=no_sync) as again:
        entries = again.entries
        assert [e.fact for e in entries[:kept]] == [e.fact for e in before[:kept]]
        assert closing(entries) == []
        assert_pairs(project(entries).messages)
        assert project(entries).messages == again.opened.session.projection.messages
        ended = await again.say("and on")
        assert getattr(ended, "end", None) is not None
        assert again.facts[-1] == TurnEnd(turn=ended.turn, end=ended.end)  # type: ignore[union-attr]
        assert ended.end.kind == "completed"  # type: ignore[union-attr]
    lines, _ = read_lines(path)
    assert all(same for _, same in verify(iter(lines)))
    rebuilt = Rebuild()
    ask = LlmStream(turn=1, step=1, attempt=1, model="m", digest="")
    for line in [*lines, codec.line(len(lines), 1, ask, codec.encode_fact(ask))]:
        rebuilt.feed(line)
    messages = again.opened.session.projection.messages
    assert rebuilt.request == [codec.encode(message) for message in messages]


async def no_sync(_descriptor: int) -> None:
    pass


class Quiet:
    """A model with one thing to say."""

    window = None

    async def __call__(self, _request: Request, _emit: Emit) -> Reply:
        return Reply(content="ok", finish="stop")


@pytest.mark.parametrize("batch", range(BATCHES))
async def test_random_turns_keep_every_invariant(
    batch: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")  # the tracebacks of what is thrown on purpose
    stats: Counter[str] = Counter()
    count = SEQUENCES // BATCHES
    for seed in range(FIRST + batch * count, FIRST + (batch + 1) * count):
        try:
            with anyio.fail_after(30):
                await one(seed, tmp_path / str(seed), stats)
        except BaseException as error:
            error.add_note(f"seed {seed}: TURNBUCKLE_STRESS_SEED={seed} repeats it")
            raise
    print(dict(sorted(stats.items())))  # noqa: T201
    assert stats["sequences"] == count
    if count >= 100:  # enough to have met every way out
        for met in ("end completed", "end aborted", "end error", "end stopped", "result ok",
                    "result ABORTED", "result DENIED", "result TOOL_FAILED"):  # fmt: skip
            assert stats[met], f"no {met!r} among {count} sequences"
