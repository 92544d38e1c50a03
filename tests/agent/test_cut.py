"""An answer that was cut off runs no call, and the turn says what cut it."""

from pathlib import Path
from typing import Any

import pytest

from turnbuckle.session.events import ToolCall
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go


async def never(_: dict[str, Any], __: Go) -> str:
    raise AssertionError("it ran")


@pytest.mark.parametrize(
    ("finish", "end"),
    [
        ("length", "max-tokens"),
        ("model_length", "max-tokens"),
        ("MAX_TOKENS", "max-tokens"),
        ("content_filter", "stopped (the provider's content filter cut the answer)"),
        ("content_filter: SAFETY", "stopped (the provider's content filter cut the answer)"),
        ("truncated", "stopped (the answer broke off without an end)"),
    ],
)
async def test_a_cut_answer_runs_nothing_and_the_end_says_why(
    tmp_path: Path, finish: str, end: str
) -> None:
    half = say("half", ("1", "write", {}), finish=finish)
    async with driven(Scripted([half]), tmp_path, tools=[tool("write", never)]) as session:
        await session.say("go")
    assert transcript(session.entries) == f"user      go\nassistant half\nend       {end}\n"
    assert not [fact for fact in session.facts if isinstance(fact, ToolCall)]


async def test_an_unknown_finish_is_an_answer_like_any_other(tmp_path: Path) -> None:
    async def run(_: dict[str, Any], __: Go) -> str:
        return "ran"

    replies = [say("", ("1", "look", {}), finish="tool_use"), say("done", finish="eos")]
    async with driven(Scripted(replies), tmp_path, tools=[tool("look", run)]) as session:
        await session.say("go")
    assert transcript(session.entries).endswith(
        "  result  1 ran\nassistant done\nend       completed\n"
    )
