"""Answers, transcripts and prompts fetch nothing by themselves, and name what they link to."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from turnbuckle.agent.pending import Pending
from turnbuckle.lsp.titles import ALLOW, message, titles
from turnbuckle.session.markdown import code, fenced, folded, prose, quoted
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.strategies import soak
from turnbuckle.tools.subject import Command, Question, Subject
from turnbuckle.workspace.paths import path_of, uri_of

PIECES = (
    "![x](http://h.invalid/p.png)", "![x][r]", "\n[r]: http://h.invalid/p\n", "[r]", "![", "](", ")",
    "<img src=http://h.invalid/p>", "<img\nsrc='//h.invalid/p'>", "<svg onload=x>", "<iframe src=x>",
    "<link rel=stylesheet href=//h.invalid>", "<style>@import url(//h.invalid)</style>",
    "<video poster=//h.invalid/p>", "[a](//h.invalid)", "[a](command:rm)", "[a](file:///etc/x)",
    "[a](src/a.py)", "[a](<http://h.invalid>)", "[a](\thttp://h.invalid)", "<http://h.invalid>",
    "[a]:\n  http://h.invalid\n", "> ", "- ", "```\n", "~~~\n", "`", "\\", "\n", "\r", "\n\n", " ", "\t",
    "text", "<", ">", "!", "[", "]", "(", "&#33;", "&lt;", "1. ", "    ", "<!--", "-->", "<details>",
    "http://h.invalid/x", "javascript:x", "data:text/html,x", "\u200b", "|", "---\n",
)  # fmt: skip

texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
reader = MarkdownIt("commonmark", {"html": True})

LOADING = re.compile(
    r"<\s*/?\s*(img|svg|iframe|frame|link|style|script|video|audio|source|object|embed|image|base|meta|body|form|input)\b",
    re.IGNORECASE,
)


def flat(tokens: list[Token]) -> list[Token]:
    found = []
    for token in tokens:
        found += [token, *flat(token.children or [])]
    return found


def fetched(text: str) -> list[str]:
    """What a viewer of Markdown would fetch of a text, or hide behind a name."""
    found = []
    for token in flat(reader.parse(text)):
        target = str(token.attrs.get("href", token.attrs.get("src", "")))
        if token.type == "image" or (
            token.type == "link_open" and re.match(r"[a-z]+:|//|\\", target)
        ):
            found.append(f"{token.type} {target}")
        if token.type.startswith("html") and LOADING.search(token.content):
            found.append(token.content)
    return found


@settings(max_examples=soak(500), deadline=None)
@given(texts)
def test_a_text_of_others_in_a_transcript_fetches_nothing(text: str) -> None:
    for made in (prose(text), quoted(text), fenced(text), code(text), folded(text, prose(text))):
        assert fetched(made) == [], made


def test_what_is_looked_for_is_found_where_nothing_is_done() -> None:
    assert len(fetched("![x](http://h.invalid/p.png)\n\n[a](//h.invalid)\n\n<img src=x>")) == 3


@pytest.mark.parametrize(
    "text", ["echo [ok](command:workbench.x)", "[ls](https://h.invalid/;rm)", "a]("]
)
def test_no_prompt_hides_a_part_of_itself_behind_a_name(text: str) -> None:
    subjects: list[Subject] = [
        Command(command=text, cwd=uri_of(Path("/w")), timeout=5),
        Question(question=text, choices=()),
    ]
    for subject in subjects:
        asked = Pending("0" * 32, subject, "it is a question", {})
        assert "](" not in message(asked, Path("/w"), 0)
        assert ALLOW not in titles(asked, Path("/w"), shown=False)


async def test_a_transcript_of_a_hostile_answer_fetches_nothing(tmp_path: Path) -> None:
    answer = "\n\n".join(PIECES)
    call = ("1", "read_file", {"path": "a.md"})
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.md").write_text(answer)
    async with served(Scripted([say(answer, call), say(answer)]), tmp_path) as server:
        await server.editor.ask(answer)
        screen = server.editor.screen
        shown = await screen.until(lambda: screen.of("window/showDocument"))
        path = path_of(shown[-1]["uri"])
        assert path is not None
        assert "h.invalid" in path.read_text("utf-8")
        assert fetched(path.read_text("utf-8")) == []
