"""The pipeline of one call."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field

from turnbuckle.kernel.scope import Scope
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.blobs import Blobs
from turnbuckle.session.events import Fact, ToolStart
from turnbuckle.session.parts import Call
from turnbuckle.session.store import StoreFailed
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.execute import Permission, Ports, execute
from turnbuckle.tools.hooks import Allow, Ask, Execution, ToolHooks
from turnbuckle.tools.judging import innermost
from turnbuckle.tools.registry import DuplicateTool, ToolRegistry
from turnbuckle.tools.schedule import Slot
from turnbuckle.tools.subject import Read, Subject
from turnbuckle.tools.tool import Go, Outcome, Prepared, Tool, Verdict
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.paths import Place, Roots
from turnbuckle.workspace.port import Workspace


async def ok(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


class Bench:
    """A pipeline with nothing around it; `allowed` is what the person says."""

    def __init__(self, folder: Path, *tools: Tool[Any]) -> None:
        self.scope = Scope("bench")
        self.registry = ToolRegistry()
        self.drop = {t.name: self.registry.register(self.scope, t) for t in tools}
        self.hooks = ToolHooks()
        self.allowed = True
        self.asked: list[str] = []
        self.facts: list[Fact] = []
        self.full = False
        self.ports = Ports(
            registry=self.registry,
            hooks=self.hooks,
            workspace=Workspace(
                roots=Roots(cwd=folder, folders=(folder,)), texts=DiskTexts(), seen=lambda _: None
            ),
            blobs=Blobs(folder / "blobs"),
            ask=self.ask,
            append=self.facts.append,
            flush=self.flush,
            note=lambda _id, _text: None,
            slots=anyio.CapacityLimiter(2),
        )

    async def flush(self) -> None:
        if self.full:
            raise StoreFailed("no space")

    async def ask(self, execution: Execution, reason: str) -> Permission:
        self.asked.append(f"{execution.call.name}: {reason}")
        for drop in list(self.drop.values())[1:]:
            drop()

        async def nothing() -> AsyncIterator[tuple[str, ...]]:
            return
            yield

        return Permission(allowed=self.allowed, why="no", accepted=nothing, verdict=Verdict)

    async def run(self, name: str, arguments: str = "{}") -> Outcome:
        slot = Slot(Call(call_id="c", name=name, arguments=arguments), parallel=False)
        return await execute(slot, 1, 1, self.ports)


async def test_a_full_disk_runs_nothing_also_on_a_second_next(tmp_path: Path) -> None:
    ran: list[int] = []

    async def body(_arguments: dict[str, Any], _: Go) -> str:
        ran.append(1)
        bench.full = True
        return "ok"

    async def twice(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
        await next_(execution)
        return await next_(execution)

    bench = Bench(tmp_path, tool("t", body))
    bench.hooks.execute.use(bench.scope, twice)
    with pytest.raises(StoreFailed):
        await bench.run("t")
    assert len(ran) == 1
    assert [f.attempt for f in bench.facts if isinstance(f, ToolStart)] == [1, 2]


async def test_a_tool_that_went_away_while_it_was_asked_about_is_unknown(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("stays", ok), tool("goes", ok, subject=COMMAND))
    outcome = await bench.run("goes")
    assert outcome.code == "UNKNOWN_TOOL"
    assert "removed" in outcome.content
    assert bench.facts == []


async def test_every_violation_of_the_arguments_is_named(tmp_path: Path) -> None:
    class Two(BaseModel):
        path: str
        lines: int = Field(ge=1)

    async def prepare(_: Two, _workspace: Workspace) -> Prepared:
        raise AssertionError

    bench = Bench(tmp_path, Tool(name="t", description="", parameters=Two, prepare=prepare))
    outcome = await bench.run("t", '{"path": 1, "lines": 0}')
    assert outcome.code == "INVALID_ARGS"
    assert "path: " in outcome.content
    assert "lines: " in outcome.content
    assert (await bench.run("t", "")).code == "INVALID_ARGS"


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("t", ok))
    with pytest.raises(DuplicateTool, match="t is registered already"):
        bench.registry.register(bench.scope, tool("t", ok))
    bench.drop["t"]()
    assert bench.registry.get("t") is None
    bench.registry.register(bench.scope, tool("t", ok))


def place(*, inside: bool = True, secret: bool = False) -> Place:
    return Place(uri="file:///w/a", path=Path("/w/a"), shown="a", inside=inside, secret=secret)


@pytest.mark.parametrize(
    ("subject", "asks"),
    [
        (None, False),
        (Read(places=(place(),)), False),
        (Read(places=()), False),
        (Read(places=(place(), place(inside=False))), True),
        (Read(places=(place(secret=True),)), True),
        (COMMAND, True),
    ],
)
async def test_the_innermost_policy_allows_only_what_is_harmless(
    tmp_path: Path, subject: Subject | None, *, asks: bool
) -> None:
    bench = Bench(tmp_path, tool("t", ok, subject=subject))
    bench.allowed = False
    outcome = await bench.run("t")
    assert (outcome.code == "DENIED") is asks
    assert bool(bench.asked) is asks


async def test_allow_and_ask_are_all_that_the_innermost_policy_says(tmp_path: Path) -> None:
    t = tool("t", ok)
    prepared = await t.prepare(t.parameters(), Bench(tmp_path).ports.workspace)
    execution = Execution(
        turn=1, step=1, call=Call(call_id="c", name="t", arguments=""), tool=t, arguments=None,
        prepared=prepared,
    )  # fmt: skip
    assert isinstance(await innermost(execution), Allow | Ask)
