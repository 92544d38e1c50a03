"""A stored session played on a real terminal."""

import os
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

from turnbuckle.session.codec import encode_fact, line
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    Fact,
    LlmStream,
    SessionCreated,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import End
from turnbuckle.testing.terminal import ENVIRONMENT, Terminal

FACTS: list[tuple[int, Fact]] = [
    (0, SessionCreated(version=1, id="s-1")),
    (0, TurnStart(turn=1)),
    (0, UserMessage(turn=1, step=1, key="k", content="Say hello.")),
    (0, LlmStream(turn=1, step=1, attempt=1, model="m", digest="d")),
    (9, AssistantChunk(turn=1, step=1, text="Hel")),
    (9, AssistantChunk(turn=1, step=1, text="lo.")),
    (9, AssistantMessage(turn=1, step=1, content="Hello.", finish="stop")),
    (9, TurnEnd(turn=1, end=End(kind="completed"))),
]


def replay(state: Path, *arguments: str) -> Terminal:
    (state / "sessions").mkdir(parents=True)
    (state / "sessions" / "s-1.jsonl").write_bytes(
        b"".join(line(n, at * 1000, fact, encode_fact(fact)) for n, (at, fact) in enumerate(FACTS))
    )
    argv = (sys.executable, "-m", "turnbuckle", "sessions", "replay", "s-1", *arguments)
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "TURNBUCKLE_STATE_DIR": str(state)}
    return Terminal(argv, env={**ENVIRONMENT, **env})


def test_what_went_on_shows_while_it_is_played_and_ctrl_c_leaves(tmp_path: Path) -> None:
    with replay(tmp_path, "--speed", "0.01") as terminal:
        terminal.until("Say hello.")
        terminal.until("asking m")
        terminal.send("\x03")
        assert terminal.end() == 130
        assert b"server" not in terminal.raw


def test_it_is_played_to_its_end(tmp_path: Path) -> None:
    with replay(tmp_path, "--speed", "1000") as terminal:
        terminal.until("Hello.")
        assert terminal.end() == 0
