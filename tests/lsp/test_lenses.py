"""Lenses, hints, hovers and quick fixes: a proposed change where it stands."""

from pathlib import Path
from typing import Any

from turnbuckle.lsp import names
from turnbuckle.lsp.review.marking import fenced, marked
from turnbuckle.testing.reviewed import NEW, OLD, reviewed
from turnbuckle.workspace.changes import Hunk, Span

# Any: values on the wire are JSON.
Json = dict[str, Any]

LITERALS: Json = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "codeLens": {"refreshSupport": True},
    },
    "window": {"showDocument": {"support": True}},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}
        }
    },
}


def titles(lenses: list[Json]) -> list[tuple[int, str]]:
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses]


async def test_each_hunk_has_its_lenses_and_they_can_be_run_as_they_stand(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        lenses = await r.lenses()
        assert titles(lenses) == [
            (2, "+1 −1 Accept"), (2, "Reject"), (2, "Diff"),
            (9, "+1 −0 Accept"), (9, "Reject"), (9, "Diff"),
            (14, "+0 −1 Accept"), (14, "Reject"), (14, "Diff"),
        ]  # fmt: skip
        for lens in (lenses[0], lenses[4], lenses[8]):
            command = lens["command"]
            await r.server.editor.execute(command["command"], *command["arguments"])
        await r.until_text(OLD.replace("line 2\n", "two\n"))
        assert titles(await r.lenses()) == [
            (14, "+0 −1 Accept"), (14, "Reject"), (14, "Diff"),
        ]  # fmt: skip
        await r.run(names.REJECT_HUNK_COMMAND)
        await r.result()
        assert await r.lenses() == []


async def test_a_stale_hunk_can_only_be_rejected(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as r:
        at = r.text.index("line 2")
        r.server.editor.type(r.uri, at, at + 4, "LINE")
        lenses = titles(await r.lenses())
        assert lenses[:2] == [(2, "+1 −1 (text changed since) Reject"), (2, "Diff")]
        hint = await r.server.editor.screen.until(
            lambda: next((h for h in r.hints() if "changed since" in h["message"]), None)
        )
        assert hint["message"] == "+1 −1: the text was changed since"


async def test_a_file_with_many_hunks_has_lenses_of_its_own_only(tmp_path: Path) -> None:
    old = "".join(f"{n}\nsame {n}\n" for n in range(201))
    new = "".join(f"{n}!\nsame {n}\n" for n in range(201))
    async with reviewed(tmp_path, old, new) as r:
        lenses = await r.lenses()
        assert titles(lenses) == [
            (0, "+201 −201 in 201 places Accept file"), (0, "Reject file"), (0, "Diff"),
        ]  # fmt: skip
        hints = await r.server.editor.screen.until(r.hints)
        assert [h["message"] for h in hints] == ["+201 −201 in 201 places, proposed"]
        command = lenses[0]["command"]
        await r.server.editor.execute(command["command"], *command["arguments"])
        await r.result()
        assert r.text == new
        assert len(r.server.editor.screen.of("workspace/applyEdit")) == 1


async def test_hints_are_short_lines_and_go_away(tmp_path: Path) -> None:
    new = NEW.replace("two\n", "    " + "x" * 100 + "\n")
    async with reviewed(tmp_path, OLD, new) as r:
        hints = await r.server.editor.screen.until(r.hints)
        assert [h["severity"] for h in hints] == [3] * 3
        assert [h["source"] for h in hints] == ["turnbuckle"] * 3
        assert [len(h["message"]) <= 60 for h in hints] == [True] * 3
        assert hints[0]["message"].startswith("+1 −1: xxx")
        assert hints[1]["message"] == "+1 −0: added"
        assert hints[2]["message"] == "+0 −1: removed"
        ranges = [(h["range"]["start"]["line"], h["range"]["end"]["character"]) for h in hints]
        assert ranges == [(2, 6), (9, 6), (14, 7)]
        r.server.editor.type(r.uri, 0, 0, "\n")
        await r.server.editor.screen.until(lambda: r.hints()[0]["range"]["start"]["line"] == 3)
        r.server.editor.documents.close(r.uri)
        await r.server.editor.screen.until(lambda: r.hints() == [])
        r.server.editor.open(r.uri, "\n" + OLD)
        await r.server.editor.screen.until(lambda: len(r.hints()) == 3)
        await r.run(names.REJECT_FILE_COMMAND)
        await r.result()
        await r.server.editor.screen.until(lambda: r.hints() == [])


async def test_lenses_are_refreshed_when_something_is_decided_and_not_for_typing(
    tmp_path: Path,
) -> None:
    async with reviewed(tmp_path, capabilities=LITERALS) as r:
        screen = r.server.editor.screen

        def refreshed() -> int:
            return len(screen.of("workspace/codeLens/refresh"))

        await screen.until(refreshed)
        first = refreshed()
        r.server.editor.type(r.uri, 0, 0, "typed\n")
        await r.lenses()
        assert refreshed() == first
        await r.run(names.ACCEPT_HUNK_COMMAND, hunkId=(await r.hunk_ids())[0])
        await screen.until(lambda: refreshed() > first)


async def test_a_hover_shows_the_diff_and_nothing_to_click(tmp_path: Path) -> None:
    async with reviewed(tmp_path, OLD, NEW.replace("two\n", "``` [x](command:evil)\n")) as r:

        async def hover(line: int) -> Json | None:
            position = {"line": line, "character": 2}
            params = {"textDocument": {"uri": r.uri}, "position": position}
            found: Json | None = await r.server.client.request("textDocument/hover", params)
            return found

        found = await hover(2)
        assert found is not None
        value = found["contents"]["value"]
        assert value == (
            "Turnbuckle proposes +1 −1 here.\n\n````diff\n-line 2\n+``` [x](command:evil)\n````"
        )
        inserted = await hover(9)
        assert inserted is not None
        assert "+added" in inserted["contents"]["value"]
        assert await hover(5) is None


async def test_quick_fixes_accept_reject_and_undo(tmp_path: Path) -> None:
    async with reviewed(tmp_path, capabilities=LITERALS) as r:
        hints = await r.server.editor.screen.until(r.hints)

        async def offered(line: int, diagnostics: list[Json]) -> list[Json]:
            at = {"line": line, "character": 0}
            params = {
                "textDocument": {"uri": r.uri},
                "range": {"start": at, "end": at},
                "context": {"diagnostics": diagnostics, "only": ["quickfix"]},
            }
            return await r.server.client.request("textDocument/codeAction", params) or []

        found = await offered(2, hints[:1])
        assert [one["title"] for one in found] == [
            "Accept +1 −1 in line 3",
            "Reject +1 −1 in line 3",
            "Accept all: +2 −2 in 3 places of a.py",
            "Reject all: +2 −2 in 3 places of a.py",
            "Show: +2 −2 in 3 places of a.py",
        ]
        assert found[0]["diagnostics"] == hints[:1]
        assert {one["kind"] for one in found} == {"quickfix.turnbuckle"}
        for action in (found[0], found[4], found[3]):
            command = action["command"]
            await r.server.editor.execute(command["command"], *command["arguments"])
        await r.result()
        assert r.text == OLD.replace("line 2\n", "two\n")
        (undo,) = await offered(2, [])
        assert undo["title"] == "Undo +1 −1 in line 3"
        await r.server.editor.execute(undo["command"]["command"], *undo["command"]["arguments"])
        await r.until_text(OLD)
        await r.server.fact("edit/undone")
        assert await offered(2, []) == []


def test_what_is_marked_has_no_indentation_and_no_blank_lines_around_it() -> None:
    text = "a\n\n    b\n\nc\n"
    assert marked(text, Span(2, 10)) == Span(7, 8)
    assert marked(text, Span(7, 7)) == Span(7, 8)
    assert marked(text, Span(10, 10)) == Span(10, 11)
    assert marked(text, Span(9, 9)) == Span(7, 8)
    assert marked("\n\n", Span(1, 1)) == Span(1, 1)
    assert marked("", Span(0, 0)) == Span(0, 0)
    assert marked("x\r\n\r\n", Span(3, 3)) == Span(0, 1)


def test_a_long_hunk_is_shown_in_part() -> None:
    new = "".join(f"{n} {'x' * 300}\n" for n in range(1000))
    shown = fenced(Hunk(hunk_id="1", start=0, end=0, old="", new=new))
    assert "[940 more lines]" in shown
    assert len(shown) < 20_000
