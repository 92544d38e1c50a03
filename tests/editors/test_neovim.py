"""What Neovim does beyond the scenarios of every editor: prompts, and a plugin's own requests."""

from pathlib import Path

import pytest

from editors.driving import NEOVIM, drive, edit, read, run, workspace
from turnbuckle.testing.completions import answer, chunk
from turnbuckle.testing.modelserver import Received, Response

TWO_PLACES = "def f():\n    return 1/0\n\n\n\n\ndef g():\n    return 2/0\n"
MEND = edit(("1/0", "1"), ("2/0", "2"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that the editor works in."""
    return workspace(tmp_path, TWO_PLACES)


async def test_a_prompt_that_is_dismissed_is_a_no(work: Path) -> None:
    ran = await drive(NEOVIM, "dismiss", work, read(), MEND, answer("As you like."))
    assert "the person said no" in ran.told(2)
    assert [one["outcome"] for one in ran.facts("approval/decided")] == ["rejected"]


async def test_a_turn_of_a_plugin_is_cancelled_as_its_request_is(work: Path) -> None:
    endless = Response(chunks=(chunk({"content": "Words without"}),), end="hang")

    def play(request: Received) -> Response:
        return (
            answer("Short.") if request.json["messages"][-1]["content"] == "Be short" else endless
        )

    ran = await drive(NEOVIM, "request", work, play, play)
    assert ran.requests[0].closed.is_set()
    assert [end["end"]["kind"] for end in ran.facts("turn/end")] == ["aborted", "completed"]


async def test_a_client_that_shows_events_answers_an_approval_by_a_request(work: Path) -> None:
    ran = await drive(NEOVIM, "events", work, run("echo ran > ran"), answer("It ran."))
    assert [one["by"] for one in ran.facts("approval/decided")] == ["client"]


async def test_places_are_reviewed_where_they_stand_and_undo_is_noticed(work: Path) -> None:
    ran = await drive(NEOVIM, "review", work, read(), MEND, answer("I see."))
    told = [message["content"] for message in ran.requests[-1].json["messages"][-2:]]
    assert "in 1 of 2 places" in told[0]
    assert told[1].startswith("The person undid your change of code.py in a place:")
    assert [one["by"] for one in ran.facts("edit/undone")] == ["person"]
