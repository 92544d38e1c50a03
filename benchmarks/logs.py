"""Long logs of two shapes: one in which much was said, one in which much was done."""

from collections.abc import Callable, Iterator
from pathlib import Path

from turnbuckle.session import codec
from turnbuckle.session.events import (
    FORMAT,
    AssistantChunk,
    AssistantMessage,
    ContextSummary,
    Fact,
    InboxAdded,
    LlmStream,
    RequestHeader,
    SessionCreated,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import Call, End, Usage

FACTS = 20_000
TURN = 164
"""Facts of a turn in `done`."""
WORDS = "and then it says what it has found in the files that it has read "
TEXT = "    def answer(self, question: str) -> int:\n        return 42\n\n" * 60
USAGE = Usage(input=4000, output=300, total=4300)


def said(facts: int = FACTS) -> Iterator[Fact]:
    """Turns of one step in which a long answer streams, until there are so many facts."""
    turn = 0
    count = 1
    while count < facts:
        turn += 1
        chunks = [AssistantChunk(turn=turn, step=1, text=WORDS) for _ in range(60)]
        answer = AssistantMessage(turn=turn, step=1, content=WORDS * 60, finish="stop", usage=USAGE)
        steps = [*_asked(turn, 1), *chunks, answer, StepEnd(turn=turn, step=1, tool_calls=0)]
        made = [*_begun(turn), *steps, TurnEnd(turn=turn, end=End(kind="completed"))]
        count += len(made)
        yield from made


def done(facts: int = FACTS) -> Iterator[Fact]:
    """Turns of twenty steps, each of which reads a file, until there are so many facts."""
    turn = 0
    count = 1
    while count < facts:
        turn += 1
        made = list(_begun(turn))
        for step in range(1, 21):
            made += _read(turn, step)
        made.append(TurnEnd(turn=turn, end=End(kind="completed")))
        count += len(made)
        yield from made


SHAPES: dict[str, Callable[[], Iterator[Fact]]] = {"said": said, "done": done}


def _begun(turn: int) -> Iterator[Fact]:
    key = f"k{turn}"
    yield InboxAdded(key=key, target="turn", input="Look into it.")
    yield TurnStart(turn=turn)


def _asked(turn: int, step: int) -> Iterator[Fact]:
    yield StepStart(turn=turn, step=step)
    if step == 1:
        yield UserMessage(turn=turn, step=1, key=f"k{turn}", content="Look into it.")
    if turn == step == 1:
        yield RequestHeader(config={}, system="You read files.", tools=(), why="initial")
    yield LlmStream(turn=turn, step=step, attempt=1, model="m", window=128_000, digest="0" * 64)


def _read(turn: int, step: int) -> Iterator[Fact]:
    call_id = f"c{turn}-{step}"
    arguments = f'{{"path": "src/file_{step}.py"}}'
    call = Call(call_id=call_id, name="read_file", arguments=arguments)
    yield from _asked(turn, step)
    yield AssistantChunk(turn=turn, step=step, text=WORDS)
    yield AssistantMessage(
        turn=turn, step=step, content=WORDS, tool_calls=(call,), finish="tool_calls", usage=USAGE
    )
    yield ToolCall(turn=turn, step=step, call_id=call_id, name="read_file", arguments=arguments)
    yield ToolStart(call_id=call_id, attempt=1)
    read = {"uri": f"file:///work/src/file_{step}.py", "digest": "0" * 64}
    yield ToolResult(
        turn=turn, step=step, call_id=call_id, content=TEXT, is_error=False, meta={"read": read}
    )
    yield StepEnd(turn=turn, step=step, tool_calls=1)


def summed_up(facts: list[Fact]) -> list[Fact]:
    """The same, and a summary that stands for all of it but the last turn."""
    begun = max(i for i, fact in enumerate(facts) if isinstance(fact, TurnStart))
    return [*facts, ContextSummary(covers=(0, begun), text="It was looked into.")]


def write(state: Path, session_id: str, facts: list[Fact]) -> Path:
    """The log of a session in a state folder."""
    path = state / "sessions" / "2026-01" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = [SessionCreated(version=FORMAT, id=session_id), *facts]
    with path.open("wb") as file:
        for seq, fact in enumerate(whole):
            file.write(codec.line(seq, 1_700_000_000_000 + seq, fact, codec.encode_fact(fact)))
    return path
