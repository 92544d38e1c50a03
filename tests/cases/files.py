"""What an edit may meet in a file: the cases C."""

import os
import stat
from pathlib import Path
from typing import Any, cast

import pytest
from lsprotocol import types

from cases.case import Case, Run, same_as
from turnbuckle.lsp.documents import Documents
from turnbuckle.model.port import Reply
from turnbuckle.session.events import ToolResult
from turnbuckle.testing.documents import Unit, position_at
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.edit_file import EditFile, OneEdit, edit_file
from turnbuckle.tools.builtin.read_file import ReadFile, read_file
from turnbuckle.tools.builtin.write_file import WriteFile, write_file
from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.paths import uri_of

# Any: what a case's file holds.
Json = dict[str, Any]

CODES = {
    "not_unique": "NOT_UNIQUE",
    "not_found": "NOT_FOUND",
    "empty_old": "INVALID_ARGS",
    "no_change": "INVALID_ARGS",
    "not_utf8": "ENCODING",
    "not_a_directory": "INVALID_ARGS",
    "exists": "UNREAD",
}
"""Outcomes by the codes that a model gets for them."""


def desk_in(folder: Path) -> Desk:
    (folder / "work").mkdir(parents=True)
    return Desk(folder / "work")


async def read(desk: Desk, name: str) -> str:
    prepared = await read_file().prepare(ReadFile(path=name), desk.workspace)
    return (await desk.perform(prepared)).content


async def edit(desk: Desk, name: str, edits: list[Json]) -> ToolError | None:
    """Read a file and edit it; why that was refused, before anybody was asked."""
    try:
        await read(desk, name)
        asked = EditFile(path=name, edits=[OneEdit(**one) for one in edits])
        outcome = await desk.perform(await edit_file().prepare(asked, desk.workspace))
    except ToolError as error:
        return error
    assert outcome.code is None
    return None


async def edited(case: Case, folder: Path) -> None:
    """A file's bytes before and after, or why not."""
    for number, data in enumerate(case.data.get("cases", [case.data])):
        desk = desk_in(folder / str(number))
        path, before = desk.folder / "f.py", bytes.fromhex(data["file_hex"])
        path.write_bytes(before)
        was = path.stat()
        error = await edit(desk, path.name, data["edits"])
        ends_as_said(error, data, before, path.read_bytes())
        if error is not None:
            assert path.stat().st_mtime_ns == was.st_mtime_ns


def ends_as_said(error: ToolError | None, data: Json, before: bytes, after: bytes) -> None:
    expect = data["expect"]
    allowed = expect.get("outcome_any") or [expect["outcome"]]
    if error is None:
        assert "ok" in allowed
        assert after == bytes.fromhex(expect.get("if_ok_hex") or expect["file_hex"])
        return
    assert after == before
    codes = [CODES[one] for one in allowed if one != "ok"]
    if len(data["edits"]) > 1 and allowed == ["no_change"]:
        codes = [CODES["not_found"]]  # edits are matched against the text as it was, not in order
    assert error.code in codes
    if "count" in expect:
        assert str(expect["count"]) in str(error)
    if "index" in expect:
        assert f"edit {expect['index'] + 1}" in str(error)


async def kept(case: Case, folder: Path) -> None:
    """Modes and links stay what they are."""
    desk = desk_in(folder)
    for name, node in case.data["tree"].items():
        path = desk.folder / name
        if "symlink" in node:
            path.symlink_to(node["symlink"])
            continue
        path.write_text(node["text"])
        if "mode" in node:
            path.chmod(int(node["mode"], 8))
    os.link(desk.folder / next(iter(case.data["tree"])), folder / "pair")
    for name, old, new in case.data["edit"]:
        assert await edit(desk, name, [{"old": old, "new": new, "all": False}]) is None
    expect = case.data["expect"]
    for name, mode in expect.get("modes", {}).items():
        assert stat.S_IMODE((desk.folder / name).stat().st_mode) == int(mode, 8)
    for name in expect.get("is_symlink", ()):
        assert (desk.folder / name).is_symlink()
    for name, text in expect.get("text", {}).items():
        assert (desk.folder / name).read_text() == text
        assert (folder / "pair").samefile(desk.folder / name)


async def created(case: Case, folder: Path) -> None:
    """New files, and places where none can be."""
    desk = desk_in(folder)
    for name, node in case.data["tree"].items():
        (desk.folder / name).write_text(node["text"])
    for (name, text), outcome in zip(
        case.data["create"], case.data["expect"]["outcomes"], strict=True
    ):
        asked = WriteFile(path=name, content=text)
        if outcome == "ok":
            await desk.perform(await write_file().prepare(asked, desk.workspace))
            assert (desk.folder / name).read_text() == text
            continue
        with pytest.raises(ToolError) as caught:
            await write_file().prepare(asked, desk.workspace)
        assert caught.value.code == CODES[outcome]
    for name, node in case.data["tree"].items():
        assert (desk.folder / name).read_text() == node["text"]


async def looked_at(case: Case, folder: Path) -> None:
    """What is very long is shown in parts; what is no text is not shown, and not edited."""
    desk, expect = desk_in(folder), case.data["expect"]
    for one in case.data["files"]:
        data = bytes.fromhex(one["hex"]) if "hex" in one else one["repeat"].encode() * one["times"]
        (desk.folder / one["path"]).write_bytes(data)
        if one["path"] not in expect["binary_refused"]:
            shown = await read(desk, one["path"])
            assert len(shown.encode()) <= expect["read_max_bytes"]
            assert "search finds" in shown
            continue
        with pytest.raises(ToolError) as caught:
            await read(desk, one["path"])
        assert caught.value.code == "BINARY"
        assert f"{len(data)} bytes" in str(caught.value)
        refused = await edit(desk, one["path"], [{"old": "a", "new": "b", "all": False}])
        assert refused is not None
        assert (desk.folder / one["path"]).read_bytes() == data


def asks(data: Json) -> list[Reply]:
    """A model that reads the file, edits it, perhaps edits it once more, and is done."""
    edits = [data["edits"], *([[data["second_edit"]]] if "second_edit" in data else [])]
    wanted = [[{**one, "all": one.get("all", False)} for one in each] for each in edits]
    calls = [
        say("", (f"e{n}", "edit_file", {"path": "a.py", "edits": each}))
        for n, each in enumerate(wanted)
    ]
    return [say("", ("r", "read_file", {"path": "a.py"})), *calls, say("done")]


def results(server: Served, session_id: str) -> list[ToolResult]:
    entries = server.opened(session_id).session.log.entries
    return [entry.fact for entry in entries if isinstance(entry.fact, ToolResult)]


async def in_the_editor(case: Case, folder: Path) -> None:
    """The editor's text is what counts, and the edit goes through the editor."""
    data = case.data

    def answer(_message: str, titles: list[str]) -> str:
        return HANG if "then_change" in data else titles[1]

    async with served(Scripted(asks(data)), folder, answer=answer, events=True) as server:
        path = server.work / "a.py"
        path.write_text(data["disk"])
        uri = uri_of(path)
        server.editor.open(uri, data["buffer"], version=data["version"])
        session_id = await server.open()
        await server.watch(session_id)
        turn = server.send(session_id, "go")
        for number in range(1 + ("second_edit" in data)):
            asked = (await server.fact("approval/asked", number + 1))["approvalId"]
            if "then_change" in data and "second_edit" not in data:
                whole = len(server.editor.documents[uri].text)
                server.editor.type(uri, 0, whole, data["then_change"]["text"])
            await server.approve(asked, decision="allow")
            if "second_edit" in data:
                await server.fact("edit/applied")
                whole = len(server.editor.documents[uri].text)
                server.editor.type(uri, 0, whole, data["then_change"]["text"])
                break
        await server.answer(turn)
        assert path.read_text() == data["disk"]
        ends_in_the_editor(data["expect"], server.editor.documents[uri].text, server, session_id)


def ends_in_the_editor(expect: Json, text: str, server: Served, session_id: str) -> None:
    last = results(server, session_id)[-1]
    if "buffer" in expect:
        assert text == expect["buffer"]
    match expect.get("outcome"):
        case "stale":
            assert last.code == "STALE"
            assert expect["buffer"].strip() in last.content
        case "not_found":
            assert last.code == "NOT_FOUND"
            assert expect["error_contains"] in last.content
        case _:
            assert not last.is_error


async def columns(case: Case, _: Path) -> None:
    """Where a character stands, as each encoding counts."""
    line = case.data["line"]
    for encoding, column in case.data["expect"].items():
        at = position_at(line, line.rindex(case.data["target"]), cast("Unit", encoding))
        assert at == (0, column)
        documents = opened(line, encoding)
        change(documents, ((0, column), (0, column + 1)), "Y")
        assert text_of(documents) == line[:-1] + "Y"


def opened(text: str, encoding: str = "utf-16") -> Documents:
    documents = Documents(cast("Unit", encoding))
    item = types.TextDocumentItem(uri="file:///w/a.py", language_id="python", version=1, text=text)
    documents.did_open(types.DidOpenTextDocumentParams(text_document=item))
    return documents


def change(documents: Documents, ends: Any, text: str) -> None:  # Any: pairs of numbers, as JSON
    (first, at), (last, to) = ends
    where = types.Range(
        start=types.Position(line=first, character=at), end=types.Position(line=last, character=to)
    )
    event = types.TextDocumentContentChangePartial(range=where, text=text)
    name = types.VersionedTextDocumentIdentifier(uri="file:///w/a.py", version=2)
    documents.did_change(
        types.DidChangeTextDocumentParams(text_document=name, content_changes=[event])
    )


def text_of(documents: Documents) -> str:
    found = documents.lookup("file:///w/a.py")
    assert found is not None
    return str(found.text)


async def lines(case: Case, _: Path) -> None:
    """Only LF, CRLF and CR end a line."""
    for one in case.data["cases"]:
        documents = opened(one["open"])
        change(documents, one["change"]["range"], one["change"]["text"])
        assert text_of(documents) == one["expect"]


RUN: dict[str, Run] = {
    "C01": edited,
    "C02": edited,
    "C04": edited,
    "C06": edited,
    "C08": edited,
    "C09": edited,
    "C10": edited,
    "C11": edited,
    "C12": edited,
    "C13": in_the_editor,
    "C14": in_the_editor,
    "C16": columns,
    "C18": edited,
    "C19": kept,
    "C21": kept,
    "C23": in_the_editor,
    "C24": same_as(
        "lsp.test_review",
        "test_what_is_accepted_together_is_one_edit",
        "test_an_applied_hunk_is_taken_back_where_it_stands_and_the_model_is_told",
        "test_a_hunk_is_not_taken_back_where_its_text_was_changed",
    ),
    "C25": lines,
    "C26": looked_at,
    "C28": created,
}
