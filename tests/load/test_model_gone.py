"""A model server that is killed in the middle of its answers, and comes back."""

from collections import Counter
from pathlib import Path

import anyio
import pytest

from load.crowd import Member, path_of, require_whole
from load.stage import Begin, Stage, alone, here
from turnbuckle.session.codec import parse
from turnbuckle.session.events import AssistantMessage, LlmFailed, LlmStream
from turnbuckle.session.store import read_lines
from turnbuckle.testing.completions import answer, chunk
from turnbuckle.testing.modelserver import Received, Response

SESSIONS = 20
LIMIT = 60.0
HALF = "half of the answer"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("begin", [here, alone])
async def test_all_that_were_in_mid_stream_when_the_model_was_killed_are_answered_when_it_is_back(
    begin: Begin, tmp_path: Path
) -> None:
    async with begin(tmp_path) as stage:
        members = [await stage.join(number) for number in range(1, SESSIONS + 1)]
        asked: Counter[str] = Counter()

        def first_half(received: Received) -> Response:
            who = received.json["messages"][-1]["content"].split()[0]
            asked[who] += 1
            if asked[who] > 1:
                return answer(f"{who} is back")
            return Response(chunks=[chunk({"content": f"{who} says {HALF}"})], end="hang")

        stage.model.script = [first_half] * 1_000
        async with anyio.create_task_group() as tasks:
            for member in members:
                tasks.start_soon(member.turn, "talk")
            with anyio.fail_after(LIMIT):
                for member in members:
                    await member.until(lambda m=member: m.said)  # type: ignore[misc]
            stage.model.kill()
            await stage.model.listen()
        for member in members:
            require_whole(stage.state, stage.work, member)
            require_said_once(stage, member)


def require_said_once(stage: Stage, member: Member) -> None:
    """Pass if the answer is what came after the failure, and nothing of what came before it."""
    facts = [parse(line).fact for line in read_lines(path_of(stage.state, member))[0]]
    said = [fact.content for fact in facts if isinstance(fact, AssistantMessage)]
    assert said == [f"{member.name} is back"]
    (failed,) = [fact for fact in facts if isinstance(fact, LlmFailed)]
    assert failed.failure.kind == "transport"
    assert [fact.attempt for fact in facts if isinstance(fact, LlmStream)] == [1, 2]


async def test_a_model_that_does_not_come_back_can_be_waited_for_or_cancelled(
    tmp_path: Path,
) -> None:
    async with here(tmp_path) as stage:
        member = await stage.join(1)
        stage.model.kill()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(member.turn, "unanswered")
            await member.until(lambda: "llm/failed" in {v["type"] for v in member.values})
            await member.stop()
        await stage.model.listen()
        await member.turn("talk")
        require_whole(stage.state, stage.work, member)
