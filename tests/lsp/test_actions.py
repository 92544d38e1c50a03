"""What a plain client offers in its menu, and that what it offers can be run as it stands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from turnbuckle.model.port import ModelRefused
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.tool import Go
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


ASK = ["Ask the agent", "Ask the agent: refactor this", "Ask the agent: explain this"]
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}


def users(model: Scripted, request: int) -> list[str]:
    """What a request of the model holds that is not its own."""
    return [m.content for m in model.requests[request].messages if isinstance(m, UserMessage)]


async def run(server: Served, action: Json) -> Json:
    """Run what an action or a lens offers, as it stands."""
    command = action["command"]
    result: Json = await server.editor.execute(command["command"], *command["arguments"])
    return result


async def act(_arguments: Json, _: Go) -> str:
    return "acted"


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
            ("Ask the agent: explain “name 'retrun' is not defined”", "quickfix.turnbuckle"),
            ("Ask the agent", "refactor.turnbuckle"),
            ("Ask the agent: refactor this", "refactor.turnbuckle"),
            ("Ask the agent: explain this", "refactor.turnbuckle"),
        ]
        assert [action["diagnostics"] for action in actions[:2]] == [[found]] * 2
        assert all(action["command"]["command"] == "turnbuckle.ask" for action in actions)


async def test_an_offer_can_be_run_as_it_stands(tmp_path: Path) -> None:
    model = Scripted([say("one"), say("two")])
    async with served(model, tmp_path, capabilities=LITERALS) as server:
        uri = opened(server)
        fix, _, ask, *_ = await offered(server, uri, [diagnostic("not defined", code=7)])
        for action in (fix, ask):
            command = action["command"]
            await server.editor.execute(command["command"], *command["arguments"])
        screen = server.editor.screen
        await screen.until(lambda: screen.of("window/showDocument")[1:])
        said = users(model, 1)
        assert said[:2] == [
            f"The person has selected {uri}, line 2:\n\n```\nretrun\n```",
            f"The editor reports {uri}:\n\n```\nline 2: error (7): not defined\n```",
        ]
        assert said[2].startswith("Fix the problem")
        assert said[3] == f"The person has selected {uri}, line 2:\n\n```\nretrun\n```"
        assert said[4].startswith("Look at the code that I selected. If a comment in it begins")


async def test_what_a_diagnostic_relates_to_goes_along(tmp_path: Path) -> None:
    related: list[Json] = [
        {"location": {"uri": "file:///b.py", "range": RANGE}, "message": "first seen here"},
    ]
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 3}}
    found: Json = diagnostic("twice", source="lint", code="E1", severity=2)
    found |= {"range": span, "relatedInformation": related}
    model = Scripted([say("one")])
    async with served(model, tmp_path, capabilities=LITERALS) as server:
        uri = opened(server)
        _, explain, *_ = await offered(server, uri, [found])
        await run(server, explain)
        screen = server.editor.screen
        await screen.until(lambda: screen.of("window/showDocument"))
        said = users(model, 0)
        assert said[1] == (
            f"The editor reports {uri}:\n\n```\n"
            "lines 1 to 2: warning (lint E1): twice\n"
            "  see file:///b.py, line 1: first seen here\n```"
        )
        assert said[2].startswith("Explain the problem")


async def test_many_diagnostics_can_be_mended_at_once(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path, capabilities=LITERALS) as server:
        many = [diagnostic(f"problem {number}") for number in range(30)]
        actions = await offered(server, opened(server), many, ["quickfix"])
        assert len(actions) == 21
        assert actions[-1]["title"] == "Ask the agent: fix all 30 problems here"
        assert actions[-1]["command"]["arguments"][0]["diagnostics"] == many


async def test_where_nothing_is_selected_the_line_is_asked_about(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path, capabilities=LITERALS) as server:
        uri = opened(server)
        (ask,) = await server.editor.code_actions(uri, 15, 15)
        assert ask["title"] == "Ask the agent"
        assert ask["command"]["arguments"][0]["range"] == {
            "start": {"line": 1, "character": 0},
            "end": {"line": 1, "character": 12},
        }


async def test_a_client_without_literals_gets_bare_commands(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        command, *_ = await offered(server, opened(server))
        assert set(command) == {"title", "command", "arguments"}
        assert (command["title"], command["command"]) == ("Ask the agent", "turnbuckle.ask")


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], ["quickfix"]),
        (["refactor"], ["refactor"]),
        (["refactor.turnbuckle"], ["refactor"]),
        (["refactor.extract"], []),
        (["quickf"], []),
        (["source"], []),
        ([], []),
        ([""], ["quickfix", "refactor"]),
        (["source", "quickfix"], ["quickfix"]),
    ],
)
async def test_only_what_was_wanted_is_offered(
    tmp_path: Path, only: list[str], kinds: list[str]
) -> None:
    async with served(Scripted([]), tmp_path, capabilities=LITERALS) as server:
        actions = await offered(server, opened(server), [diagnostic("no")], only)
        found = dict.fromkeys(action["kind"] for action in actions)
        assert list(found) == [f"{kind}.turnbuckle" for kind in kinds]


async def test_the_title_of_a_fix_is_one_short_line_that_shows_what_it_is(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        uri = opened(server)
        fix, *_ = await offered(server, uri, [diagnostic("a\u202eb " + "x" * 100 + "\nmore")])
        assert fix["title"].startswith("Ask the agent: fix “a\\u{202e}b x")
        assert len(fix["title"]) == len("Ask the agent: fix “”") + 60
        assert "more" not in fix["title"]


# Comments that ask for something.

DO_IT = (
    "Do what the comment that I selected asks for:\n\nmake this\nfaster\n\nThen remove the comment."
)
ASKING = (
    "def f():\n    # agent: make this\n    # faster\n    return 1\n\n\n# agent: \u202eadd a test\n"
)


async def test_a_comment_has_an_action_and_a_lens_that_ask_for_what_it_says(tmp_path: Path) -> None:
    model = Scripted([say("done"), say("done")])
    async with served(model, tmp_path, capabilities=LITERALS) as server:
        uri = uri_of(server.work / "a.py")
        server.editor.open(uri, ASKING, language="python")
        action, *others = await server.editor.code_actions(uri, 20, 20)
        assert action["title"] == "Ask the agent: make this faster"
        assert action["kind"] == "quickfix.turnbuckle"
        assert not any("add a test" in other["title"] for other in others)
        lenses = await server.client.request(
            "textDocument/codeLens", {"textDocument": {"uri": uri}}
        )
        assert [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses] == [
            (1, "Ask the agent: make this faster"),
            (6, "Ask the agent: \\u{202e}add a test"),
        ]
        assert lenses[0]["command"]["arguments"] == action["command"]["arguments"]
        screen = server.editor.screen
        for number, one in enumerate((action, lenses[1]), 1):
            await run(server, one)
            await screen.until(lambda number=number: screen.of("window/showDocument")[number - 1 :])  # type: ignore[misc]
        said = users(model, 0)
        assert said == [
            (
                f"The person has selected {uri}, lines 2 to 3:\n\n"
                "```\n# agent: make this\n    # faster\n```"
            ),
            DO_IT,
        ]
        # It goes on in the same session, and what was asked once can be asked again.
        assert users(model, 1)[:2] == said
        assert (await server.editor.code_actions(uri, 20, 20))[0] == action


async def test_all_comments_of_a_file_can_be_asked_for(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path, capabilities=LITERALS) as server:
        uri = uri_of(server.work / "a.py")
        server.editor.open(uri, ASKING, language="python")
        (action,) = await offered(server, uri, only=["source"])
        assert action["title"] == "Ask the agent: all 2 `agent:` comments"
        (argument,) = action["command"]["arguments"]
        assert "- line 2: make this faster\n- line 7: " in argument["prompt"]


async def test_the_word_of_comments_is_a_setting(tmp_path: Path) -> None:
    options = {"turnbuckle": {"settings": {"comment_word": "ai"}}}
    async with served(Scripted([]), tmp_path, capabilities=LITERALS, options=options) as server:
        uri = uri_of(server.work / "a.py")
        server.editor.open(uri, "# agent: no\n\n# ai: yes\n", language="python")
        lenses = await server.client.request(
            "textDocument/codeLens", {"textDocument": {"uri": uri}}
        )
        assert [lens["command"]["title"] for lens in lenses] == ["Ask the agent: yes"]


async def test_what_is_not_open_has_no_lenses(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        params = {"textDocument": {"uri": "file:///not/open.py"}}
        assert await server.client.request("textDocument/codeLens", params) == []


# Going on.


async def test_while_a_turn_runs_it_can_be_cancelled_from_the_menu(tmp_path: Path) -> None:
    command = tool("act", act, subject=COMMAND, mode="exclusive")
    model = Scripted([say("", ("1", "act", {}))])
    async with served(
        model, tmp_path, capabilities=LITERALS, tools=[command], answer=lambda _m, _t: HANG
    ) as server:
        uri = opened(server)
        asked = await server.editor.ask("go")
        while not server.opened(asked["sessionId"]).agent.approvals.pending:
            await anyio.lowlevel.checkpoint()
        question, cancel, *_ = await offered(server, uri, only=["source"])
        assert question["title"] == "Agent: show the question that waits"
        assert (await run(server, question))["outcome"] == "shown"
        assert cancel["title"] == "Agent: cancel the turn"
        assert (await run(server, cancel))["outcome"] == "cancelled"
        await server.opened(asked["sessionId"]).driver.idle()
        titles = [action["title"] for action in await offered(server, uri, only=["source"])]
        assert titles[0] == "Agent: go on with what was broken off"


async def test_once_something_was_asked_its_session_can_be_gone_on_with(tmp_path: Path) -> None:
    model = Scripted([ModelRefused("auth", "no"), say("done")])
    async with served(model, tmp_path, capabilities=LITERALS) as server:
        uri = opened(server)
        assert await offered(server, uri, only=["source"]) == []
        await server.editor.ask("one")
        screen = server.editor.screen
        await screen.until(lambda: screen.of("window/showDocument"))
        resume, show, new = await offered(server, uri, only=["source"])
        assert [action["title"] for action in (resume, show, new)] == [
            "Agent: go on with what was broken off",
            "Agent: show the conversation",
            "Agent: begin a new session",
        ]
        assert (await run(server, resume))["outcome"] == "resumed"
        await screen.until(lambda: screen.of("window/showDocument")[1:])
        assert [a["title"] for a in await offered(server, uri, only=["source"])] == [
            show["title"],
            new["title"],
        ]
        assert (await run(server, show))["outcome"] == "shown"
        await screen.until(lambda: screen.of("window/showDocument")[2:])
        assert (await run(server, new))["outcome"] == "opened"
        assert await offered(server, uri, only=["source"]) == []


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
            *ASK,
        ]
        assert [offer["title"] for offer in await offered(server, other)] == ASK
        for offer, outcome in ((offers[4], "shown"), (offers[3], "rejected")):
            found = await server.editor.execute(offer["command"], *offer["arguments"])
            assert found["outcome"] == outcome
        await server.answer(question)
        assert server.editor.documents[uri].text == TEXT
        assert [offer["title"] for offer in await offered(server, uri)] == ASK
