"""Whatever is answered, in whatever order and how often: each question is decided once."""

import random
from pathlib import Path

from cases.approving import asking
from turnbuckle.session.events import ApprovalDecided, ToolResult, ToolStart
from turnbuckle.testing.strategies import soak

LINES = ("p1", "p2", "p3")


async def test_the_first_answer_counts_and_each_call_runs_once_at_most(tmp_path: Path) -> None:
    for number in range(soak(15)):
        seed = random.randrange(2**32)
        try:
            await played(tmp_path / str(number), random.Random(seed))
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


async def played(folder: Path, dice: random.Random) -> None:
    """Answer three questions in a random order, some twice, some with nonsense beside them."""
    async with asking(folder, LINES) as it:
        turn = it.server.send(it.session_id, "go")
        ids = await it.questions(len(LINES))
        lines = dict(zip(ids, LINES, strict=True))
        first: dict[str, bool] = {}
        waiting = [*ids]
        while waiting:
            one = dice.choice([*ids, *ids, "0" * 32])
            allow = dice.random() < 0.5
            more = {"remember": "session"} if allow and dice.random() < 0.3 else {}
            accepted = await it.answer(one, allow=allow, **more)
            assert accepted is (one in waiting), (one, first)
            if one in waiting:
                waiting.remove(one)
                first[one] = allow
        await it.server.answer(turn)
        assert sorted(it.ran) == sorted(lines[one] for one, allow in first.items() if allow)
        decided = it.facts(ApprovalDecided)
        assert {fact.approval_id: fact.outcome == "allowed" for fact in decided} == first
        assert len(decided) == len(it.facts(ToolResult)) == len(LINES)
        assert len(it.facts(ToolStart)) == len(it.ran)
        assert it.pending == []
