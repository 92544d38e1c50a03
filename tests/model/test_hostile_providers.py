"""Whole turns with providers that do anything: each ends, its log holds, and nothing runs twice."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import HealthCheck, given, settings

from agent.order import assert_pairs, check_log
from cases.streams_played import Played, play, sent
from turnbuckle.model.limits import CALLS_LIMIT
from turnbuckle.session import codec
from turnbuckle.session.events import LlmStream, ToolStart, TurnEnd
from turnbuckle.session.loading import read_log
from turnbuckle.session.projection import project
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import read_lines
from turnbuckle.testing.completions import DONE, chunk
from turnbuckle.testing.modelserver import Response
from turnbuckle.testing.providers import call, providers
from turnbuckle.testing.strategies import soak

IDLE = 0.15
"""Seconds that a provider may be silent in these turns."""


def check(played: Played, folder: Path) -> None:
    """What holds of every session, whatever its provider did."""
    (path,) = folder.glob("state/sessions/**/*.jsonl")
    lines, torn = read_lines(path)
    assert torn == b""
    loaded = read_log(lines)
    assert loaded.damage is None
    entries = list(loaded.entries)
    check_log(entries, Counter())
    assert_pairs(list(project(entries).messages))
    requests = [entry.fact for entry in entries if isinstance(entry.fact, LlmStream)]
    assert [same for _, same in verify(iter(lines))] == [True] * len(requests)
    ends = [entry.fact.end for entry in entries if isinstance(entry.fact, TurnEnd)]
    assert len(ends) == 2
    for end in ends:
        assert end.kind in ("completed", "error", "max-tokens", "stopped")
        assert (end.failure is not None) == (end.kind == "error")
    started = [entry.fact for entry in entries if isinstance(entry.fact, ToolStart)]
    assert len(played.ran) == len(started) == len({fact.call_id for fact in started})
    codec.encode([entry.fact for entry in entries])


async def settled() -> None:
    """No task is left over; what was told to end may take some turns of the loop."""
    while len(asyncio.all_tasks()) > 1:
        await checkpoint()


@settings(max_examples=soak(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(providers())
def test_every_turn_ends_and_its_log_holds(script: list[Response]) -> None:
    async def turns(folder: Path) -> Played:
        with anyio.fail_after(60):
            played = await play(
                script, folder, idle=IDLE, attempts=3, base=0.001, prompts=("go", "and on")
            )
            await settled()
            return played

    with TemporaryDirectory() as folder:
        played = anyio.run(turns, Path(folder))
        check(played, Path(folder))


@pytest.mark.parametrize(
    ("order", "ran"), [((0, 1), [("run", {"cmd": "x"})]), ((1, 0), [])], ids=["right", "swapped"]
)
async def test_one_call_in_two_pieces_is_one_call_in_any_order(
    order: tuple[int, int], ran: list[object], tmp_path: Path
) -> None:
    halves = [call(0, "a", "run", '{"cmd":'), call(0, "a", "run", '"x"}')]
    body = [halves[number] for number in order]
    played = await play([Response(chunks=[*body, chunk(finish="tool_calls"), DONE])], tmp_path)
    assert len(played.first.tool_calls) == 1
    assert played.ran == ran


@pytest.mark.parametrize("name", ["", "no tool/at all", "functions.run", "ü" * 90, "x" * 5_000])
async def test_a_name_that_the_model_made_up_spoils_no_later_request(
    name: str, tmp_path: Path
) -> None:
    body = [call(0, "a", name, "{}"), chunk(finish="tool_calls"), DONE]
    played = await play([Response(chunks=body)], tmp_path)
    assert played.end.end.kind == "completed"
    assert [result.code for result in played.results] == ["UNKNOWN_TOOL"]
    (again,) = sent(played.requests[1])[2]["tool_calls"]
    # What the strictest of them takes for a name.
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", again["function"]["name"])


async def test_an_answer_that_is_too_large_ends_its_turn_and_the_next_one_works(
    tmp_path: Path,
) -> None:
    calls = [call(n, f"c{n}", "run", "{}") for n in range(CALLS_LIMIT + 1)]
    script = [Response(chunks=[chunk({"content": "Now: "}), *calls])]
    played = await play(script, tmp_path, attempts=3, prompts=("go", "and on"))
    failed, completed = played.of(TurnEnd)
    assert failed.end.failure.kind == "protocol"
    assert "sent too much" in failed.end.failure.message
    assert (played.first.content, played.first.interrupted) == ("Now: ", True)
    assert completed.end.kind == "completed"
    assert played.ran == []
