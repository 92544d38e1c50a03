"""A question reaches the person one way or another, and nothing but an explicit yes is a yes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import orjson
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.prompts import ALLOW, ALLOW_SESSION, REJECT, SHOW
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.model.port import Reply
from turnbuckle.session.events import ApprovalDecided, ToolResult
from turnbuckle.testing.editor import HANG, Answer
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import How, Served, served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Change, Command, ExecutionMode, Go, Question, Tool
from turnbuckle.workspace.changes import make_change
from turnbuckle.workspace.paths import path_of, uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

ACT: tuple[str, str, Json] = ("1", "act", {})


class Acts:
    """A tool that runs a command line as far as anybody can see, and counts how often."""

    def __init__(
        self, folder: Path, command: str = "make", mode: ExecutionMode = "exclusive"
    ) -> None:
        self.ran = 0
        self.subject = Command(command=command, cwd=uri_of(folder / "work"), timeout=10)
        self.mode = mode

    @property
    def tool(self) -> Tool[Any]:  # Any: its arguments are of any shape
        async def body(_arguments: Json, _: Go) -> str:
            self.ran += 1
            return "made"

        return tool("act", body, subject=self.subject, mode=self.mode)


def clicks(*titles: str | None) -> Answer:
    """Click these one after another, then leave every prompt alone."""
    left = list(titles)
    return lambda _message, _titles: left.pop(0) if left else HANG


@asynccontextmanager
async def asking(
    folder: Path,
    answer: Answer,
    *,
    command: str = "make",
    replies: Sequence[Reply] = (say("", ACT), say("done")),
    **how: Any,  # Any: as in `served`
) -> AsyncIterator[tuple[Served, Acts, str]]:
    """A server whose model wants to act; gives the session too, which is not watched."""
    acts = Acts(folder, command)
    more: How = {"tools": [acts.tool], "answer": answer, **how}  # type: ignore[typeddict-item] # as given
    async with served(Scripted(replies), folder, **more) as server:
        yield server, acts, await server.open()


def results(server: Served, session_id: str) -> list[ToolResult]:
    entries = server.opened(session_id).session.log.entries
    return [entry.fact for entry in entries if isinstance(entry.fact, ToolResult)]


def decided(server: Served, session_id: str) -> list[tuple[str, str]]:
    """Outcome and decider of each question that was decided."""
    facts = (entry.fact for entry in server.opened(session_id).session.log.entries)
    return [(fact.outcome, fact.by) for fact in facts if isinstance(fact, ApprovalDecided)]


async def pending(server: Served, session_id: str, count: int = 1) -> list[str]:
    """The ids of what is open in a session, once it is so many."""
    approvals = server.opened(session_id).agent.approvals
    while len(approvals.pending) < count:
        await anyio.lowlevel.checkpoint()
    return [one.approval_id for one in approvals.pending]


async def settled() -> None:
    """Let everything happen that can without an answer."""
    for _ in range(200):
        await anyio.lowlevel.checkpoint()


# Who asks.


async def test_a_client_that_shows_events_is_not_prompted_where_it_watches(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(), events=True) as (server, acts, session_id):
        await server.watch(session_id)
        question = server.send(session_id, "go")
        asked = await server.fact("approval/asked")
        await settled()
        assert await server.approve(asked["approvalId"], decision="allow")
        await server.answer(question)
        assert server.editor.screen.prompts == []
        assert acts.ran == 1
        assert server.facts("approval/decided")[0] | {"approvalId": ""} == {
            "approvalId": "", "outcome": "allowed", "by": "client",
        }  # fmt: skip


async def test_a_client_that_only_listens_is_prompted(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW)) as (server, acts, session_id):
        await server.watch(session_id)
        await server.turn(session_id, "go")
        assert len(server.editor.screen.prompts) == 1
        assert acts.ran == 1


async def test_a_prompt_comes_when_the_subscription_ends_before_the_answer(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), events=True) as (server, acts, session_id):
        await server.watch(session_id, "a")
        await server.watch(session_id, "b")
        question = server.send(session_id, "go")
        await server.fact("approval/asked", token="a")
        await stop(server, "a")
        await settled()
        assert server.editor.screen.prompts == []
        await stop(server, "b")
        await server.answer(question)
        assert len(server.editor.screen.prompts) == 1
        assert acts.ran == 1


async def stop(server: Served, token: str) -> None:
    await server.client.request("turnbuckle/session/events/stop", {"token": token})


async def test_a_question_that_someone_shows_holds_up_no_prompt_for_another_session(
    tmp_path: Path,
) -> None:
    replies = [say("", ACT), say("", ACT), say("done")]
    async with asking(tmp_path, clicks(ALLOW), replies=replies, events=True) as (
        server,
        acts,
        watched,
    ):
        await server.watch(watched)
        open_question = server.send(watched, "go")
        await server.fact("approval/asked")
        other = await server.open()
        await server.turn(other, "go")
        assert acts.ran == 1
        assert decided(server, other) == [("allowed", "prompt")]
        assert decided(server, watched) == []
        open_question.cancel()


# What is asked, and what can be clicked.


async def test_the_titles_stand_in_their_order_and_the_message_says_what(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW)) as (server, _, session_id):
        await server.turn(session_id, "go")
        assert server.editor.screen.prompts == [
            ("Turnbuckle wants to run: make", [SHOW, ALLOW, ALLOW_SESSION, REJECT])
        ]


async def test_a_command_in_another_folder_says_which(tmp_path: Path) -> None:
    acts = Acts(tmp_path)
    elsewhere = tmp_path / "work" / "sub"
    acts.subject = Command(command="make", cwd=uri_of(elsewhere), timeout=10)
    model = Scripted([say("", ACT), say("done")])
    async with served(model, tmp_path, tools=[acts.tool], answer=clicks(ALLOW)) as server:
        await server.turn(await server.open(), "go")
        ((message, _),) = server.editor.screen.prompts
        assert message == f"Turnbuckle wants to run in {elsewhere}: make"


@pytest.mark.parametrize(
    ("command", "spelt"),
    [
        ("make\nrm -rf .", "\\u{a}"),
        ("make\rrm", "\\u{d}"),
        ("echo \u202egnp.exe", "\\u{202e}"),
        ("echo a\u200bb", "\\u{200b}"),
        ("rm\u00a0-rf", "\\u{a0}"),
        ("echo \u3164", "\\u{3164}"),
        ("\x1b[2K", "\\u{1b}"),
        ("x" * 201, "x" * 100),
    ],
)
async def test_what_is_not_plain_is_allowed_only_after_it_was_shown(
    tmp_path: Path, command: str, spelt: str
) -> None:
    async with asking(tmp_path, clicks(SHOW, ALLOW), command=command) as (server, acts, session_id):
        await server.turn(session_id, "go")
        (first, second) = server.editor.screen.prompts
        assert first[1] == [SHOW, REJECT]
        assert second[1] == [SHOW, ALLOW, ALLOW_SESSION, REJECT]
        assert spelt in first[0]
        (shown,) = server.editor.screen.of("window/showDocument")
        path = path_of(shown["uri"])
        assert path is not None
        text = path.read_text(encoding="utf-8")
        assert all(character.isprintable() or character in "\n\t" for character in text)
        assert acts.ran == 1


async def test_two_hundred_characters_are_still_plain(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), command="x" * 195) as (server, _, session_id):
        await server.turn(session_id, "go")
        assert server.editor.screen.prompts[0][1] == [SHOW, ALLOW, ALLOW_SESSION, REJECT]


async def test_a_change_is_allowed_only_after_it_was_shown(tmp_path: Path) -> None:
    replies = [
        say("", ("1", "write_file", {"path": "a.txt", "content": "one\ntwo\n"})),
        say("done"),
    ]
    async with asking(tmp_path, clicks(SHOW, ALLOW), replies=replies) as (server, _, session_id):
        await server.turn(session_id, "go")
        (first, second) = server.editor.screen.prompts
        assert first == ("Turnbuckle wants to edit a.txt (new file) +2 −0", [SHOW, REJECT])
        assert second[1] == [SHOW, ALLOW, ALLOW_SESSION, REJECT]
        assert (server.work / "a.txt").read_text() == "one\ntwo\n"
        (shown,) = server.editor.screen.of("window/showDocument")
        path = path_of(shown["uri"])
        assert path is not None
        assert path.suffix == ".diff"
        assert "+one\n+two\n" in path.read_text()


async def test_what_could_not_be_shown_is_not_offered(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(SHOW, REJECT), command="make\n" + "x" * 3_000) as (
        server,
        acts,
        session_id,
    ):

        async def no(_: object) -> Json:
            return {"success": False}

        server.client.on_request("window/showDocument", no)
        await server.turn(session_id, "go")
        assert [titles for _, titles in server.editor.screen.prompts] == [[SHOW, REJECT]] * 2
        assert "[…]" in server.editor.screen.messages[0]
        assert acts.ran == 0


async def test_a_click_on_what_was_not_offered_is_no_yes(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), command="make\nrm") as (server, acts, session_id):
        await server.turn(session_id, "go")
        assert acts.ran == 0
        assert decided(server, session_id) == [("rejected", "prompt")]


async def test_what_two_windows_show_never_has_one_name(tmp_path: Path) -> None:
    shown_as: list[str] = []
    for _ in range(2):
        async with asking(tmp_path, clicks(SHOW, REJECT)) as (server, _acts, session_id):
            await server.turn(session_id, "go")
            shown_as += [shown["uri"] for shown in server.editor.screen.of("window/showDocument")]
    assert len(set(shown_as)) == 2


async def test_what_was_shown_is_removed_with_the_connection(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(SHOW, REJECT)) as (server, _, session_id):
        await server.turn(session_id, "go")
        assert len(list((server.state / "shown").iterdir())) == 1
        await server.client.shutdown()
    assert list((tmp_path / "state" / "shown").iterdir()) == []


# Keys in flight.


async def test_no_prompt_comes_while_the_person_types(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), quiet=3600) as (server, acts, session_id):
        server.editor.open("untitled:a", "")
        server.editor.type("untitled:a", 0, 0, "y")
        question = server.send(session_id, "go")
        (approval_id,) = await pending(server, session_id)
        await settled()
        assert server.editor.screen.prompts == []
        assert await server.approve(approval_id, decision="allow")
        await server.answer(question)
        assert server.editor.screen.prompts == []
        assert acts.ran == 1


async def test_a_prompt_comes_at_once_where_nobody_typed(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), quiet=3600) as (server, acts, session_id):
        server.editor.open("untitled:a", "")
        await server.turn(session_id, "go")
        assert acts.ran == 1


async def test_a_prompt_comes_after_a_quiet_moment(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), quiet=0.02) as (server, acts, session_id):
        server.editor.open("untitled:a", "")
        server.editor.type("untitled:a", 0, 0, "y")
        await server.turn(session_id, "go")
        assert acts.ran == 1


# What is no yes.

NOT_A_YES: list[object] = [
    None,
    {"title": "Allow"},
    {"title": "allow once"},
    {"title": REJECT},
    {"title": "Show"},
    {"title": ""},
    {"title": None},
    {"title": [ALLOW]},
    {},
    [],
    [{"title": ALLOW}],
    ALLOW,
    True,
    1,
]


@pytest.mark.parametrize("answer", NOT_A_YES, ids=repr)
async def test_nothing_but_the_title_that_allows_is_a_yes(tmp_path: Path, answer: object) -> None:
    async def said(_: object) -> object:
        return answer

    await check_denied(tmp_path, said)


async def test_an_error_is_no_yes(tmp_path: Path) -> None:
    async def refuse(_: object) -> object:
        raise Refused("no such window")

    outcomes = await check_denied(tmp_path, refuse)
    assert outcomes == [("unavailable", "prompt")]


async def check_denied(
    folder: Path, handler: Callable[[Any], Awaitable[object]]
) -> list[tuple[str, str]]:
    async with asking(folder, clicks()) as (server, acts, session_id):
        server.client.on_request("window/showMessageRequest", handler)
        result = await server.turn(session_id, "go")
        assert result.end["kind"] == "completed"
        (denied,) = results(server, session_id)
        assert (denied.code, acts.ran) == ("DENIED", 0)
        return decided(server, session_id)


async def test_a_dismissed_prompt_is_a_rejection(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(None)) as (server, acts, session_id):
        await server.turn(session_id, "go")
        assert decided(server, session_id) == [("rejected", "prompt")]
        assert "said no" in results(server, session_id)[0].content
        assert acts.ran == 0


# First answer wins.


class Stays:
    """A prompt that stays on the screen when it is cancelled, and is clicked late."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.up = anyio.Event()
        self.cancelled = anyio.Event()
        self.late = anyio.Event()

    async def __call__(self, _: object) -> Json:
        self.up.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            with anyio.move_on_after(10, shield=True):
                await self.late.wait()
        return {"title": self.title}


async def test_a_prompt_is_cancelled_when_the_question_is_settled_elsewhere(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks()) as (server, acts, session_id):
        prompt = Stays(ALLOW)
        server.client.on_request("window/showMessageRequest", prompt)
        question = server.send(session_id, "go")
        await prompt.up.wait()
        (approval_id,) = await pending(server, session_id)
        assert await server.approve(approval_id, decision="reject", note="use ninja")
        await prompt.cancelled.wait()
        prompt.late.set()
        result = await server.answer(question)
        await settled()
        # The late click changed nothing, and the person is told so.
        (told,) = server.editor.screen.messages
        assert "settled already" in told
        assert not await server.approve(approval_id, decision="allow")
        assert decided(server, session_id) == [("rejected", "client")]
        assert (result.end["kind"], acts.ran) == ("completed", 0)
        assert server.connection.questions._open == {}


async def test_there_is_one_prompt_at_a_time(tmp_path: Path) -> None:
    up = most = 0

    async def prompt(_: object) -> Json:
        nonlocal up, most
        up += 1
        most = max(most, up)
        await settled()
        up -= 1
        return {"title": ALLOW}

    acts = Acts(tmp_path, mode="parallel")
    model = Scripted([say("", *((f"{number}", "act", {}) for number in range(3))), say("done")])
    async with served(model, tmp_path, tools=[acts.tool]) as server:
        server.client.on_request("window/showMessageRequest", prompt)
        session_id = await server.open()
        question = server.send(session_id, "go")
        assert len(await pending(server, session_id, 3)) == 3
        await server.answer(question)
        assert (acts.ran, most) == (3, 1)


async def test_cancelling_the_turn_withdraws_the_prompt(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks()) as (server, acts, session_id):
        prompt = Stays(ALLOW)
        server.client.on_request("window/showMessageRequest", prompt)
        question = server.send(session_id, "go")
        await prompt.up.wait()
        await server.client.request("turnbuckle/cancel", {"sessionId": session_id})
        result = await server.answer(question)
        await prompt.cancelled.wait()
        prompt.late.set()
        await settled()
        assert "settled already" in server.editor.screen.messages[0]
        assert result.end == {"kind": "aborted", "cause": "user"}
        assert decided(server, session_id) == [("cancelled", "turn")]
        assert results(server, session_id)[0].code == "ABORTED_BEFORE_DISPATCH"
        assert acts.ran == 0


async def test_a_connection_that_is_lost_is_no_yes(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks()) as (server, acts, session_id):
        server.send(session_id, "go")
        await server.editor.screen.until(lambda: server.editor.screen.prompts)
    (log,) = (tmp_path / "state" / "sessions").glob("**/*.jsonl")
    facts = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    (outcome,) = [f["data"]["outcome"] for f in facts if f["type"] == "approval/decided"]
    assert outcome in ("unavailable", "cancelled")
    assert facts[-1]["type"] == "turn/end"
    assert facts[-1]["data"]["end"]["kind"] == "aborted"
    assert acts.ran == 0


async def test_nothing_is_kept_of_a_question_that_is_settled(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(SHOW, ALLOW)) as (server, _, session_id):
        await server.turn(session_id, "go")
        await settled()
        prompts = server.wirings[0].prompts
        assert (prompts._attended, prompts._shown) == ({}, set())


# Answers of a client.


async def test_the_note_of_a_rejection_reaches_the_model(tmp_path: Path) -> None:
    model = Scripted([say("", ACT), say("done")])
    acts = Acts(tmp_path)
    async with served(model, tmp_path, tools=[acts.tool], events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        question = server.send(session_id, "go")
        asked = await server.fact("approval/asked")
        assert await server.approve(asked["approvalId"], decision="reject", note="use ninja")
        await server.answer(question)
        assert server.facts("approval/decided")[0]["note"] == "use ninja"
    (result,) = [m for m in model.requests[1].messages if isinstance(m, ToolResult)]
    assert "use ninja" in result.content


async def test_hunks_are_decided_one_by_one_and_each_once(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("".join(f"{n}\n" for n in range(20)))
    edits = [{"old": "2\n3\n", "new": "2\nthree\n"}, {"old": "17\n18\n", "new": "17\nlate\n"}]
    replies = [
        say("", ("1", "read_file", {"path": "a.txt"})),
        say("", ("2", "edit_file", {"path": "a.txt", "edits": edits})),
        say("done"),
    ]
    async with asking(tmp_path, clicks(), replies=replies, events=True) as (server, _, session_id):
        await server.watch(session_id)
        question = server.send(session_id, "go")
        asked = await server.fact("approval/asked")
        approval_id = asked["approvalId"]
        (first, second) = [h["hunkId"] for h in asked["subject"]["files"][0]["hunks"]]
        assert not await server.approve(approval_id, hunks={"nonsense": True})
        assert await server.approve(approval_id, hunks={first: True})
        assert not await server.approve(approval_id, hunks={first: False})
        assert await server.approve(approval_id, hunks={second: False}, note="keep 18")
        await server.answer(question)
        text = (server.work / "a.txt").read_text()
        assert "three" in text
        assert "late" not in text
        assert "keep 18" in results(server, session_id)[1].content
        assert [h["decision"] for h in server.facts("approval/hunk")] == ["accepted", "rejected"]


async def test_an_answer_to_no_open_question_is_not_accepted(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW)) as (server, _, session_id):
        assert not await server.approve("nonsense", decision="allow")
        await server.turn(session_id, "go")
        assert not await server.approve("nonsense", hunks={"x": True})


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "approvalId"),
        ({"approvalId": "a"}, "one of decision, hunks and answer"),
        (
            {"approvalId": "a", "decision": "allow", "hunks": {"h": True}},
            "one of decision, hunks and answer",
        ),
        ({"approvalId": "a", "hunks": {}}, "one of decision, hunks and answer"),
        ({"approvalId": "a", "decision": "yes"}, "decision"),
        ({"approvalId": "a", "decision": "reject", "remember": "session"}, "remember"),
        ({"approvalId": "a", "decision": "allow", "answer": "x"}, "one of"),
        ({"approvalId": "a", "decision": "reject", "edits": {"u": "t"}}, "edits"),
    ],
)
async def test_a_wrong_answer_is_refused_by_name(tmp_path: Path, params: Json, said: str) -> None:
    async with asking(tmp_path, clicks()) as (server, _, _session_id):
        with pytest.raises(ServerRefused, match=said) as caught:
            await server.client.request("turnbuckle/approve", params)
        assert caught.value.code == INVALID_PARAMS


# Asked again.


async def test_the_command_asks_again_in_place_of_the_prompt_that_is_up(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks()) as (server, acts, session_id):
        first, second = Stays(REJECT), Stays(ALLOW)
        server.client.on_request("window/showMessageRequest", first)
        question = server.send(session_id, "go")
        await first.up.wait()
        server.client.on_request("window/showMessageRequest", second)
        assert (await server.editor.execute("turnbuckle.approve"))["outcome"] == "shown"
        await first.cancelled.wait()
        await second.up.wait()
        first.late.set()
        await settled()
        assert decided(server, session_id) == []
        (told,) = server.editor.screen.messages
        assert "asked again" in told
        (approval_id,) = await pending(server, session_id)
        shown = await server.editor.execute("turnbuckle.approve", {"approvalId": approval_id})
        assert shown["outcome"] == "allowed"
        second.late.set()
        await server.answer(question)
        assert acts.ran == 1


async def test_the_command_asks_where_the_client_shows_events(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks(ALLOW), events=True) as (server, acts, session_id):
        await server.watch(session_id)
        question = server.send(session_id, "go")
        await server.fact("approval/asked")
        assert (await server.editor.execute("turnbuckle.approve"))["outcome"] == "shown"
        await server.answer(question)
        assert (acts.ran, decided(server, session_id)) == (1, [("allowed", "prompt")])


# What an answer of a client may hold.


async def question_of(server: Served, session_id: str) -> tuple[Any, str]:
    """Send a message, and give its request and the id of what it asks."""
    question = server.send(session_id, "go")
    return question, (await pending(server, session_id))[0]


async def test_a_client_answers_a_question_with_a_choice_or_with_words(tmp_path: Path) -> None:
    heard: list[str | None] = []

    async def body(_arguments: Json, go: Go) -> str:
        heard.append(go.answer)
        return "heard"

    ask = tool("act", body, subject=Question(question="Which?", choices=("a", "b")))
    model = Scripted([say("", ACT), say("", ACT), say("done")])
    async with served(model, tmp_path, tools=[ask], answer=clicks(), events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        question = server.send(session_id, "go")
        for number, answer in enumerate(("b", "neither"), 1):
            asked = await server.fact("approval/asked", number)
            assert asked["choices"] == ["answer", "reject"]
            assert asked["subject"]["choices"] == ["a", "b"]
            assert await server.approve(asked["approvalId"], answer=answer)
            assert not await server.approve(asked["approvalId"], answer="late")
        await server.answer(question)
        assert heard == ["b", "neither"]
        assert [fact["answer"] for fact in server.facts("approval/decided")] == heard


@pytest.mark.parametrize(
    ("subject", "answer", "said"),
    [
        (Question(question="?"), {"decision": "allow"}, "a question wants one"),
        (Question(question="?"), {"answer": "  "}, "must not be empty"),
        (None, {"answer": "x"}, "this is no question"),
        (None, {"decision": "allow", "edits": {"file:///x": "y"}}, "no file of this change"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays_open(
    tmp_path: Path, subject: Question | None, answer: Json, said: str
) -> None:
    acts = Acts(tmp_path)
    act = tool("act", lambda *_: done(), subject=subject) if subject else acts.tool
    model = Scripted([say("", ACT), say("done")])
    async with served(model, tmp_path, tools=[act], answer=clicks()) as server:
        session_id = await server.open()
        question, approval_id = await question_of(server, session_id)
        with pytest.raises(ServerRefused, match=said) as caught:
            await server.approve(approval_id, **answer)
        assert caught.value.code == INVALID_PARAMS
        assert len(server.opened(session_id).agent.approvals.pending) == 1
        assert await server.approve(approval_id, decision="reject")
        await server.answer(question)
        assert acts.ran == 0


async def done() -> str:
    return "done"


async def test_edits_reach_the_call_under_the_name_that_the_change_has(tmp_path: Path) -> None:
    seen: list[Json] = []

    async def body(_arguments: Json, go: Go) -> str:
        seen.append(dict(go.verdict().edits))
        return "changed"

    file = make_change("file:///w/a%20b.txt", "", "theirs\n", "create")
    act = tool("act", body, subject=Change(files=(file,)))
    model = Scripted([say("", ACT), say("done")])
    async with served(model, tmp_path, tools=[act], answer=clicks()) as server:
        session_id = await server.open()
        question, approval_id = await question_of(server, session_id)
        edits = {"file:///w/a b.txt": "mine\n"}
        assert await server.approve(approval_id, decision="allow", edits=edits)
        await server.answer(question)
        assert seen == [{"file:///w/a%20b.txt": "mine\n"}]


# For the session.


async def test_a_client_allows_for_the_session_lists_that_and_takes_it_back(
    tmp_path: Path,
) -> None:
    replies = [say("", ACT), say("done")] * 3
    async with asking(tmp_path, clicks(), replies=replies, events=True) as (server, acts, first):
        await server.watch(first)
        question, approval_id = await question_of(server, first)
        assert (await server.fact("approval/asked"))["choices"] == [
            "allow",
            "allowForSession",
            "reject",
        ]
        assert await server.approve(approval_id, decision="allow", remember="session")
        await server.answer(question)
        await server.turn(first, "again")
        assert acts.ran == 2
        assert len(server.facts("approval/asked")) == 1

        (grant,) = (await server.client.request(names.GRANTS, {"sessionId": first})).grants
        added = server.facts("grant/added")[0]
        assert added == {"grantId": grant.grant_id, "subject": grant.subject}
        assert grant.subject["command"] == "make"
        assert grant.since > 1_600_000_000_000

        about = {"sessionId": first, "grantId": grant.grant_id}
        assert (await server.client.request(names.GRANTS_REVOKE, about)).revoked
        assert not (await server.client.request(names.GRANTS_REVOKE, about)).revoked
        assert (await server.client.request(names.GRANTS, {"sessionId": first})).grants == ()
        question, approval_id = await question_of(server, first)
        assert await server.approve(approval_id, decision="reject")
        await server.answer(question)
        assert acts.ran == 2


async def test_a_grant_of_one_session_is_none_of_another(tmp_path: Path) -> None:
    replies = [say("", ACT), say("done")] * 2
    async with asking(tmp_path, clicks(ALLOW_SESSION, REJECT), replies=replies) as (
        server,
        acts,
        first,
    ):
        await server.turn(first, "go")
        await server.turn(await server.open(), "go")
        assert acts.ran == 1
        assert len(server.editor.screen.prompts) == 2


async def test_grants_of_a_session_that_is_not_open_are_refused(tmp_path: Path) -> None:
    async with asking(tmp_path, clicks()) as (server, _, _session_id):
        for method, more in ((names.GRANTS, {}), (names.GRANTS_REVOKE, {"grantId": "x"})):
            with pytest.raises(ServerRefused, match="no session"):
                await server.client.request(method, {"sessionId": "nonsense", **more})


async def test_the_command_says_where_the_session_cannot_be_remembered(tmp_path: Path) -> None:
    replies = [say("", ("1", "write_file", {"path": "AGENTS.md", "content": "x\n"})), say("done")]
    async with asking(tmp_path, clicks(), replies=replies) as (server, _, session_id):
        question, approval_id = await question_of(server, session_id)
        about = {"approvalId": approval_id, "remember": "session"}
        outcome = await server.editor.execute("turnbuckle.approve", about)
        assert outcome == {
            "outcome": "allowed", "message": "this is asked about each time: allowed once",
        }  # fmt: skip
        await server.answer(question)
        assert (server.work / "AGENTS.md").exists()
        assert server.opened(session_id).agent.approvals.grants == ()


# By rule, as the whole server is set up.


async def test_rules_of_the_configuration_are_heeded(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[approvals.commands]\nallow = ["make"]\ndeny = ["make clean"]\n'
        '[approvals.writes]\nallow = ["src"]\n'
    )
    write = ("2", "write_file", {"path": "src/a.txt", "content": "x\n"})
    replies = [say("", ACT), say("", write), say("done")]
    async with asking(tmp_path, clicks(), replies=replies) as (server, acts, session_id):
        await server.turn(session_id, "go")
        assert server.editor.screen.prompts == []
        assert acts.ran == 1
        assert (server.work / "src" / "a.txt").exists()
    async with asking(tmp_path, clicks(ALLOW), command="make -j clean") as (server, acts, again):
        await server.turn(again, "go")
        assert (acts.ran, server.editor.screen.prompts) == (0, [])
        assert "rule 'make clean' forbids" in results(server, again)[0].content


async def test_where_the_settings_are_wrong_no_rule_allows(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[approvals.commands]\nallow = ["make", "\'"]\n')
    async with asking(tmp_path, clicks(REJECT)) as (server, acts, session_id):
        assert "approvals.commands.allow" in server.editor.screen.messages[0]
        await server.turn(session_id, "go")
        assert acts.ran == 0
        assert len(server.editor.screen.prompts) == 1


async def test_our_own_configuration_is_asked_about_each_time(tmp_path: Path) -> None:
    """Even where it lies in the workspace, and everything in there may be written."""
    (tmp_path / "work").mkdir()
    own = tmp_path / "work" / "config.toml"
    own.write_text('[approvals.writes]\nallow = ["*", "."]\n')
    replies = [
        say("", ("1", "write_file", {"path": "a.txt", "content": "x\n"})),
        say("", ("2", "read_file", {"path": "config.toml"})),
        say("", ("3", "write_file", {"path": "config.toml", "content": ""})),
        say("done"),
    ]
    environment = {"TURNBUCKLE_CONFIG": str(own)}
    async with asking(tmp_path, clicks(REJECT), replies=replies, env=environment) as (
        server,
        _,
        session_id,
    ):
        await server.turn(session_id, "go")
        assert (server.work / "a.txt").exists()
        ((said, _),) = server.editor.screen.prompts
        assert "it belongs to Turnbuckle's own configuration" in said
        assert own.read_text()


async def test_in_a_workspace_that_is_not_trusted_nothing_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[approvals.commands]\nallow = ["make"]\n')
    options = {"turnbuckle": {"trusted": False}}
    async with asking(tmp_path, clicks(ALLOW), options=options) as (server, acts, session_id):
        with pytest.raises(ServerRefused, match="not trusted"):
            await server.turn(session_id, "go")
        assert (acts.ran, server.editor.screen.prompts) == (0, [])
