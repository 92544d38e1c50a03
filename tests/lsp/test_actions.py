"""What a plain client offers in its menu, and that what it offers can be run as it stands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from turnbuckle.session.events import UserMessage
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

KINDS = {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}
LITERALS: Json = {
    "workspace": {"applyEdit": True},
    "window": {"showDocument": {"support": True}},
    "textDocument": {"codeAction": {"codeActionLiteralSupport": KINDS}},
}
TEXT = "def f():\n    retrun 1\n"


def diagnostic(message: str, **more: object) -> Json:
    span = {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 10}}
    return {"range": span, "message": message, **more}


async def offered(
    server: Served, uri: str, diagnostics: Sequence[Json] = (), only: list[str] | None = None
) -> list[Json]:
    context: Json = {"diagnostics": list(diagnostics)}
    if only is not None:
        context["only"] = only
    span = server.editor.documents.range(TEXT, 13, 19)
    params = {"textDocument": {"uri": uri}, "range": span, "context": context}
    return await server.client.request("textDocument/codeAction", params) or []


def opened(server: Served) -> str:
    uri = uri_of(server.work / "a.py")
    server.editor.open(uri, TEXT)
    return uri


async def test_a_selection_and_a_diagnostic_can_be_asked_about(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path, capabilities=LITERALS) as server:
        found = diagnostic("name 'retrun' is not defined", severity=1, source="pyflakes")
        actions = await offered(server, opened(server), [found])
        assert [(action["title"], action["kind"]) for action in actions] == [
            ("Ask the agent: fix “name 'retrun' is not defined”", "quickfix.turnbuckle"),
            ("Ask the agent", "refactor.turnbuckle"),
        ]
        assert actions[0]["diagnostics"] == [found]
        assert all(action["command"]["command"] == "turnbuckle.ask" for action in actions)


async def test_an_offer_can_be_run_as_it_stands(tmp_path: Path) -> None:
    model = Scripted([say("one"), say("two")])
    async with served(model, tmp_path, capabilities=LITERALS) as server:
        uri = opened(server)
        found = diagnostic("not defined", code=7)
        for action in await offered(server, uri, [found]):
            command = action["command"]
            await server.editor.execute(command["command"], *command["arguments"])
        screen = server.editor.screen
        await screen.until(lambda: screen.of("window/showDocument")[1:])
        said = [m.content for m in model.requests[1].messages if isinstance(m, UserMessage)]
        assert said[:2] == [
            f"The person has selected {uri}, line 2:\n\nretrun",
            f"The editor reports {uri}:\n\nline 2: error (7): not defined",
        ]
        assert said[2].startswith("Fix the problem")
        assert said[3] == f"The person has selected {uri}, line 2:\n\nretrun"
        assert said[4].startswith("Look at the code that I selected.")


async def test_a_client_without_literals_gets_bare_commands(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        (command,) = await offered(server, opened(server))
        assert set(command) == {"title", "command", "arguments"}
        assert (command["title"], command["command"]) == ("Ask the agent", "turnbuckle.ask")


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], ["quickfix.turnbuckle"]),
        (["refactor"], ["refactor.turnbuckle"]),
        (["refactor.turnbuckle"], ["refactor.turnbuckle"]),
        (["refactor.extract"], []),
        (["quickf"], []),
        (["source"], []),
        ([], []),
        ([""], ["quickfix.turnbuckle", "refactor.turnbuckle"]),
        (["source", "quickfix"], ["quickfix.turnbuckle"]),
    ],
)
async def test_only_what_was_wanted_is_offered(
    tmp_path: Path, only: list[str], kinds: list[str]
) -> None:
    async with served(Scripted([]), tmp_path, capabilities=LITERALS) as server:
        actions = await offered(server, opened(server), [diagnostic("no")], only)
        assert [action["kind"] for action in actions] == kinds


async def test_the_title_of_a_fix_is_one_short_line_that_shows_what_it_is(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        uri = opened(server)
        (fix, _) = await offered(server, uri, [diagnostic("a\u202eb " + "x" * 100 + "\nmore")])
        assert fix["title"].startswith("Ask the agent: fix “a\\u{202e}b x")
        assert len(fix["title"]) == len("Ask the agent: fix “”") + 60
        assert "more" not in fix["title"]


async def test_a_change_that_waits_is_offered_on_its_file_and_nowhere_else(tmp_path: Path) -> None:
    replies = [
        say("", ("1", "read_file", {"path": "a.py"})),
        say(
            "", ("2", "edit_file", {"path": "a.py", "edits": [{"old": "retrun", "new": "return"}]})
        ),
        say("done"),
    ]
    model = Scripted(replies)
    async with served(model, tmp_path, answer=lambda _m, _t: HANG) as server:
        uri = opened(server)
        other = uri_of(server.work / "b.py")
        server.editor.open(other, TEXT)
        session_id = await server.open()
        question = server.send(session_id, "go")
        while not server.opened(session_id).agent.approvals.pending:
            await anyio.lowlevel.checkpoint()
        offers = await offered(server, uri)
        assert [offer["title"] for offer in offers] == [
            "Accept +1 −1 in line 2",
            "Reject +1 −1 in line 2",
            "Accept all: +1 −1 in 1 place of a.py",
            "Reject all: +1 −1 in 1 place of a.py",
            "Show: +1 −1 in 1 place of a.py",
            "Ask the agent",
        ]
        assert len(await offered(server, other)) == 1
        for offer, outcome in ((offers[4], "shown"), (offers[3], "rejected")):
            found = await server.editor.execute(offer["command"], *offer["arguments"])
            assert found["outcome"] == outcome
        await server.answer(question)
        assert server.editor.documents[uri].text == TEXT
        assert len(await offered(server, uri)) == 1
