"""What a prompt offers and what a click on it means: choices, the session, and what stays hidden."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.agent.approvals import Pending
from turnbuckle.lsp.prompts import ALLOW, ALLOW_SESSION, NO_ANSWER, REJECT, SHOW
from turnbuckle.lsp.titles import DISMISSED, TITLE_LIMIT, message, titles
from turnbuckle.session.events import ApprovalDecided, GrantAdded
from turnbuckle.testing.editor import HANG, Answer
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.subject import Command, Question, Subject
from turnbuckle.tools.tool import ExecutionMode, Go, Tool
from turnbuckle.workspace.paths import path_of, uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

COLOURS = Question(question="Which colour?", choices=("red", "green"))


def asks(subject: Subject, mode: ExecutionMode = "exclusive") -> Tool[Any]:
    """A tool that gives back the answer it got."""

    async def body(_arguments: Json, go: Go) -> str:
        return f"got {go.answer}"

    return tool("act", body, subject=subject, mode=mode)


def asking(
    folder: Path, subject: Subject, answer: Answer, turns: int = 1, **how: Any
) -> AbstractAsyncContextManager[Served]:
    replies = [say("", ("1", "act", {})), say("done")] * turns
    return served(Scripted(replies), folder, tools=[asks(subject)], answer=answer, **how)


def clicks(*titles: str | None) -> Answer:
    left = list(titles)
    return lambda _message, _titles: left.pop(0) if left else HANG


def make(folder: Path) -> Command:
    return Command(command="make", cwd=uri_of(folder / "work"), timeout=10)


def decided(server: Served, session_id: str) -> list[ApprovalDecided]:
    entries = server.opened(session_id).session.log.entries
    return [entry.fact for entry in entries if isinstance(entry.fact, ApprovalDecided)]


async def pending(server: Served, session_id: str, count: int = 1) -> list[str]:
    approvals = server.opened(session_id).agent.approvals
    while len(approvals.pending) < count:
        await anyio.lowlevel.checkpoint()
    return [one.approval_id for one in approvals.pending]


def answers(server: Served, session_id: str) -> list[str]:
    """What each call came to."""
    log = server.opened(session_id).session.log.entries
    return [entry.fact.content for entry in log if entry.fact.type == "tool/result"]  # type: ignore[union-attr] # it is


# -- questions -----------------------------------------------------------------------------------


async def test_a_question_shows_its_choices_as_titles(tmp_path: Path) -> None:
    async with asking(tmp_path, COLOURS, clicks("green")) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
        assert server.editor.screen.prompts == [
            ("Turnbuckle asks: Which colour?", [SHOW, "red", "green", NO_ANSWER])
        ]
        assert answers(server, session_id) == ["got green"]
        (fact,) = decided(server, session_id)
        assert (fact.outcome, fact.answer, fact.by) == ("allowed", "green", "prompt")


@pytest.mark.parametrize("click", [None, NO_ANSWER, "blue", ALLOW, "Red", ""])
async def test_what_is_no_choice_is_no_answer(tmp_path: Path, click: str | None) -> None:
    async with asking(tmp_path, COLOURS, clicks(click)) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
        (fact,) = decided(server, session_id)
        assert (fact.outcome, fact.answer) == ("rejected", None)
        assert "got" not in answers(server, session_id)[0]


async def test_a_question_without_choices_waits_for_words(tmp_path: Path) -> None:
    subject = Question(question="What name?")
    async with asking(tmp_path, subject, clicks()) as server:
        session_id = await server.open()
        question = server.send(session_id, "go")
        await server.editor.screen.until(lambda: server.editor.screen.prompts)
        assert server.editor.screen.prompts[0][1] == [SHOW, NO_ANSWER]
        (approval_id,) = await pending(server, session_id)
        about = {"approvalId": approval_id, "answer": "Ada"}
        assert (await server.editor.execute("turnbuckle.approve", about))["outcome"] == "allowed"
        await server.answer(question)
        assert answers(server, session_id) == ["got Ada"]


async def test_the_command_cannot_say_yes_to_a_question(tmp_path: Path) -> None:
    async with asking(tmp_path, COLOURS, clicks()) as server:
        session_id = await server.open()
        question = server.send(session_id, "go")
        (approval_id,) = await pending(server, session_id)
        shown = await server.editor.execute("turnbuckle.approve", {"approvalId": approval_id})
        assert shown["outcome"] == "shown"
        assert decided(server, session_id) == []
        await server.approve(approval_id, answer="red")
        await server.answer(question)


async def test_a_question_that_does_not_read_plainly_shows_no_choice_at_first(
    tmp_path: Path,
) -> None:
    subject = Question(question="Which?\nThis \u202eone", choices=("a", "b\u200b"))
    async with asking(tmp_path, subject, clicks(SHOW, "a")) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
        first, second = server.editor.screen.prompts
        assert first[1] == [SHOW, NO_ANSWER]
        assert second[1] == [SHOW, "a", "b\\u{200b}", NO_ANSWER]
        (shown,) = server.editor.screen.of("window/showDocument")
        path = path_of(shown["uri"])
        assert path is not None
        assert path.read_text() == "Which?\nThis \\u{202e}one\n\n- a\n- b\\u{200b}\n"
        assert answers(server, session_id) == ["got a"]


def opened(subject: Subject, *, reason: str = "it is a question", grants: int = 0) -> Pending:
    return Pending("id", subject, reason, {}, grants=({},) * grants)


@given(st.lists(st.text(max_size=80), max_size=6, unique=True), st.text(max_size=30), st.booleans())
def test_each_title_means_one_choice_and_none_is_one_of_ours(
    choices: list[str], question: str, shown: bool
) -> None:
    asked = opened(Question(question=question, choices=(*choices, ALLOW, SHOW, NO_ANSWER)))
    offered = titles(asked, None, shown=shown)
    order = list(offered)
    assert order[0] == SHOW
    assert order[-1] == NO_ANSWER
    assert offered[SHOW] is None
    assert offered[NO_ANSWER] == DISMISSED
    means = [click.answer for click in offered.values() if click and click.allow]
    assert means in ([*choices, ALLOW, SHOW, NO_ANSWER], [])
    assert means or not shown
    assert all(len(title) <= TITLE_LIMIT + 6 and title.isprintable() for title in order)


# -- for the session -----------------------------------------------------------------------------


async def test_what_was_allowed_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    async with asking(tmp_path, make(tmp_path), clicks(ALLOW_SESSION), turns=2) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
        await server.turn(session_id, "again")
        assert len(server.editor.screen.prompts) == 1
        assert answers(server, session_id) == ["got None"] * 2
        (fact,) = decided(server, session_id)
        assert (fact.outcome, fact.remember) == ("allowed", "session")


async def test_allowed_once_is_asked_again(tmp_path: Path) -> None:
    async with asking(tmp_path, make(tmp_path), clicks(ALLOW, REJECT), turns=2) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
        await server.turn(session_id, "again")
        assert [fact.outcome for fact in decided(server, session_id)] == ["allowed", "rejected"]


async def test_what_is_asked_each_time_has_no_title_for_the_session(tmp_path: Path) -> None:
    change = ("1", "write_file", {"path": ".github/workflows/ci.yml", "content": "x\n"})
    replies = [say("", change), say("done")]
    async with served(Scripted(replies), tmp_path, answer=clicks(SHOW, REJECT)) as server:
        await server.turn(await server.open(), "go")
        first, second = server.editor.screen.prompts
        assert "workflows/ci.yml is among what a build server runs" in first[0]
        assert first[1] == [SHOW, REJECT]
        assert second[1] == [SHOW, ALLOW, REJECT]


async def test_a_click_for_the_session_that_was_not_offered_is_no_yes(tmp_path: Path) -> None:
    read = ("1", "read_file", {"path": ".env"})
    async with served(
        Scripted([say("", read), say("done")]), tmp_path, answer=clicks(ALLOW_SESSION)
    ) as server:
        (server.work / ".env").write_text("KEY=1\n")
        session_id = await server.open()
        await server.turn(session_id, "go")
        ((said, offered),) = server.editor.screen.prompts
        assert ".env looks as if it held credentials, which is asked about each time" in said
        assert offered == [SHOW, ALLOW, REJECT]
        assert [fact.outcome for fact in decided(server, session_id)] == ["rejected"]
        log = server.opened(session_id).session.log.entries
        assert not any(isinstance(entry.fact, GrantAdded) for entry in log)


# -- several -------------------------------------------------------------------------------------


async def test_the_others_wait_and_are_counted(tmp_path: Path) -> None:
    act = asks(make(tmp_path), "parallel")
    replies = [say("", *((f"{n}", "act", {}) for n in range(3))), say("done")]
    free = anyio.Event()

    async with served(Scripted(replies), tmp_path, tools=[act]) as server:

        async def prompt(params: Json) -> Json:
            server.editor.screen.add("window/showMessageRequest", params)
            await free.wait()
            return {"title": ALLOW}

        server.client.on_request("window/showMessageRequest", prompt)
        session_id = await server.open()
        question = server.send(session_id, "go")
        await pending(server, session_id, 3)
        await server.editor.screen.until(lambda: server.editor.screen.prompts)
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        assert len(server.editor.screen.prompts) == 1
        free.set()
        await server.answer(question)
        said = [text for text, _ in server.editor.screen.prompts]
        assert said[1:] == [
            "Turnbuckle wants to run: make (1 more question waits)",
            "Turnbuckle wants to run: make",
        ]


def test_a_message_counts_what_waits() -> None:
    asked = opened(COLOURS)
    assert message(asked, None, 0) == "Turnbuckle asks: Which colour?"
    assert message(asked, None, 1) == "Turnbuckle asks: Which colour? (1 more question waits)"
    assert message(asked, None, 2) == "Turnbuckle asks: Which colour? (2 more questions wait)"


@given(st.text(), st.text(max_size=300), st.integers(0, 3))
def test_a_message_is_one_line_that_shows_all_its_characters(
    command: str, reason: str, waiting: int
) -> None:
    asked = opened(Command(command=command, cwd="file:///w", timeout=1), reason=reason)
    said = message(asked, None, waiting)
    assert said.isprintable()
    assert len(said) < 450
    assert (ALLOW in titles(asked, None, shown=False)) <= (command in said)


# -- the first answer wins -----------------------------------------------------------------------

Decide = Callable[[Served, str, bool], Awaitable[bool]]


async def by_client(server: Served, approval_id: str, allow: bool) -> bool:
    return await server.approve(approval_id, decision="allow" if allow else "reject")


async def by_command(server: Served, approval_id: str, allow: bool) -> bool:
    command = "turnbuckle.approve" if allow else "turnbuckle.reject"
    done = await server.editor.execute(command, {"approvalId": approval_id})
    return bool(done["outcome"] == ("allowed" if allow else "rejected"))


class Prompted:
    """A prompt that is clicked when the test says so, cancelled or not."""

    def __init__(self) -> None:
        self.up = anyio.Event()
        self.click = anyio.Event()
        self.title = REJECT

    async def __call__(self, _: object) -> Json:
        self.up.set()
        try:
            await self.click.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(10, shield=True):
                await self.click.wait()
        return {"title": self.title}

    async def decide(self, server: Served, approval_id: str, allow: bool) -> bool:
        before = self.click.is_set()
        self.title = ALLOW if allow else REJECT
        self.click.set()
        approvals = [o.agent.approvals for o in server.wirings[0].sessions.open_sessions]
        was_open = any(approval_id == p.approval_id for one in approvals for p in one.pending)
        for _ in range(200):
            await anyio.lowlevel.checkpoint()
        return was_open and not before


ORDERS = [
    (first, second)
    for first in ("prompt", "client", "command")
    for second in ("prompt", "client", "command")
]


@pytest.mark.parametrize("allow", [True, False])
@pytest.mark.parametrize(("first", "second"), ORDERS)
async def test_the_first_answer_wins(tmp_path: Path, first: str, second: str, allow: bool) -> None:
    async with asking(tmp_path, make(tmp_path), clicks()) as server:
        prompted = Prompted()
        server.client.on_request("window/showMessageRequest", prompted)
        ways: dict[str, Decide] = {
            "prompt": prompted.decide, "client": by_client, "command": by_command,
        }  # fmt: skip
        session_id = await server.open()
        question = server.send(session_id, "go")
        await prompted.up.wait()
        (approval_id,) = await pending(server, session_id)
        assert await ways[first](server, approval_id, allow)
        assert not await ways[second](server, approval_id, not allow)
        prompted.click.set()
        await server.answer(question)
        (fact,) = decided(server, session_id)
        assert fact.outcome == ("allowed" if allow else "rejected")
        assert fact.by == first


def by_lens(hunk_ids: Sequence[str]) -> Decide:
    async def decide(server: Served, _approval_id: str, allow: bool) -> bool:
        command = "turnbuckle.acceptHunk" if allow else "turnbuckle.rejectHunk"
        done = await server.editor.execute(command, {"hunkId": hunk_ids[0]})
        return bool(done["outcome"] == ("accepted" if allow else "rejected"))

    return decide


@pytest.mark.parametrize("allow", [True, False])
@pytest.mark.parametrize("first", ["lens", "client"])
async def test_a_lens_and_a_client_do_not_both_decide(
    tmp_path: Path, first: str, allow: bool
) -> None:
    write = ("1", "write_file", {"path": "a.txt", "content": "x\n"})
    async with served(Scripted([say("", write), say("done")]), tmp_path, answer=clicks()) as server:
        session_id = await server.open()
        question = server.send(session_id, "go")
        (approval_id,) = await pending(server, session_id)
        (one,) = server.opened(session_id).agent.approvals.pending
        ways = {"lens": by_lens(list(one.hunks)), "client": by_client}
        second = "client" if first == "lens" else "lens"
        assert await ways[first](server, approval_id, allow)
        assert not await ways[second](server, approval_id, not allow)
        await server.answer(question)
        assert (server.work / "a.txt").exists() == allow
