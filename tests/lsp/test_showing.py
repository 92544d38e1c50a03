"""What the person is shown: questions in words, transcripts that fetch nothing, and how."""

import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.asking.transcripts import answer_of, markdown
from turnbuckle.lsp.subjects import LINE_LIMIT, headline, is_plain, visible, whole
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    AssistantMessage,
    Fact,
    ToolCall,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.markdown import plain
from turnbuckle.session.parts import Call, End, Failure
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.tools.subject import Change, Command, Internal, Question, Read
from turnbuckle.workspace.changes import make_change
from turnbuckle.workspace.paths import Place, uri_of

# Questions in words.

HERE = Path("/work").absolute()
COMMAND = Command(command="make -j2", cwd=uri_of(HERE), timeout=30)


def place(name: str) -> Place:
    path = HERE / name
    return Place(uri=uri_of(path), path=path, shown=name, inside=False, secret=True)


def test_a_subject_is_a_line() -> None:
    one = make_change(uri_of(HERE / "a.py"), "one\ntwo\n", "one\n2\nthree\n", "edit")
    new = make_change(uri_of(HERE / "b.py"), "", "x\n", "create")
    assert headline(COMMAND) == "run: make -j2"
    assert headline(COMMAND, HERE) == "run: make -j2"
    assert headline(COMMAND, HERE / "sub") == f"run in {HERE}: make -j2"
    assert headline(Change(files=(one, new))) == "edit a.py +2 −1, b.py (new file) +1 −0"
    assert headline(Read(places=(place("a"), place(".env")))) == "read a, .env"
    assert headline(Question(question="Which one?")) == "Which one?"
    assert headline(Internal()) == "go on"


def test_all_of_a_subject_is_a_document() -> None:
    change = make_change(uri_of(HERE / "a.py"), "one\n", "two\n", "edit")
    text, ending = whole(Change(files=(change,)))
    assert ending == "diff"
    assert "-one\n+two\n" in text
    assert whole(COMMAND) == (f"# in {uri_of(HERE)}, for 30 seconds at most\nmake -j2\n", "sh")
    assert whole(Read(places=(place(".env"),))) == (
        f"{HERE / '.env'}  (outside the workspace, looks secret)\n",
        "txt",
    )
    assert whole(Question(question="Which one?")) == ("Which one?\n\n", "txt")


HIDDEN = ["\n", "\t", "\x00", "\x7f", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028",
          "\u00ad", "\u00a0", "\u3000", "\u3164", "\u115f", "\u2800", "\ufe0f", "\U000e0041",
          "\U000e0100", "\ue000", "\ud800"]  # fmt: skip


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
def test_what_does_not_show_is_spelt_out(character: str) -> None:
    assert not is_plain(f"a{character}b")
    assert visible(f"a{character}b") == f"a\\u{{{ord(character):x}}}b"


@pytest.mark.parametrize("text", ["", "ls -la 'ä ö' | wc", "日本語", "emoji 🦊", "a" * LINE_LIMIT])
def test_what_shows_is_plain(text: str) -> None:
    assert is_plain(text)
    assert visible(text) == text


@given(st.text())
def test_what_is_visible_shows(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)


# Transcripts.


def entries(*facts: Fact) -> list[Entry]:
    return [Entry(seq, 0, fact) for seq, fact in enumerate(facts)]


def test_a_transcript_is_what_was_said_and_done() -> None:
    call = Call(call_id="1", name="run_command", arguments='{"command":\n"make"}')
    told = entries(
        UserMessage(turn=1, step=1, content="file:///a.py", source="context"),
        UserMessage(turn=1, step=1, key="k", content="fix it\nplease"),
        AssistantMessage(turn=1, step=1, content="Looking.", tool_calls=(call,), finish="tool_calls"),
        ToolCall(turn=1, step=1, call_id="1", name=call.name, arguments=call.arguments),
        ApprovalAsked(approval_id="secret", call_id="1", subject={}, digest="d", choices=("allow",)),
        ToolResult(turn=1, step=1, call_id="1", content="<tool error: `no`>", is_error=True, code="DENIED"),
        AssistantMessage(turn=1, step=2, content="", finish="stop"),
        TurnEnd(turn=1, end=End(kind="error", failure=Failure(kind="auth", message="The key is wrong."))),
        UserMessage(turn=2, step=1, key="l", content="well?"),
        TurnEnd(turn=2, end=End(kind="aborted", cause="user")),
    )  # fmt: skip
    text = markdown("fix it", told)
    assert text == (
        "# fix it\n\n"
        "> fix it\n> please\n\n"
        "Looking.\n\n"
        '- `run_command` `{"command": "make"}`\n\n'
        "- failed: `<tool error: 'no'>`\n\n"
        "*error: The key is wrong.*\n\n"
        "> well?\n\n"
        "*aborted: user*\n"
    )
    assert "secret" not in text


def test_the_answer_of_a_turn_is_what_was_said_last_in_it() -> None:
    told = entries(
        AssistantMessage(turn=1, step=1, content="first", finish="tool_calls"),
        AssistantMessage(turn=1, step=2, content="last", finish="tool_calls"),
        AssistantMessage(turn=1, step=3, content="", finish="stop"),
        AssistantMessage(turn=2, step=1, content="other", finish="stop"),
    )
    assert answer_of(told, 1) == "last"
    assert answer_of(told, 3) == ""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![a](https://x.y/?q=secret)", "!\\[a]\\(https://x.y/?q=secret)"),
        ("![a[b]](x)", "!\\[a[b]](x)"),
        ("![a][r]", "!\\[a][r]"),
        ("[![a](b)](https://c)", "[!\\[a](b)]\\(https://c)"),
        ("[r]: https://x.y", "\\[r]: https://x.y"),
        ("> - 1. [r]: https://x.y", "> - 1. \\[r]: https://x.y"),
        ("a\r[r\\]s]: x", "a\r\\[r\\]s]: x"),
        ("[t](https://x.y)", "[t]\\(https://x.y)"),
        ("[t](//x.y)", "[t]\\(//x.y)"),
        ("[t]( javascript:x )", "[t]\\( javascript:x )"),
        ("[t](&#104;ttps://x)", "[t]\\(&#104;ttps://x)"),
        ("[t](command:x)", "[t]\\(command:x)"),
        ("<https://x.y>", "&lt;https://x.y>"),
        ("<img src=x>", "&lt;img src=x>"),
        ("<IMG/src=x>", "&lt;IMG/src=x>"),
        ("<div\nstyle=x>", "&lt;div\nstyle=x>"),
        ("<style>@import url(x)</style>", "&lt;style>@import url(x)&lt;/style>"),
        ("<!-- x -->", "&lt;!-- x -->"),
    ],
)
def test_a_transcript_fetches_nothing_and_hides_no_address(written: str, shown: str) -> None:
    assert plain(written) == shown


def test_nothing_in_a_transcript_fetches_anything() -> None:
    bad = "![a](https://x.y) <img src=z> [t](https://z)"
    told = entries(
        UserMessage(turn=1, step=1, content=bad),
        AssistantMessage(turn=1, step=1, content=bad, finish="stop"),
        TurnEnd(turn=1, end=End(kind="blocked", reason=bad)),
    )
    text = markdown(bad, told)
    assert text.count("!\\[a]\\(https://x.y) &lt;img src=z> [t]\\(https://z)") == 4
    assert "![" not in text


@pytest.mark.parametrize(
    "text",
    [
        "see [the code](src/a.py#L3)",
        "if a[0]: b[1](c)",
        "Vec<T> and HashMap<K, V>",
        "a < b",
        "# h\n- x",
    ],
)
def test_what_does_no_harm_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_what_the_model_names_cannot_leave_its_place() -> None:
    name = "x` ![a](https://x.y) `"
    call = ToolCall(turn=1, step=1, call_id="1", name=name, arguments="`![b](https://y.z)`\n\n# h")
    text = markdown(None, entries(call))
    assert text.count("`") == 4
    assert text.splitlines()[2:] == [
        "- `x' ![a](https://x.y) '` `'![b](https://y.z)' # h`",
    ]


@given(st.text("[]()!<>:/ab \n\\&", max_size=30))
def test_no_picture_and_no_remote_link_is_left(text: str) -> None:
    shown = plain(text)
    assert "![" not in shown
    assert "](a:" not in shown
    assert "](//" not in shown


# How.


async def test_a_document_that_cannot_be_written_becomes_a_message(tmp_path: Path) -> None:
    async with served(Scripted([say("It is fine.")]), tmp_path) as server:
        await server.open()
        (tmp_path / "state").mkdir(exist_ok=True)
        (tmp_path / "state" / "shown").write_text("in the way")
        await server.editor.ask("What of it?")
        screen = server.editor.screen
        (message,) = await screen.until(lambda: screen.messages)
        assert message == "# What of it?\n\n> What of it?\n\nIt is fine.\n"
        assert screen.of("window/showDocument") == []


async def test_a_document_that_the_client_does_not_show_becomes_a_message(tmp_path: Path) -> None:
    async def no(_: object) -> object:
        return {"success": False}

    async with served(Scripted([say("x" * 5_000)]), tmp_path) as server:
        server.client.on_request("window/showDocument", no)
        await server.editor.ask("What of it?")
        screen = server.editor.screen
        (message,) = await screen.until(lambda: screen.messages)
        assert message.endswith("x\n[…]")
        assert len(message) < 2_100


async def test_a_transcript_stays_and_is_for_the_person_only(tmp_path: Path) -> None:
    async with served(Scripted([say("It is fine.")]), tmp_path) as server:
        session_id = (await server.editor.ask("What of it?"))["sessionId"]
        await server.editor.screen.until(lambda: server.editor.screen.of("window/showDocument"))
        await server.client.shutdown()
    path = tmp_path / "state" / "shown" / f"{session_id}.md"
    assert "It is fine." in path.read_text()
    made = [path, *(tmp_path / "state").rglob("*"), tmp_path / "state"]
    assert len(made) > 5
    if sys.platform != "win32":
        assert [one for one in made if one.stat().st_mode & 0o077] == []
