"""Open files through the whole server: saved before a command, searched as shown, never guessed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.rpc import Refused
from turnbuckle.testing.editor import RecordingEditor
from turnbuckle.testing.scripted import Scripted, ScriptedCall, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

SAVES: Json = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "experimental": {"turnbuckle": {"protocolVersions": [1], "save": {}}},
}
PLAIN: Json = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}


def allow(_message: str, titles: list[str]) -> str | None:
    return next((title for title in titles if title.startswith("Allow")), titles[0])


@dataclass
class Played:
    """A server whose model makes calls, one a turn; gives the result of each."""

    server: Served
    session_id: str

    async def next(self) -> str:
        before = len(self.server.facts("tool/result"))
        await self.server.turn(self.session_id, "go")
        result = (await self.server.fact("tool/result", before + 1))["content"]
        return result if isinstance(result, str) else str(result[0]["text"])

    def show(self, name: str, stored: str | None, shown: str) -> str:
        path = self.server.work / name
        if stored is not None:
            path.write_text(stored, encoding="utf-8", newline="")
        self.server.editor.open(uri_of(path), shown)
        return uri_of(path)


@asynccontextmanager
async def played(
    folder: Path, *calls: ScriptedCall, capabilities: Json = PLAIN
) -> AsyncIterator[Played]:
    replies = [reply for call in calls for reply in (say("", call), say("done"))]
    model = Scripted(replies)
    async with served(model, folder, answer=allow, capabilities=capabilities) as server:
        session_id = await server.open()
        await server.watch(session_id)
        yield Played(server, session_id)


def cat(number: int = 1) -> ScriptedCall:
    return (str(number), "run_command", {"command": "cat a.txt"})


Save = Callable[[RecordingEditor, str], Awaitable[object]]


async def writes(editor: RecordingEditor, uri: str) -> object:
    """Format, save, and say so."""
    text = editor.documents[uri].text
    editor.type(uri, 0, len(text), text.upper())
    path = Path(uri.removeprefix("file://"))
    await anyio.Path(path).write_text(editor.documents[uri].text, encoding="utf-8")
    editor.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    return {"saved": [uri], "failed": []}


async def lies(_editor: RecordingEditor, uri: str) -> object:
    return {"saved": [uri], "failed": []}


async def nothing(_editor: RecordingEditor, _uri: str) -> object:
    return None


async def nonsense(_editor: RecordingEditor, _uri: str) -> object:
    return {"saved": "yes"}


async def refuses(_editor: RecordingEditor, _uri: str) -> object:
    raise Refused("not today", kind="odd", retryable=False)


TOLD = "old\n[not saved in the editor, so not seen by the command: a.txt]\nexit code 0"


@pytest.mark.parametrize(
    ("save", "result"),
    [
        (writes, "NEW\nexit code 0"),
        (lies, TOLD),
        (nothing, TOLD),
        (nonsense, TOLD),
        (refuses, TOLD),
    ],
)
async def test_the_editor_is_asked_to_save_before_a_command_and_not_believed(
    tmp_path: Path, save: Save, result: str
) -> None:
    async with played(tmp_path, cat(), capabilities=SAVES) as play:
        uri = play.show("a.txt", "old\n", "new\n")
        play.show("clean.txt", "x\n", "x\n")
        asked: list[object] = []

        async def answer(params: Json) -> object:
            asked.append(params)
            return await save(play.server.editor, uri)

        play.server.client.on_request(names.SAVE, answer)
        assert await play.next() == result
        assert asked == [{"uris": [uri]}]


async def test_a_client_that_did_not_announce_it_is_not_asked_to_save(tmp_path: Path) -> None:
    async with played(tmp_path, cat()) as play:
        play.show("a.txt", "old\n", "new\n")
        assert await play.next() == TOLD
        assert not [one for one in play.server.held.seen if one.get("method") == names.SAVE]


async def test_nothing_is_saved_where_nothing_is_unsaved(tmp_path: Path) -> None:
    async with played(tmp_path, cat(), capabilities=SAVES) as play:
        play.show("a.txt", "old\r\n", "old\n")
        assert await play.next() == "old\nexit code 0"
        assert not [one for one in play.server.held.seen if one.get("method") == names.SAVE]


async def test_a_search_sees_what_the_editor_shows(tmp_path: Path) -> None:
    find = ("1", "search", {"pattern": "old|new"})
    async with played(tmp_path, find) as play:
        play.show("a.txt", "old\n", "one\nnew\n")
        play.show("b.txt", "old\n", "old\n")
        play.server.editor.open("untitled:Untitled-1", "new\n")
        assert await play.next() == "a.txt\n2:new\n\nb.txt\n1:old"


async def test_a_command_that_changes_an_open_file_is_told_apart(tmp_path: Path) -> None:
    calls = (
        ("1", "read_file", {"path": "a.txt"}),
        ("2", "run_command", {"command": "echo changed > a.txt"}),
        ("3", "run_command", {"command": "echo again > a.txt"}),
    )
    async with played(tmp_path, *calls) as play:
        uri = play.show("a.txt", "old\n", "old\n")
        await play.next()
        assert await play.next() == (
            "[changed on disk, and the editor still shows, unchanged, the text of before: a.txt]\n"
            "exit code 0"
        )
        play.server.editor.type(uri, 0, 0, "mine ")
        assert "[in conflict: changed on disk" in await play.next()


def odd(play: Played, uri: str) -> None:
    """Tell of one change twice."""
    change = {"range": play.server.editor.documents.range("old\n", 0, 0), "text": "x"}
    name = {"uri": uri, "version": 2}
    for _ in range(2):
        play.server.client.notify(
            "textDocument/didChange", {"textDocument": name, "contentChanges": [change]}
        )


async def test_a_text_that_is_not_known_for_sure_is_neither_read_nor_changed(
    tmp_path: Path,
) -> None:
    write: ScriptedCall = ("3", "edit_file", {"path": "a.txt", "edits": [{"old": "o", "new": "0"}]})
    read = {"path": "a.txt"}
    async with played(tmp_path, ("1", "read_file", read), ("2", "read_file", read), write) as play:
        uri = play.show("a.txt", "old\n", "old\n")
        await play.next()
        odd(play, uri)
        for _ in range(2):
            content = await play.next()
            assert "a.txt: what the editor shows is not known for sure" in content
            assert "it told of version 2 twice; it must be saved, closed and opened" in content
        assert not play.server.editor.screen.of("workspace/applyEdit")


@pytest.mark.parametrize("heals", ["disk", "reopened"])
async def test_a_text_is_known_again_once_the_disk_or_the_editor_tells_it(
    tmp_path: Path, heals: str
) -> None:
    async with played(tmp_path, ("1", "read_file", {"path": "a.txt"})) as play:
        uri = play.show("a.txt", "old\n", "old\n")
        odd(play, uri)
        if heals == "disk":
            (play.server.work / "a.txt").write_text("xxold\n")
        else:
            play.server.editor.documents.close(uri)
            play.server.editor.open(uri, "xxold\n")
        assert await play.next() == "a.txt lines 1-1 of 1\nxxold\n"


async def test_folders_that_come_and_go_count_in_open_sessions(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("hello\n")
    write = {"path": str(other / "new.txt"), "content": "x\n"}
    calls = [(str(number), "write_file", write) for number in range(3)]
    async with played(tmp_path, *calls) as play:

        def folders(added: list[str], removed: list[str]) -> None:
            event = {
                "added": [{"uri": uri, "name": "n"} for uri in added],
                "removed": [{"uri": uri, "name": "n"} for uri in removed],
            }
            play.server.client.notify("workspace/didChangeWorkspaceFolders", {"event": event})

        assert "lies outside the workspace" in await play.next()
        folders([uri_of(other)], [])
        assert (await play.next()).startswith("Created")
        folders([], [uri_of(other).replace("other", "%6Fther")])
        assert "lies outside the workspace" in await play.next()


async def test_notebooks_are_left_alone_and_their_cells_carried(tmp_path: Path) -> None:
    read = ("1", "read_file", {"path": "n.ipynb"})
    async with played(tmp_path, read) as play:
        uri = uri_of(play.server.work / "n.ipynb")
        (play.server.work / "n.ipynb").write_text("{}\n")
        cell = f"vscode-notebook-cell:{uri.removeprefix('file://')}#W0"
        notebook = {"uri": uri, "notebookType": "jupyter", "version": 1, "cells": []}
        play.server.client.notify(
            "notebookDocument/didOpen",
            {"notebookDocument": notebook, "cellTextDocuments": []},
        )
        play.server.editor.open(cell, "print(1)\n")
        play.server.editor.type(cell, 0, 0, "x")
        play.server.client.notify("notebookDocument/didSave", {"notebookDocument": {"uri": uri}})
        play.server.client.notify("notebookDocument/didChange", {"nonsense": 1})
        assert await play.next() == "n.ipynb lines 1-1 of 1\n{}\n"
        assert not play.server.editor.screen.messages
