"""The open documents are the client's: its texts, its versions, its names."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.documents import MANY, Documents, OpenDocument
from turnbuckle.testing.documents import Edit, Unit, edited
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.text import Splice

URI = "file:///w/a.py"
TEXTS = st.text(st.sampled_from("ab\n\r\u2028é測😀"), max_size=20)
SPOTS = st.tuples(st.integers(0, 6), st.integers(0, 6))
PARTS = st.tuples(SPOTS, SPOTS, TEXTS)


def opened(
    text: str = "a\nb\n", *, uri: str = URI, version: int = 1, unit: Unit = "utf-16"
) -> Documents:
    documents = Documents(unit)
    reopen(documents, text, uri=uri, version=version)
    return documents


def reopen(documents: Documents, text: str, *, uri: str = URI, version: int = 1) -> None:
    item = types.TextDocumentItem(uri=uri, language_id="python", version=version, text=text)
    documents.did_open(types.DidOpenTextDocumentParams(text_document=item))


def change(
    documents: Documents, *edits: Edit | str, uri: str = URI, version: int | None = None
) -> None:
    """Change parts, or with a string the whole."""
    document = documents.lookup(uri)
    if version is None:
        version = document.version + 1 if document else 1
    name = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
    changes = [content_change(edit) for edit in edits]
    documents.did_change(
        types.DidChangeTextDocumentParams(text_document=name, content_changes=changes)
    )


def content_change(edit: Edit | str) -> types.TextDocumentContentChangeEvent:
    if isinstance(edit, str):
        return types.TextDocumentContentChangeWholeDocument(text=edit)
    first, last, new = edit
    part = types.Range(start=types.Position(*first), end=types.Position(*last))
    return types.TextDocumentContentChangePartial(range=part, text=new)


def close(documents: Documents, uri: str = URI) -> None:
    name = types.TextDocumentIdentifier(uri=uri)
    documents.did_close(types.DidCloseTextDocumentParams(text_document=name))


def the(documents: Documents, name: str | Path = URI) -> OpenDocument:
    document = documents.lookup(name)
    assert document is not None
    return document


@given(
    TEXTS,
    st.lists(st.lists(PARTS | TEXTS, max_size=4), max_size=4),
    st.sampled_from(("utf-8", "utf-16", "utf-32")),
)
def test_a_document_equals_the_clients_text_after_every_notification(
    text: str, notifications: list[list[Edit | str]], unit: Unit
) -> None:
    documents = opened(text, unit=unit)
    for edits in notifications:
        before, number = text, the(documents).trail.hold()
        change(documents, *edits)
        for edit in edits:
            text = edit if isinstance(edit, str) else edited(text, edit, unit)
        assert the(documents).text == text
        assert the(documents).digest == digest_of(text)
        for splice in the(documents).trail.since(number) or ():
            before = splice.on(before)
        assert before == text


def test_several_changes_of_one_notification_are_made_one_after_another() -> None:
    documents = opened("a\nb\n")
    change(documents, ((0, 0), (1, 0), ""), ((0, 0), (0, 1), "c"))
    assert the(documents).text == "c\n"


def test_very_many_changes_of_one_notification_are_told_as_one() -> None:
    lines = 2 * MANY
    documents = opened("ab\n" * lines)
    number = the(documents).trail.hold()
    change(documents, *(((line, 0), (line, 1), "x") for line in range(lines)))
    assert the(documents).text == "xb\n" * lines
    assert len(the(documents).trail.since(number) or ()) == 1


def test_versions_are_what_the_client_says_and_may_jump_ahead() -> None:
    documents = opened(version=7)
    assert the(documents).version == 7
    change(documents, ((0, 0), (0, 1), "x"), version=12)
    assert the(documents).version == 12
    assert the(documents).doubt is None


def test_a_version_that_never_moves_says_nothing() -> None:
    documents = opened(version=0)
    for _ in range(3):
        change(documents, ((0, 0), (0, 0), "x"), version=0)
    assert the(documents).text == "xxxa\nb\n"
    assert the(documents).doubt is None


@pytest.mark.parametrize(
    ("versions", "doubt"),
    [
        ((2, 2), "it told of version 2 twice"),
        ((5, 3), "its version went from 5 back to 3"),
        ((0,), "its version went from 1 back to 0"),
    ],
)
def test_changes_that_come_again_or_out_of_order_make_a_document_doubtful(
    versions: tuple[int, ...], doubt: str, caplog: pytest.LogCaptureFixture
) -> None:
    documents = opened("secret\n", version=1)
    for version in versions:
        change(documents, ((0, 0), (0, 1), "x"), version=version)
    assert the(documents).doubt == doubt
    change(documents, ((0, 0), (0, 1), "x"), version=99)
    assert the(documents).doubt == doubt
    assert "is not known for sure" in caplog.text
    assert "ecret" not in caplog.text


@pytest.mark.parametrize(
    ("first", "last", "possible"),
    [
        ((0, 0), (0, 99), True),
        ((2, 0), (2, 0), True),
        ((3, 0), (3, 0), True),
        ((1, 0), (4, 0), False),
        ((9, 0), (9, 0), False),
        ((1, 0), (0, 0), False),
    ],
)
def test_a_change_of_lines_that_are_not_there_makes_a_document_doubtful(
    first: tuple[int, int], last: tuple[int, int], possible: bool
) -> None:
    documents = opened("a\nb\n")
    change(documents, (first, last, "x"))
    assert (the(documents).doubt is None) is possible


def test_a_whole_text_ends_every_doubt() -> None:
    documents = opened("a\n")
    name = types.TextDocumentIdentifier(uri=URI)
    saved = types.DidSaveTextDocumentParams(text_document=name, text="a\n")

    def change_and_save() -> None:
        change(documents, ((0, 0), (0, 1), "a"))
        documents.did_save(saved)

    heals: tuple[Callable[[], None], ...] = (
        lambda: change(documents, "a\n", version=9),
        lambda: change(documents, "a\n", version=1),
        lambda: reopen(documents, "a\n"),
        change_and_save,
    )
    for heal in heals:
        change(documents, ((9, 0), (9, 0), ""))
        assert the(documents).doubt is not None
        heal()
        assert the(documents).doubt is None
        assert the(documents).text == "a\n"


def test_a_document_is_touched_from_its_first_change_until_it_is_saved() -> None:
    documents = opened("a\n")
    saved = types.DidSaveTextDocumentParams(text_document=types.TextDocumentIdentifier(uri=URI))
    assert not the(documents).touched
    change(documents, ((0, 0), (0, 0), ""))
    assert not the(documents).touched
    change(documents, ((0, 0), (0, 0), "x"))
    assert the(documents).touched
    documents.did_save(saved)
    assert not the(documents).touched


def test_a_change_of_a_document_that_is_not_open_is_ignored_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    documents = Documents("utf-16")
    change(documents, "secret text")
    close(documents)
    assert documents.lookup(URI) is None
    assert "which is not open, is ignored" in caplog.text
    assert "secret text" not in caplog.text


def test_opening_an_open_document_again_replaces_it() -> None:
    documents = opened("a\nb\n", version=9)
    number = the(documents).trail.hold()
    reopen(documents, "a\nc\n", version=1)
    assert (the(documents).text, the(documents).version) == ("a\nc\n", 1)
    assert the(documents).trail.since(number) == (Splice(2, 3, "c"),)
    assert len(list(documents)) == 1


def test_a_closed_document_is_gone() -> None:
    documents = opened()
    document = the(documents)
    close(documents)
    assert documents.lookup(URI) is None
    assert document.closed
    reopen(documents, "new")
    assert the(documents) is not document


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("file:///c%3A/w/a.py", "file:///c:/w/a.py", True),
        ("file:///C:/w/a.py", "file:///c:/w/a.py", True),
        ("file:///w/a%20b.py", "file:///w/a b.py", True),
        ("file:///w/%C3%A9.py", "file:///w/é.py", True),
        ("file:///w/%c3%a9.py", "file:///w/%C3%A9.py", True),
        ("file:///w/A.py", "file:///w/a.py", False),
    ],
)
def test_a_file_is_one_document_however_its_uri_is_spelled(
    one: str, other: str, same: bool
) -> None:
    documents = opened(uri=one)
    assert (documents.lookup(other) is not None) is same
    if same:
        change(documents, "changed", uri=other)
        assert the(documents, one).text == "changed"
        assert the(documents, one).uri == one
        close(documents, other)
        assert documents.lookup(one) is None


def test_a_file_is_found_through_links_and_answered_in_the_clients_spelling(
    tmp_path: Path,
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text("on disk")
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    spelled = (tmp_path / "link" / "a.py").as_uri()
    documents = opened("in the editor", uri=spelled)
    for name in (tmp_path / "real" / "a.py", (tmp_path / "real" / "a.py").as_uri(), spelled):
        assert the(documents, name).text == "in the editor"
        assert the(documents, name).uri == spelled


def test_a_file_that_is_open_under_two_names_is_the_one_that_changed_last(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    one, other = (tmp_path / "a.py").as_uri(), (tmp_path / "b.py").as_uri()
    documents = opened("one", uri=one)
    reopen(documents, "other", uri=other)
    change(documents, ((0, 0), (0, 0), "!"), uri=one)
    assert the(documents, tmp_path / "a.py").text == "!one"
    assert the(documents, other).text == "other"
    change(documents, ((0, 0), (0, 0), "!"), uri=other)
    assert the(documents, (tmp_path / "a.py")).text == "!other"


def test_a_file_whose_name_the_system_finds_in_another_case_is_one_document(
    tmp_path: Path,
) -> None:
    (tmp_path / "A.py").write_text("")
    documents = opened("in the editor", uri=(tmp_path / "A.py").as_uri())
    other = tmp_path / "a.py"
    assert documents.lookup(other) is None or other.exists()
    if not other.exists():
        other.hardlink_to(tmp_path / "A.py")  # as a file system that tells no case would find it
    assert the(documents, other).text == "in the editor"
    other.unlink()


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "git:/w/a.py?%7B%7D",
        "vscode-notebook-cell:/w/n.ipynb#W0",
        "vscode-notebook-cell://dev-container+7b2/w/n.ipynb#W1",
        "vscode-chat-code-block:/c%3A/w/n.ipynb?6f",
        "output:tasks",
    ],
)
def test_a_document_that_is_no_file_is_carried_under_its_uri(uri: str) -> None:
    documents = opened(uri=uri)
    change(documents, ((0, 0), (0, 1), "x"), uri=uri)
    assert the(documents, uri).text == "x\nb\n"
    assert the(documents, uri).path is None
    assert documents.lookup(Path("/w/a.py")) is None


def test_half_a_character_is_replaced_where_it_enters() -> None:
    documents = opened("a\ud800b")
    change(documents, ((0, 3), (0, 3), "\udc00"))
    assert the(documents).text == "a\ufffdb\ufffd"


def test_a_saved_text_that_differs_is_taken_over(caplog: pytest.LogCaptureFixture) -> None:
    documents = opened("a\n")
    name = types.TextDocumentIdentifier(uri=URI)
    documents.did_save(types.DidSaveTextDocumentParams(text_document=name, text="a\n"))
    documents.did_save(types.DidSaveTextDocumentParams(text_document=name))
    assert not caplog.records
    documents.did_save(types.DidSaveTextDocumentParams(text_document=name, text="b\n"))
    assert the(documents).text == "b\n"
    assert "saved with another text" in caplog.text


def test_positions_are_those_of_the_text_now() -> None:
    documents = opened("a\n😀b\n")
    assert the(documents).positions.offset(1, 2, "utf-16") == 3
    change(documents, ((0, 0), (1, 0), ""))
    assert the(documents).positions.offset(0, 2, "utf-16") == 1


async def test_the_next_change_of_a_document_wakes_who_waits_for_it() -> None:
    documents = opened()
    reopen(documents, "", uri="file:///w/other.py")
    document, seen = the(documents), [""]

    async def wait() -> None:
        await document.changed(document.revision)
        seen.append(document.text)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            change(documents, "elsewhere", uri="file:///w/other.py")
            await anyio.wait_all_tasks_blocked()
            assert seen == [""]
            change(documents, "here")
    assert seen == ["", "here"]


async def test_a_change_that_came_before_the_wait_is_not_missed() -> None:
    documents = opened()
    document = the(documents)
    revision = document.revision
    change(documents, "here")
    with anyio.fail_after(60):
        await document.changed(revision)


async def test_closing_a_document_wakes_who_waits_for_a_change() -> None:
    documents = opened()
    document = the(documents)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(document.changed, document.revision)
            await anyio.wait_all_tasks_blocked()
            close(documents)
    assert document.closed


async def test_a_listener_is_told_what_changed_until_its_scope_closes() -> None:
    documents = opened("a\nb\n")
    scope = Scope("test")
    told: list[tuple[str, tuple[Splice, ...]]] = []
    documents.listen(scope, lambda document, splices: told.append((document.text, splices)))
    change(documents, ((1, 0), (1, 1), "c"))
    assert told == [("a\nc\n", (Splice(2, 3, "c"),))]
    await scope.aclose()
    change(documents, "d")
    assert len(told) == 1
