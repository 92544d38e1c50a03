"""Comments that ask for something: found in comments only, whole, and in bounded time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.asking.comments import LARGE, MOST, SAID_LIMIT, Comment, Comments, find
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.rpc.late import types


def said(text: str, language: str = "python", word: str = "agent") -> list[str]:
    return [comment.said for comment in find(text, language, word)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "x = 1  # agent: do it\n"),
        ("shellscript", "# agent: do it"),
        ("yaml", "key: value # agent: do it\n"),
        ("rust", "fn f<'a>(x: &'a str) {} // agent: do it\n"),
        ("rust", "/// agent: do it\r\nfn f() {}\r\n"),
        ("c", "char c = '\"'; /* agent: do it */\n"),
        ("typescript", "const s = `http://x`; // agent: do it\n"),
        ("javascriptreact", "<p>{/* agent: do it */}</p>\n"),
        ("go", 's := `\n"` // agent: do it\n'),
        ("css", "/* agent: do it */\n"),
        ("lua", "-- agent: do it\n"),
        ("lua", "--[[ agent: do it ]]\n"),
        ("sql", "SELECT 'it''s'; -- agent: do it\n"),
        ("haskell", "x' = 1 {- agent: do it -}\n"),
        ("emacs-lisp", '(a ?\\" "b") ;; agent: do it\n'),
        ("latex", "50\\% % agent: do it\n"),
        ("html", "<p>agent: no</p><!-- agent: do it -->\n"),
        ("markdown", "# agent: no\n\n<!-- agent: do it -->\n"),
        ("vue", "<!-- agent: do it -->\n<script>\n</script>\n"),
        ("ini", "; agent: do it\n"),
        ("fsharp", "// agent: do it\n"),
        ("ocaml", '(* agent: do it *) let x = "(* agent: no *)"\n'),
        ("never heard of", "  ## agent: do it\n"),
        ("never heard of", "<!-- agent: do it -->\n"),
        ("PYTHON", "# agent: do it"),
    ],
)
def test_each_language_has_its_own_comments(language: str, text: str) -> None:
    (comment,) = find(text, language, "agent")
    assert comment.said == "do it"
    assert "agent: do it" in text[comment.start : comment.end]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 'x = "# agent: no"\n'),
        ("python", "x = '# agent: no'\n"),
        ("python", 'def f():\n    """Docs.\n\n    # agent: no\n    """\n'),
        ("python", "'''\n# agent: no\n'''\n"),
        ("python", '"""# agent: no, never closed\n# agent: no\n'),
        ("python", "agent: int = 1\n"),
        ("python", "# the agent: no\n# reagent: no\n# agent :no\n# agents: no\n"),
        ("python", "# agent:\n# agent: \n\n#agent:no\n"),
        ("javascript", "const s = `\n// agent: no\n`;\n"),
        ("go", "s := `\n// agent: no\n`\n"),
        ("c", 'char *s = "// agent: no \\" // agent: no";\n'),
        ("shellscript", "echo $# agent: no; echo a#agent: no\n"),
        ("emacs-lisp", '"\n; agent: no\n"\n'),
        ("markdown", "# agent: no\n* agent: no\n"),
        ("never heard of", "x # agent: no\n"),
        ("", ""),
    ],
)
def test_nothing_else_asks(language: str, text: str) -> None:
    assert said(text, language) == []


def test_the_lines_of_a_comment_belong_together() -> None:
    text = (
        "# About this.\n"
        "# agent: first\n"
        "#   goes on\n"
        "# agent: second\n"
        "#\n"
        "# not this\n"
        "    # agent: third\n"
        "    # more\n"
        "# not this, it stands elsewhere\n"
        "x = 1  # agent: fourth\n"
        "# not this either\n"
    )
    found = find(text, "python", "agent")
    assert [one.said for one in found] == ["first\ngoes on", "second", "third\nmore", "fourth"]
    assert text[found[0].start : found[0].end] == "# agent: first\n#   goes on"
    assert found[0].line == "first goes on"


def test_a_block_is_read_line_by_line_without_its_marks() -> None:
    text = "/**\n * Docs.\n *\n * agent: one\n *   two\n *\n * three\n */\nint x; /* agent: four"
    found = find(text, "c", "agent")
    assert [one.said for one in found] == ["one\ntwo", "four"]
    assert text[found[0].start : found[0].end] == "* agent: one\n *   two"
    assert said("<!--\r\nagent: a\r\nb -->", "html") == ["a\nb"]


def test_a_line_that_only_has_the_word_is_followed_by_what_is_asked() -> None:
    assert said("# agent:\n# do it\n") == ["do it"]


def test_the_word_can_be_another_one_or_none() -> None:
    assert said("# @ai: a\n# agent: b\n", word="@ai") == ["a\nagent: b"]
    assert said("# : a\n# agent: b\n", word="") == []


def test_much_is_found_in_part_and_long_ones_are_cut() -> None:
    assert len(find("x  # agent: a\n" * (MOST + 5), "python", "agent")) == MOST
    (comment,) = find("# agent: " + "x" * (2 * SAID_LIMIT), "python", "agent")
    assert len(comment.said) == SAID_LIMIT


def test_in_a_large_text_only_what_begins_its_line_is_a_comment() -> None:
    text = "x = 1\n" * (LARGE // 6 + 1) + "y = 2  # agent: no\n  # agent: yes\n"
    assert said(text) == ["yes"]


def test_a_document_is_looked_through_once_for_each_of_its_states() -> None:
    documents = Documents("utf-16")
    item = types.TextDocumentItem("file:///a.py", "python", 1, "# agent: a\n")
    documents.did_open(types.DidOpenTextDocumentParams(item))
    document = documents.lookup("file:///a.py")
    assert document is not None
    found = Comments("agent")
    first = found.of(document)
    assert [one.said for one in first] == ["a"]
    assert found.of(document) is first
    change = types.TextDocumentContentChangeWholeDocument(text="# agent: b\n")
    name = types.VersionedTextDocumentIdentifier(version=2, uri="file:///a.py")
    documents.did_change(types.DidChangeTextDocumentParams(name, [change]))
    assert [one.said for one in found.of(document)] == ["b"]


LANGUAGES = ("python", "c", "javascript", "go", "sql", "lua", "html", "haskell", "lisp", "?")
MARKS = ("#", "//", "/*", "*/", "--", "<!--", "-->", ";", "{-", "]]", "'", '"', '"""', "`", "\\")
SPACES = ("\n", "\r\n", "\r", " ", "\t")
PIECES = st.sampled_from([*MARKS, *SPACES, "agent: ", "agent:", "x", "😀"])


@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(LANGUAGES))
def test_whatever_the_text_what_is_found_stands_there_in_order(text: str, language: str) -> None:
    found = find(text, language, "agent")
    ends = [0, *(one.end for one in found)]
    for comment, end in zip(found, ends, strict=False):
        assert end <= comment.start < comment.end <= len(text)
        assert text[comment.start : comment.end].count("agent:") >= 1
        assert comment.said.strip() == comment.said != ""
        assert "\r" not in comment.said


@given(st.lists(st.sampled_from(["x = 1\n", "\n", "y()\n"]), max_size=20), st.integers(0, 20))
def test_a_comment_is_found_wherever_it_stands_in_code(lines: list[str], at: int) -> None:
    before = "".join(lines[:at])
    text = f"{before}# agent: do it\n\n{''.join(lines[at:])}"
    assert find(text, "python", "agent") == (
        Comment(start=len(before), end=len(before) + len("# agent: do it"), said="do it"),
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "piece", ['"\\', "'", '"', "/*", "<!--", "`", "\\", "# \n", "/*\n", '"""\\']
)
def test_no_text_is_looked_through_more_than_once(language: str, piece: str) -> None:
    # Of a scan that is quadratic this is minutes, which the limit of each test ends.
    text = "# agent: a\n" + piece * (LARGE // len(piece) - 100) + "\n# agent: b"
    assert len(find(text, language, "agent")) <= 2
    assert len(text) <= LARGE
