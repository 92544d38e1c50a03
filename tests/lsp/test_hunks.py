"""The commands about hunks: what they do with ids, without any, and with those that are gone."""

from pathlib import Path

import pytest

from turnbuckle.lsp import names
from turnbuckle.testing.reviewed import NEW, OLD, reviewed

ONE = OLD.replace("line 2\n", "two\n")

DECIDING = [
    names.ACCEPT_HUNK_COMMAND,
    names.REJECT_HUNK_COMMAND,
    names.ACCEPT_FILE_COMMAND,
    names.REJECT_FILE_COMMAND,
    names.ACCEPT_ALL_COMMAND,
]


@pytest.mark.parametrize("command", DECIDING)
async def test_without_an_id_it_acts_on_the_only_candidate(tmp_path: Path, command: str) -> None:
    async with reviewed(tmp_path, OLD, ONE) as r:
        accept = "accept" in command
        assert await r.run(command) == ("accepted" if accept else "rejected")
        await r.result()
        assert r.text == (ONE if accept else OLD)
        assert await r.run(command) == "nothing"


async def test_without_an_id_it_does_nothing_where_there_are_several(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        assert await r.run(names.ACCEPT_HUNK_COMMAND) == "ambiguous"
        assert r.server.editor.screen.messages == ["Turnbuckle: 3 places are there; name one"]
        assert await r.states() == ["open"] * 3


async def test_a_file_and_everything_are_accepted_in_one_edit(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        first = (await r.hunk_ids())[0]
        assert await r.run(names.REJECT_HUNK_COMMAND, hunkId=first, note="keep it") == "rejected"
        assert await r.run(names.ACCEPT_FILE_COMMAND, uri=r.uri) == "accepted"
        result = await r.result()
        assert len(r.server.editor.screen.of("workspace/applyEdit")) == 1
        assert "The person's note: keep it" in result["content"]
        assert r.text == NEW.replace("two\n", "line 2\n")


async def test_what_is_stale_stays_open_when_the_rest_is_accepted(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        at = r.text.index("line 2")
        r.server.editor.type(r.uri, at, at + 4, "LINE")
        assert await r.run(names.ACCEPT_ALL_COMMAND) == "accepted"
        assert "2 accepted; of the rest: the text was changed" in r.server.editor.screen.messages[0]
        await r.until_text(NEW.replace("two\n", "LINE 2\n"))
        assert await r.states() == ["stale", "accepted", "accepted"]
        assert await r.run(names.REJECT_HUNK_COMMAND) == "rejected"
        await r.result()


async def test_the_only_applied_hunk_is_undone(tmp_path: Path) -> None:
    async with reviewed(tmp_path, OLD, ONE) as r:
        assert await r.run(names.UNDO_HUNK_COMMAND) == "nothing"
        await r.run(names.ACCEPT_ALL_COMMAND)
        await r.result()
        assert await r.run(names.UNDO_HUNK_COMMAND) == "undone"
        await r.until_text(OLD)
        await r.server.fact("edit/undone")
        assert len(r.undone()) == 1


async def test_an_id_that_is_gone_is_an_outcome_and_no_error(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        for command in (names.ACCEPT_HUNK_COMMAND, names.UNDO_HUNK_COMMAND):
            assert await r.run(command, hunkId="gone") == "unknown"
        assert await r.run(names.SHOW_DIFF_COMMAND, changeId="gone") == "nothing"
        assert await r.run(names.ACCEPT_FILE_COMMAND, uri="file:///other") == "nothing"


async def test_a_command_returns_before_anything_is_applied(tmp_path: Path) -> None:
    """An editor that runs commands synchronously cannot answer until its command has."""
    async with reviewed(tmp_path) as r:
        held = r.server.editor.documents
        before = r.text
        first = (await r.hunk_ids())[0]
        assert await r.run(names.ACCEPT_HUNK_COMMAND, hunkId=first) == "accepted"
        assert held[r.uri].text == before
        await r.until_text(ONE)


async def test_hunks_of_a_closed_file_are_applied_and_undone_on_disk(tmp_path: Path) -> None:
    async with reviewed(tmp_path, OLD, ONE, opened=False) as r:
        assert await r.run(names.ACCEPT_HUNK_COMMAND) == "accepted"
        await r.result()
        path = r.server.work / "a.py"
        assert path.read_text() == ONE
        assert await r.run(names.UNDO_HUNK_COMMAND) == "undone"
        await r.server.fact("edit/undone")
        assert path.read_text() == OLD


async def test_the_diff_of_the_only_change_is_shown(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        assert await r.run(names.SHOW_DIFF_COMMAND) == "shown"
        screen = r.server.editor.screen
        shown = await screen.until(lambda: screen.of("window/showDocument"))
        assert shown[0]["uri"].startswith("file:")
        assert shown[0]["uri"].endswith(".diff")
