"""A server whose model proposed a change, and an editor in which it is to be reviewed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnbuckle.lsp import names
from turnbuckle.lsp.rpc import Question
from turnbuckle.model.port import Reply
from turnbuckle.session.events import EditUndone
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

OLD = "".join(f"line {number}\n" for number in range(20))
NEW = OLD.replace("line 2\n", "two\n").replace("line 8\n", "line 8\nadded\n")
NEW = NEW.replace("line 14\n", "")


def hang(_message: str, _titles: list[str]) -> str | None:
    """A prompt that nobody answers."""
    return HANG


@dataclass
class Reviewed:
    """A server whose model proposed a change of one file, which is open in the editor."""

    server: Served
    model: Scripted
    session_id: str
    uri: str
    turn: Question

    @property
    def text(self) -> str:
        """The text of the file in the editor."""
        return self.server.editor.documents[self.uri].text

    async def listed(self, **params: object) -> list[Json]:
        """The hunks of all changes that are listed."""
        found = await self.server.client.request(names.REVIEW_LIST, params or {"uri": self.uri})
        return [
            hunk.model_dump(by_alias=True)
            for change in found.changes
            for file in change.files
            for hunk in file.hunks
        ]

    async def lenses(self) -> list[Json]:
        """The code lenses of the file."""
        params = {"textDocument": {"uri": self.uri}}
        return await self.server.client.request("textDocument/codeLens", params) or []

    def hints(self) -> list[Json]:
        """The diagnostics of the file that were published last."""
        published = self.server.editor.screen.of("textDocument/publishDiagnostics")
        mine = [one for one in published if one["uri"] == self.uri]
        return mine[-1]["diagnostics"] if mine else []

    async def run(self, command: str, **argument: object) -> str:
        """Run a command; its outcome."""
        arguments = [argument] if argument else []
        return str((await self.server.editor.execute(command, *arguments))["outcome"])

    async def hunk_ids(self) -> list[str]:
        """The ids of the file's hunks."""
        return [hunk["hunkId"] for hunk in await self.listed()]

    async def states(self) -> list[str]:
        """Their states."""
        return [hunk["state"] for hunk in await self.listed()]

    async def marked(self) -> list[str]:
        """The text that each hunk's range covers now."""
        lines = self.text.split("\n")
        return [
            "\n".join(lines[hunk["range"]["start"]["line"] : hunk["range"]["end"]["line"]])
            for hunk in await self.listed()
        ]

    async def resolve(self, **actions: str) -> list[str]:
        """Decide hunks by id; the outcomes."""
        decisions = [{"hunkId": key[1:], "action": action} for key, action in actions.items()]
        found = await self.server.client.request(names.REVIEW_RESOLVE, {"decisions": decisions})
        return [one.outcome for one in found.outcomes]

    async def until_text(self, wanted: str) -> None:
        """Wait until the editor shows a text."""
        await self.server.editor.screen.until(lambda: self.text == wanted or None)

    async def result(self) -> Json:
        """The result of the edit, as it came on the wire."""
        await self.server.answer(self.turn)
        result: Json = self.server.facts("tool/result")[-1]
        return result

    def undone(self) -> list[EditUndone]:
        """All that was undone, as the log tells."""
        entries = self.server.opened(self.session_id).session.log.entries
        return [entry.fact for entry in entries if isinstance(entry.fact, EditUndone)]


@asynccontextmanager
async def reviewed(
    folder: Path, old: str = OLD, new: str = NEW, *after: Reply, opened: bool = True, **how: Any
) -> AsyncIterator[Reviewed]:  # Any: how the server is to be served
    """Propose to write `new` over `old`; the prompt stays unanswered. `after` the model says."""
    replies = [
        say("", ("1", "read_file", {"path": "a.py"})),
        say("", ("2", "write_file", {"path": "a.py", "content": new})),
        *(after or (say("done"),)),
    ]
    model = Scripted(replies)
    async with served(model, folder, **({"answer": hang} | how)) as server:
        path = server.work / "a.py"
        path.write_text(old, encoding="utf-8", newline="")
        if opened:
            server.editor.open(uri_of(path), old)
        session_id = await server.open()
        await server.watch(session_id)
        turn = server.send(session_id, "go")
        await server.fact("approval/asked")
        yield Reviewed(server, model, session_id, uri_of(path), turn)
