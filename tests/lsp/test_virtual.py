"""Documents that only the server can fill: by its own ids, and by nothing else."""

from pathlib import Path
from typing import Any

import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.capabilities import initialize_result
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.testing.reviewed import NEW, OLD, Reviewed, reviewed

# Any: values on the wire are JSON.
Json = dict[str, Any]

VIRTUAL: Json = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "textDocumentContent": {},
    },
    "window": {"showDocument": {"support": True}},
}


async def content(r: Reviewed, uri: str) -> str:
    found = await r.server.client.request("workspace/textDocumentContent", {"uri": uri})
    return str(found["text"])


async def shown(r: Reviewed) -> str:
    await r.run(names.SHOW_DIFF_COMMAND)
    screen = r.server.editor.screen
    return str((await screen.until(lambda: screen.of("window/showDocument")))[-1]["uri"])


async def test_a_diff_is_shown_as_a_document_of_ours(tmp_path: Path) -> None:
    async with reviewed(tmp_path, capabilities=VIRTUAL) as r:
        uri = await shown(r)
        assert uri.startswith("turnbuckle-diff:/")
        assert uri.endswith("/patch/a.py.diff")
        assert "-line 2\n+two\n" in await content(r, uri)
        assert not (r.server.state / "shown").exists()


async def test_the_text_before_and_after_can_be_compared_and_follows_decisions(
    tmp_path: Path,
) -> None:
    async with reviewed(tmp_path, capabilities=VIRTUAL) as r:
        patch = await shown(r)
        before = patch.replace("/patch/a.py.diff", "/before/a.py")
        after = before.replace("/before/", "/after/")
        assert await content(r, before) == OLD
        assert await content(r, after) == NEW
        screen = r.server.editor.screen
        seen = len(screen.of("workspace/textDocumentContent/refresh"))
        await r.run(names.REJECT_HUNK_COMMAND, hunkId=(await r.hunk_ids())[0])
        refreshed = await screen.until(
            lambda: screen.of("workspace/textDocumentContent/refresh")[seen:]
        )
        assert {"uri": after} in refreshed or await screen.until(
            lambda: {"uri": after} in screen.of("workspace/textDocumentContent/refresh")
        )
        assert await content(r, after) == NEW.replace("two\n", "line 2\n")


async def test_a_transcript_is_a_document_too(tmp_path: Path) -> None:
    async with reviewed(tmp_path, capabilities=VIRTUAL) as r:
        text = await content(r, f"turnbuckle-session:/{r.session_id}/any.md")
        assert text.startswith("# go\n")


@pytest.mark.parametrize(
    "uri",
    [
        "turnbuckle-diff:/gone/patch/a.py.diff",
        "turnbuckle-diff:/{id}/else/a.py",
        "turnbuckle-diff:/{id}",
        "turnbuckle-diff:///etc/passwd",
        "turnbuckle-session:/gone/x.md",
        "turnbuckle-session:/../../etc/passwd",
        "file:///etc/passwd",
        "turnbuckle-diff://[",
        "",
    ],
)
async def test_what_is_not_there_is_one_line(tmp_path: Path, uri: str) -> None:
    async with reviewed(tmp_path, capabilities=VIRTUAL) as r:
        known = (await shown(r)).split("/")[1]
        assert await content(r, uri.replace("{id}", known)) == "This is not there any more.\n"


def test_only_a_client_that_takes_them_is_offered_them() -> None:
    offered = initialize_result(ClientFacts(text_document_content=True))["capabilities"]
    assert offered["workspace"]["textDocumentContent"] == {
        "schemes": ["turnbuckle-diff", "turnbuckle-session"]
    }
    plain = initialize_result(ClientFacts())["capabilities"]
    assert "textDocumentContent" not in plain["workspace"]
