"""LSP's own messages are read as ever, though what they need is imported late."""

import threading

from lsprotocol import types as real

from turnbuckle.lsp.rpc.late import Late, types


def test_the_types_are_the_real_ones() -> None:
    assert types.Position is real.Position
    assert types.WORKSPACE_APPLY_EDIT == real.WORKSPACE_APPLY_EDIT


def test_the_first_message_imports_what_is_needed() -> None:
    raw = {"textDocument": {"uri": "file:///a"}}
    params = Late().params("textDocument/didClose", raw)
    assert params == real.DidCloseTextDocumentParams(real.TextDocumentIdentifier("file:///a"))


def test_a_message_that_comes_during_the_import_waits_for_it() -> None:
    late = Late()
    loads = [threading.Thread(target=late.load) for _ in range(4)]
    for load in loads:
        load.start()
    assert late.result("textDocument/hover", None) is None
    for load in loads:
        load.join()
    assert late.load() is late.load()
    assert late.plain(real.Position(1, 2)) == {"line": 1, "character": 2}
