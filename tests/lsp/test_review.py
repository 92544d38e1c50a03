"""What there is to review: states and places in the current text, decisions, and undoing."""

from pathlib import Path

import pytest

from turnbuckle.lsp import names
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.reviewed import NEW, OLD, reviewed
from turnbuckle.testing.scripted import say


async def test_a_proposed_change_is_listed_with_its_hunks_where_they_stand(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        found = await r.server.client.request(names.REVIEW_LIST, {})
        (change,) = found.changes
        (file,) = change.files
        assert (file.uri, file.kind) == (r.uri, "modify")
        assert change.approval_id == r.server.facts("approval/asked")[0]["approvalId"]
        assert change.session_id == r.session_id
        assert [(h.state, h.old_text, h.new_text) for h in file.hunks] == [
            ("open", "line 2\n", "two\n"),
            ("open", "", "added\n"),
            ("open", "line 14\n", ""),
        ]
        assert await r.marked() == ["line 2", "", "line 14"]


async def test_hunks_move_with_what_is_typed_and_a_change_inside_makes_one_stale(
    tmp_path: Path,
) -> None:
    async with reviewed(tmp_path) as r:
        r.server.editor.type(r.uri, 0, 0, "# first\n# second\n")
        assert await r.states() == ["open"] * 3
        assert await r.marked() == ["line 2", "", "line 14"]
        at = r.text.index("line 14") + 2
        r.server.editor.type(r.uri, at, at + 1, "N")
        assert await r.states() == ["open", "open", "stale"]
        ids = await r.hunk_ids()
        assert await r.resolve(**{f"_{ids[2]}": "accept"}) == ["stale"]
        r.server.editor.type(r.uri, at, at + 1, "n")
        assert await r.states() == ["open"] * 3


async def test_what_was_deleted_and_came_back_is_open_again(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        start, end = r.text.index("ne 1\n"), r.text.index("ne 4\n")
        gone = r.text[start:end]
        r.server.editor.type(r.uri, start, end, "")
        assert await r.states() == ["stale", "open", "open"]
        r.server.editor.type(r.uri, start, start, gone)
        assert await r.states() == ["open"] * 3
        assert await r.marked() == ["line 2", "", "line 14"]
        await r.resolve(**{f"_{(await r.hunk_ids())[0]}": "accept"})
        await r.until_text(OLD.replace("line 2\n", "two\n"))


async def test_each_hunk_is_decided_once_and_applied_as_its_own_edit(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        first, second, third = await r.hunk_ids()
        assert await r.resolve(**{f"_{third}": "accept"}) == ["accepted"]
        await r.until_text(OLD.replace("line 14\n", ""))
        assert await r.states() == ["open", "open", "accepted"]
        assert await r.resolve(**{f"_{third}": "reject"}) == ["settled"]
        assert await r.resolve(**{f"_{first}": "reject", f"_{second}": "accept"}) == [
            "rejected",
            "accepted",
        ]
        result = await r.result()
        assert result["meta"]["hunks"] == {"accepted": 2, "rejected": 1}
        assert r.text == NEW.replace("two\n", "line 2\n")
        assert await r.states() == ["rejected", "accepted", "accepted"]
        assert (await r.server.client.request(names.REVIEW_LIST, {})).changes == ()
        listed = await r.server.client.request(names.REVIEW_LIST, {"sessionId": r.session_id})
        assert listed.changes[0].approval_id is None


async def test_what_is_accepted_together_is_one_edit(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        ids = await r.hunk_ids()
        assert await r.resolve(**{f"_{i}": "accept" for i in ids}) == ["accepted"] * 3
        await r.result()
        assert r.text == NEW
        (edit,) = r.server.editor.screen.of("workspace/applyEdit")
        assert len(edit["edit"]["documentChanges"][0]["edits"]) == 3


async def test_an_unknown_hunk_is_said_to_be_unknown(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        assert await r.resolve(_nope="accept", _nope2="undo") == ["unknown", "unknown"]


async def test_an_applied_hunk_is_taken_back_where_it_stands_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    more = (say("done"), say("I see"))
    async with reviewed(tmp_path, OLD, NEW, *more) as r:
        ids = await r.hunk_ids()
        await r.resolve(**{f"_{i}": "accept" for i in ids})
        await r.result()
        r.server.editor.type(r.uri, 0, 0, "# mine\n")
        for hunk_id, new, old in (
            (ids[1], "line 8\nadded\n", "line 8\n"),
            (ids[2], "line 13\n", "line 13\nline 14\n"),
            (ids[0], "two\n", "line 2\n"),
        ):
            wanted = r.text.replace(new, old)
            assert await r.resolve(**{f"_{hunk_id}": "undo"}) == ["undone"]
            await r.until_text(wanted)
            await r.server.fact("edit/undone", len(r.undone()) or 1)
        await r.server.fact("edit/undone", 3)
        assert r.text == "# mine\n" + OLD
        assert [(u.hunks, u.by) for u in r.undone()] == [
            ((i,), "person") for i in (ids[1], ids[2], ids[0])
        ]
        assert await r.states() == ["undone"] * 3
        assert await r.resolve(**{f"_{ids[0]}": "undo"}) == ["settled"]
        await r.server.turn(r.session_id, "and now?")
        said = [m.content for m in r.model.requests[-1].messages if isinstance(m, UserMessage)]
        assert any("The person undid your change of a.py" in text for text in said)
        assert any("'two\\n' reads 'line 2\\n' again" in text for text in said)


async def test_a_hunk_is_not_taken_back_where_its_text_was_changed(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        ids = await r.hunk_ids()
        await r.resolve(**{f"_{i}": "accept" for i in ids})
        await r.result()
        at = r.text.index("two")
        r.server.editor.type(r.uri, at, at + 3, "three")
        text = r.text
        await r.resolve(**{f"_{ids[0]}": "undo"})
        screen = r.server.editor.screen
        await screen.until(lambda: [m for m in screen.messages if "was not undone" in m])
        assert r.text == text
        assert r.undone() == []


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_the_persons_own_undo_of_one_hunk_is_noticed_once(tmp_path: Path, which: int) -> None:
    async with reviewed(tmp_path) as r:
        ids = await r.hunk_ids()
        for hunk_id in ids:
            await r.resolve(**{f"_{hunk_id}": "accept"})
            await r.server.fact("edit/applied", ids.index(hunk_id) + 1)
        await r.result()
        old, new = [("line 2\n", "two\n"), ("", "added\n"), ("line 14\n", "")][which]
        at = r.text.index(new) if new else r.text.index("line 15")
        r.server.editor.type(r.uri, at, at + len(new), old)
        fact = await r.server.fact("edit/undone")
        assert (fact["hunks"], fact["by"]) == ([ids[which]], "person")
        r.server.editor.type(r.uri, 0, 0, "# more\n")
        states = await r.states()
        assert states[which] == "undone"
        assert len(r.undone()) == 1


async def test_the_persons_undo_of_all_hunks_in_one_is_noticed(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        ids = await r.hunk_ids()
        await r.resolve(**{f"_{i}": "accept" for i in ids})
        await r.result()
        start, end = NEW.index("two"), NEW.index("line 15")
        r.server.editor.type(r.uri, start, end, OLD[OLD.index("line 2") : OLD.index("line 15")])
        assert r.text == OLD
        fact = await r.server.fact("edit/undone")
        assert fact["hunks"] == ids


async def test_typing_over_an_applied_hunk_is_no_undo(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        ids = await r.hunk_ids()
        await r.resolve(**{f"_{i}": "accept" for i in ids})
        await r.result()
        at = r.text.index("two")
        r.server.editor.type(r.uri, at, at + 3, "line 22")
        assert await r.states() == ["accepted"] * 3
        assert r.undone() == []


async def test_a_file_that_is_not_open_is_listed_as_it_is_on_disk(tmp_path: Path) -> None:
    async with reviewed(tmp_path, opened=False) as r:
        path = r.server.work / "a.py"
        path.write_text("# new\n" + OLD)
        hunks = await r.listed()
        assert [h["range"]["start"]["line"] for h in hunks] == [3, 10, 15]
        assert await r.resolve(**{f"_{h['hunkId']}": "reject" for h in hunks}) == ["rejected"] * 3


async def test_a_file_that_is_opened_later_is_followed_from_then_on(tmp_path: Path) -> None:
    async with reviewed(tmp_path, opened=False) as r:
        r.server.editor.open(r.uri, "# unsaved\n" + OLD)
        assert await r.marked() == ["line 2", "", "line 14"]
        r.server.editor.type(r.uri, 0, 0, "# more\n")
        assert await r.marked() == ["line 2", "", "line 14"]


async def test_a_change_whose_turn_is_cancelled_is_open_no_longer(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        await r.server.client.request(names.CANCEL, {"sessionId": r.session_id})
        await r.server.answer(r.turn)
        assert await r.states() == ["rejected"] * 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_line_ends_and_wide_characters_stay_where_one_of_three_hunks_is_accepted(
    tmp_path: Path, encoding: str
) -> None:
    old = OLD.replace("\n", "\r\n").replace("line 3", "l\N{GRINNING FACE}ne 3")
    new = NEW.replace("line 3", "l\N{GRINNING FACE}ne 3")
    async with reviewed(tmp_path, old, new, encoding=encoding) as r:
        ids = await r.hunk_ids()
        at = r.text.index("ne 3")
        r.server.editor.type(r.uri, at, at, "\N{GRINNING FACE}")
        assert await r.states() == ["open"] * 3
        await r.resolve(**{f"_{ids[1]}": "accept"})
        typed = old.replace("ne 3", "\N{GRINNING FACE}ne 3")
        await r.until_text(typed.replace("line 8\r\n", "line 8\r\nadded\r\n"))
        await r.resolve(**{f"_{ids[0]}": "reject", f"_{ids[2]}": "reject"})
        await r.result()
        assert await r.states() == ["rejected", "accepted", "rejected"]
        await r.resolve(**{f"_{ids[1]}": "undo"})
        await r.until_text(typed)
        await r.server.fact("edit/undone")
        assert await r.states() == ["rejected", "undone", "rejected"]


async def test_the_persons_text_is_what_is_applied_and_the_model_reads_the_difference(
    tmp_path: Path,
) -> None:
    async with reviewed(tmp_path) as r:
        approval_id = r.server.facts("approval/asked")[0]["approvalId"]
        theirs = NEW.replace("two\n", "zwei\n")
        r.server.editor.type(r.uri, 0, 0, "# typed\n")
        assert await r.server.approve(approval_id, decision="allow", edits={r.uri: theirs})
        result = await r.result()
        assert r.text == "# typed\n" + theirs
        assert "-two\n+zwei\n" in result["content"]
        assert await r.states() == ["accepted"] * 3


async def test_what_is_undone_in_a_turn_is_told_with_its_next_step(tmp_path: Path) -> None:
    more = (say("", ("3", "read_file", {"path": "a.py"})), say("done"))
    async with reviewed(tmp_path, OLD, NEW, *more) as r:
        first, second, third = await r.hunk_ids()
        await r.resolve(**{f"_{first}": "accept"})
        await r.server.fact("edit/applied")
        at = r.text.index("two")
        r.server.editor.type(r.uri, at, at + 3, "line 2")
        await r.server.fact("edit/undone")
        await r.resolve(**{f"_{second}": "reject", f"_{third}": "reject"})
        await r.result()
        said = [m.content for m in r.model.requests[2].messages if isinstance(m, UserMessage)]
        assert any("The person undid your change" in text for text in said)
