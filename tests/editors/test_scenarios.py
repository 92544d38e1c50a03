"""The server in real editors: each goes through each scenario, with the configuration to copy."""

from pathlib import Path

import pytest

from editors.driving import EGLOT, LSP_MODE, NEOVIM, Client, drive, edit, read, run, workspace
from turnbuckle.testing.completions import answer, chunk
from turnbuckle.testing.modelserver import Received, Response

GAP = "\n\n\n\n"
CODE = f"def f():\n    return 1/0\n{GAP}def g():\n    return 2/0\n{GAP}def h():\n    return 3/0\n"
"""Three places to mend, in lines 2, 8 and 14, so far apart that each is decided by itself."""

MEND = edit(("1/0", "1"), ("2/0", "2"), ("3/0", "3"))
SAID = answer("So be it.")

ODD = "\ufeffone 😀\r\nold 測試\r\n\r\nthree\r\n".encode()
"""A byte order mark, CRLF, and characters of two, three and four bytes."""


@pytest.fixture(params=[NEOVIM, EGLOT, LSP_MODE], ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    """One editor after another."""
    assert isinstance(request.param, Client)
    return request.param


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that the editor works in."""
    return workspace(tmp_path, CODE)


async def test_a_code_action_asks_streams_progress_and_shows_the_answer(
    client: Client, work: Path
) -> None:
    look = answer("", ("1", "list_files", {}))
    ran = await drive(client, "ask", work, look, answer("It divides by zero."))
    shown = [message["content"] for message in ran.requests[0].json["messages"]]
    assert any("code.py, line 2" in content for content in shown)


async def test_an_edit_is_shown_allowed_made_as_one_undo_step_and_saved_by_the_person(
    client: Client, work: Path
) -> None:
    ran = await drive(client, "approve", work, read(), MEND, SAID)
    assert "typed, not saved" in ran.told(1)
    assert ran.told(2).startswith("Changed code.py in 3 places")
    assert ran.edits == ["applied"]
    assert [(one["outcome"], one["by"]) for one in ran.facts("approval/decided")] == [
        ("allowed", "prompt")
    ]


async def test_a_prompt_that_was_left_is_answered_by_a_command(client: Client, work: Path) -> None:
    ran = await drive(client, "command", work, run("echo ran > ran"), SAID)
    assert [(one["outcome"], one["by"]) for one in ran.facts("approval/decided")] == [
        ("allowed", "command")
    ]


async def test_an_edit_that_is_rejected_changes_nothing(client: Client, work: Path) -> None:
    again = edit(("1/0", "7"))
    ran = await drive(client, "refuse", work, read(), MEND, SAID, again, SAID)
    assert [one["outcome"] for one in ran.facts("approval/decided")] == ["rejected"] * 2
    for request in (2, 4):
        assert "the person said no" in ran.told(request)
    assert ran.facts("edit/applying") == []
    assert (work / "code.py").read_text() == CODE


async def test_a_turn_is_cancelled_by_command_by_its_progress_and_while_it_asks(
    client: Client, work: Path
) -> None:
    endless = Response(chunks=(chunk({"content": "Words without"}),), end="hang")
    asks = answer("", ("1", "run_command", {"command": "echo ran > ran"}))
    answers = {"Talk": endless, "Mend it": asks, "Be short": answer("Short.")}

    def play(request: Received) -> Response:
        # What was cancelled before the model said a word stands in one message with what follows.
        said = str(request.json["messages"][-1]["content"])
        last = max(answers, key=said.rfind)
        return answers[last]

    ran = await drive(client, "cancel", work, *[play] * 4)
    assert [end["end"]["kind"] for end in ran.facts("turn/end")] == ["aborted"] * 3 + ["completed"]
    assert [one["outcome"] for one in ran.facts("approval/decided")] == ["cancelled"]
    assert not (work / "ran").exists()


async def test_one_place_of_three_is_accepted_where_it_stands(client: Client, work: Path) -> None:
    ran = await drive(client, "hunks", work, read(), MEND, SAID)
    assert "in 1 of 3 places" in ran.told(2)
    assert ran.edits == ["applied"]
    assert (work / "code.py").read_text() == CODE


async def test_what_was_applied_is_undone_and_the_model_is_told(client: Client, work: Path) -> None:
    ran = await drive(client, "undo", work, read(), MEND, SAID, SAID)
    assert ran.edits == ["applied"] * 3
    assert [one["by"] for one in ran.facts("edit/undone")] == ["person"] * 3
    told = "\n".join(str(message["content"]) for message in ran.requests[-1].json["messages"])
    assert told.count("The person undid your change of code.py in a place") == 3


async def test_a_place_that_the_person_types_in_is_stale_until_that_is_undone(
    client: Client, work: Path
) -> None:
    ran = await drive(client, "stale", work, read(), MEND, SAID)
    assert ran.edits == ["applied"] * 2
    assert "in 2 of 3 places" in ran.told(2)


async def test_what_is_typed_while_an_edit_is_allowed_stays_and_the_edit_is_made(
    client: Client, work: Path
) -> None:
    ran = await drive(client, "typing", work, read(), edit(("1/0", "1")), SAID)
    assert ran.edits == ["applied"]
    assert ran.told(2).startswith("Changed code.py in 1 place")


async def test_a_file_that_is_not_open_is_edited_on_disk_to_the_byte(
    client: Client, work: Path
) -> None:
    (work / "other.txt").write_bytes(ODD)
    mend = edit(("old", "new 🦀\nline"), path="other.txt")
    ran = await drive(client, "closed", work, read("other.txt"), mend, SAID)
    assert ran.edits == ["applied"]
    assert (work / "other.txt").read_bytes() == ODD.replace(b"old", "new 🦀\r\nline".encode())


async def test_the_agent_sees_what_is_not_saved_and_hears_that_a_command_does_not(
    client: Client, work: Path
) -> None:
    ran = await drive(client, "unsaved", work, read(), run("wc -l code.py"), SAID)
    assert "typed, not saved" in ran.told(1)
    assert "[not saved in the editor, so not seen by the command: code.py]" in ran.told(2)
    assert (work / "code.py").read_text() == CODE


async def test_an_open_file_keeps_its_mark_line_ends_and_emoji_to_the_byte(
    client: Client, work: Path
) -> None:
    (work / "code.py").write_bytes(ODD)
    mend = edit(("old", "new 🦀\nline"))
    ran = await drive(client, "bytes", work, read(), mend, SAID)
    assert ran.edits == ["applied"]
    assert (work / "code.py").read_bytes() == ODD.replace(b"old", "new 🦀\r\nline".encode())
