"""Deleting and renaming files that may be open: the editor does it, and the disk shows it."""

from pathlib import Path
from typing import Any

from turnbuckle.lsp import names
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import path_of, uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

TEXT = "one\ntwo\n"
ABLE: Json = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
        },
    },
    "window": {"showDocument": {"support": True}},
}


def model(tool: str, **arguments: str) -> Scripted:
    return Scripted(
        [
            say("", ("1", "read_file", {"path": "a.py"})),
            say("", ("2", tool, {"path": "a.py", **arguments})),
            say("done"),
        ]
    )


def hang(_message: str, _titles: list[str]) -> str | None:
    return HANG


async def accepted(server: Served) -> Json:
    """The result of the only change, after it was accepted."""
    session_id = await server.open()
    await server.watch(session_id)
    turn = server.send(session_id, "go")
    await server.fact("approval/asked")
    found = await server.editor.execute(names.ACCEPT_ALL_COMMAND)
    assert found["outcome"] == "accepted"
    await server.answer(turn)
    result: Json = server.facts("tool/result")[-1]
    return result


def able(server: Served) -> None:
    """Have the editor do what edits ask it to do with whole files."""

    async def apply(params: Json) -> Json:
        (change,) = params["edit"]["documentChanges"]
        old = path_of(change.get("uri") or change["oldUri"])
        assert old is not None
        if change["kind"] == "delete":
            old.unlink()
        else:
            new = path_of(change["newUri"])
            assert new is not None
            old.rename(new)
        server.editor.documents.close(uri_of(old))
        return {"applied": True}

    server.client.on_request("workspace/applyEdit", apply)


async def test_an_open_file_is_deleted_by_its_editor(tmp_path: Path) -> None:
    async with served(model("delete_file"), tmp_path, answer=hang, capabilities=ABLE) as server:
        path = server.work / "a.py"
        path.write_text(TEXT)
        server.editor.open(uri_of(path), TEXT)
        able(server)
        result = await accepted(server)
        assert result["content"] == "Deleted a.py (−2)."
        assert not path.exists()


async def test_an_open_file_is_renamed_by_its_editor(tmp_path: Path) -> None:
    scripted = model("rename_file", to="b.py")
    async with served(scripted, tmp_path, answer=hang, capabilities=ABLE) as server:
        path = server.work / "a.py"
        path.write_text(TEXT)
        server.editor.open(uri_of(path), TEXT)
        able(server)
        result = await accepted(server)
        assert result["content"] == "Renamed a.py to b.py."
        assert (server.work / "b.py").read_text() == TEXT


async def test_an_editor_that_only_says_so_is_not_believed(tmp_path: Path) -> None:
    async with served(model("delete_file"), tmp_path, answer=hang, capabilities=ABLE) as server:
        path = server.work / "a.py"
        path.write_text(TEXT)
        server.editor.open(uri_of(path), TEXT)

        async def lie(_params: Json) -> Json:
            return {"applied": True}

        server.client.on_request("workspace/applyEdit", lie)
        result = await accepted(server)
        assert result["code"] == "UNVERIFIED"
        assert path.exists()


async def test_unsaved_text_is_not_deleted(tmp_path: Path) -> None:
    async with served(model("delete_file"), tmp_path, answer=hang, capabilities=ABLE) as server:
        path = server.work / "a.py"
        path.write_text("old\n")
        server.editor.open(uri_of(path), TEXT)
        result = await accepted(server)
        assert result["code"] == "STALE"
        assert "unsaved changes" in result["content"]
        assert path.exists()


async def test_an_open_file_of_an_editor_that_cannot_is_left_alone(tmp_path: Path) -> None:
    async with served(model("delete_file"), tmp_path, answer=hang) as server:
        path = server.work / "a.py"
        path.write_text(TEXT)
        server.editor.open(uri_of(path), TEXT)
        result = await accepted(server)
        assert result["isError"]
        assert "close it there" in result["content"]
        assert path.exists()


async def test_a_closed_file_is_deleted_by_the_server(tmp_path: Path) -> None:
    async with served(model("delete_file"), tmp_path, answer=hang) as server:
        path = server.work / "a.py"
        path.write_text(TEXT)
        result = await accepted(server)
        assert result["content"] == "Deleted a.py (−2)."
        assert not path.exists()


async def test_a_proposed_deletion_is_shown_at_the_beginning_of_the_file(tmp_path: Path) -> None:
    async with served(model("delete_file"), tmp_path, answer=hang) as server:
        uri = uri_of(server.work / "a.py")
        (server.work / "a.py").write_text(TEXT)
        server.editor.open(uri, TEXT)
        session_id = await server.open()
        await server.watch(session_id)
        turn = server.send(session_id, "go")
        await server.fact("approval/asked")
        params = {"textDocument": {"uri": uri}}
        lenses = await server.client.request("textDocument/codeLens", params)
        assert [lens["command"]["title"] for lens in lenses] == [
            "delete this file: Accept", "Reject", "Diff",
        ]  # fmt: skip
        assert {lens["range"]["start"]["line"] for lens in lenses} == {0}
        listed = await server.client.request(names.REVIEW_LIST, {})
        assert listed.changes[0].files[0].kind == "delete"
        await server.editor.execute(names.REJECT_FILE_COMMAND, {"uri": uri})
        await server.answer(turn)
        assert server.facts("tool/result")[-1]["code"] == "DENIED"
