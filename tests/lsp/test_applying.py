"""An edit of an open document is made by its editor, and believed only when its text shows it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest
from lsprotocol import types

from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.edits.applying import ATTEMPTS, LOOK, Limits, OpenTexts
from turnbuckle.lsp.edits.trail import LIMIT
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.testing.documents import Edit, edited, edited_at_once, position_at
from turnbuckle.workspace.changes import FileChange, digest_of, make_change
from turnbuckle.workspace.paths import Place, uri_of
from turnbuckle.workspace.port import Applied, Snapshot, WorkspaceError

PATH = Path("/w/a.py").absolute()
URI = uri_of(PATH)
BASE = "one\ntwo\nthree 😀\nfour\nfive\n"
NEW = "one\n2\nthree 😀\n4\nfive\n"

STRICT = ClientFacts(name="Strict", document_changes=True, apply_edit=True)
LOOSE = ClientFacts(name="Loose", apply_edit=True)
AT_ONCE = Limits(answer=60, settle=0, quiet=0, patience=60, opening=0)
PATIENT = Limits(answer=60, settle=60, quiet=0, patience=60, opening=0)

YES = types.ApplyWorkspaceEditResult(applied=True)
NO = types.ApplyWorkspaceEditResult(applied=False)


@dataclass
class Disk:
    """Files by path, without a system below."""

    files: dict[Path, str] = field(default_factory=dict)
    applied: list[tuple[str, ...]] = field(default_factory=list)

    async def read(self, place: Place) -> Snapshot:
        if place.path not in self.files:
            raise WorkspaceError("NOT_FOUND", "there is no such file")
        text = self.files[place.path]
        return Snapshot(uri=place.uri, text=text, digest=digest_of(text))

    async def apply(
        self,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...] = (),
    ) -> Applied:
        self.applied.append(hunk_ids)
        self.files[place.path] = change.with_hunks({*hunk_ids, *already})
        return Applied(outcome="applied", after=digest_of(self.files[place.path]))


Play: TypeAlias = Callable[["Editor", types.WorkspaceEdit], Awaitable[object]]


class Editor:
    """An editor with one document, which answers each edit as the next of its plays says."""

    def __init__(
        self,
        *plays: Play,
        text: str = BASE,
        uri: str = URI,
        version: int = 1,
        client: ClientFacts = STRICT,
        limits: Limits = PATIENT,
    ) -> None:
        self.text, self.uri, self.version = text, uri, version
        self.unit = client.encoding
        self.plays = list(plays)
        self.asked: list[types.WorkspaceEdit] = []
        self.documents = Documents(client.encoding)
        self.disk = Disk()
        self.texts = OpenTexts(self.documents, self.disk, self, client, limits=limits)
        self.open()

    async def call(self, method: str, params: object, *, timeout: float | None = 20.0) -> object:
        assert method == types.WORKSPACE_APPLY_EDIT
        assert isinstance(params, types.ApplyWorkspaceEditParams)
        self.asked.append(params.edit)
        return await self.plays.pop(0)(self, params.edit)

    def open(self) -> None:
        item = types.TextDocumentItem(
            uri=self.uri, language_id="python", version=self.version, text=self.text
        )
        self.documents.did_open(types.DidOpenTextDocumentParams(text_document=item))

    def close(self) -> None:
        name = types.TextDocumentIdentifier(uri=self.uri)
        self.documents.did_close(types.DidCloseTextDocumentParams(text_document=name))

    def tell(self, edits: Iterable[Edit | str], *, version: int | None = None) -> None:
        """Send what changed: parts, or the whole as a string."""
        self.version = self.version + 1 if version is None else version
        name = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        changes: list[types.TextDocumentContentChangeEvent] = []
        for edit in edits:
            if isinstance(edit, str):
                changes.append(types.TextDocumentContentChangeWholeDocument(text=edit))
                continue
            part = types.Range(start=types.Position(*edit[0]), end=types.Position(*edit[1]))
            changes.append(types.TextDocumentContentChangePartial(range=part, text=edit[2]))
        self.documents.did_change(
            types.DidChangeTextDocumentParams(text_document=name, content_changes=changes)
        )

    def type(self, at: str, new: str, *, told: bool = True) -> None:
        """A person types before the first place where this stands."""
        place = position_at(self.text, self.text.index(at), self.unit)
        edit: Edit = (place, place, new)
        self.text = edited(self.text, edit, self.unit)
        if told:
            self.tell([edit])

    def make(self, edit: types.WorkspaceEdit) -> list[Edit]:
        """Make an edit, whatever version it is for; gives it in the order to tell it."""
        edits = sorted(parts_of(edit), reverse=True)
        self.text = edited_at_once(self.text, edits, self.unit)
        return edits


def parts_of(edit: types.WorkspaceEdit) -> list[Edit]:
    """The edits of the one document that it is about."""
    if edit.document_changes:
        (whole,) = edit.document_changes
        assert isinstance(whole, types.TextDocumentEdit)
        parts: Iterable[object] = whole.edits
    else:
        ((_, parts),) = (edit.changes or {}).items()
    found: list[Edit] = []
    for part in parts:
        assert isinstance(part, types.TextEdit)
        start, end = part.range.start, part.range.end
        found.append(((start.line, start.character), (end.line, end.character), part.new_text))
    return found


def version_of(edit: types.WorkspaceEdit) -> int | None:
    (whole,) = edit.document_changes or ()
    assert isinstance(whole, types.TextDocumentEdit)
    return whole.text_document.version


def soon(act: Callable[[], None], *, turns: int = 1) -> None:
    """Do something once the one who asked waits again, or some turns of the loop later."""
    loop = asyncio.get_running_loop()
    loop.call_soon(act if turns == 1 else lambda: soon(act, turns=turns - 1))


# -- plays ----------------------------------------------------------------------------------------


async def honest(editor: Editor, edit: types.WorkspaceEdit) -> object:
    """Makes an edit for the version that it has, tells it, and says so."""
    if version_of(edit) != editor.version:
        return types.ApplyWorkspaceEditResult(applied=False, failure_reason="it has changed")
    editor.tell(editor.make(edit))
    return YES


async def tells_later(editor: Editor, edit: types.WorkspaceEdit) -> object:
    """Answers before it tells the change."""
    edits = editor.make(edit)
    soon(lambda: editor.tell(edits))
    return YES


async def tells_the_whole_later(editor: Editor, edit: types.WorkspaceEdit) -> object:
    editor.make(edit)
    soon(lambda: editor.tell([editor.text], version=editor.version + 9))
    return YES


async def only_says_yes(_: Editor, __: types.WorkspaceEdit) -> object:
    return YES


async def refuses(_: Editor, __: types.WorkspaceEdit) -> object:
    return NO


async def fails(_: Editor, __: types.WorkspaceEdit) -> object:
    raise NoAnswer("User cancelled server edit")


async def answers_null(_: Editor, __: types.WorkspaceEdit) -> object:
    return None


async def apply_all(editor: Editor, change: FileChange) -> Applied:
    return await editor.texts.apply(PLACE, change, tuple(hunk.hunk_id for hunk in change.hunks))


PLACE = Place(uri=URI, path=PATH, shown="a.py", inside=True, secret=False)
CHANGE = make_change(URI, BASE, NEW, "edit")
TWO, FOUR = (hunk.hunk_id for hunk in CHANGE.hunks)


# -- reading --------------------------------------------------------------------------------------


async def test_the_text_that_the_person_sees_is_read_saved_or_not() -> None:
    editor = Editor(text="v = 2\nw = 1\n", version=5)
    editor.disk.files[PATH] = "v = 1\nw = 1\n"
    seen = await editor.texts.read(PLACE)
    assert (seen.text, seen.version, seen.uri) == ("v = 2\nw = 1\n", 5, URI)
    editor.close()
    assert (await editor.texts.read(PLACE)).text == "v = 1\nw = 1\n"


async def test_what_shows_something_made_elsewhere_is_read_and_not_edited() -> None:
    editor = Editor(uri="git:/w/a.py?%7B%7D")
    place = Place(uri=editor.uri, path=PATH, shown="a.py", inside=True, secret=False)
    assert (await editor.texts.read(place)).read_only
    applied = await editor.texts.apply(place, CHANGE, (TWO,))
    assert (applied.outcome, applied.code) == ("failed", "READ_ONLY")
    assert editor.asked == []


async def test_a_document_that_was_never_saved_is_edited_in_the_editor() -> None:
    editor = Editor(honest, uri="untitled:Untitled-1")
    place = Place(uri=editor.uri, path=PATH, shown="Untitled-1", inside=True, secret=False)
    assert (await editor.texts.apply(place, CHANGE, (TWO, FOUR))).outcome == "applied"
    assert editor.text == NEW


# -- landing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("play", [honest, tells_later, tells_the_whole_later])
async def test_an_edit_is_applied_when_the_text_shows_it(play: Play) -> None:
    editor = Editor(play)
    applied = await apply_all(editor, CHANGE)
    assert applied == Applied(outcome="applied", after=digest_of(NEW))
    assert editor.text == NEW
    assert editor.disk.applied == []


@pytest.mark.parametrize("unit", ["utf-8", "utf-16", "utf-32"])
async def test_columns_count_in_the_clients_units(unit: str) -> None:
    client = ClientFacts(document_changes=True, apply_edit=True, encoding=unit)  # type: ignore[arg-type]
    text = 's = "😀測😀"'
    editor = Editor(honest, text=text, client=client)
    change = make_change(URI, text, text + "; x\n", "edit")
    assert (await apply_all(editor, change)).outcome == "applied"
    assert editor.text == text + "; x\n"


async def test_the_edit_is_bound_to_the_version_and_to_the_name_that_the_client_gave() -> None:
    uri = URI.replace("a.py", "%61.py")
    editor = Editor(honest, version=41, uri=uri)
    await apply_all(editor, CHANGE)
    (edit,) = editor.asked
    (whole,) = edit.document_changes or ()
    assert isinstance(whole, types.TextDocumentEdit)
    assert (whole.text_document.uri, whole.text_document.version) == (uri, 41)


async def test_unsaved_text_beside_the_edit_stays() -> None:
    editor = Editor(honest)
    editor.disk.files[PATH] = "something old\n"
    await apply_all(editor, CHANGE)
    assert editor.disk.files[PATH] == "something old\n"


async def test_an_editor_that_adds_the_last_line_end_has_made_the_edit() -> None:
    async def ends_it(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.make(edit)
        editor.text += "\n"
        editor.tell([editor.text])
        return YES

    editor = Editor(ends_it, text="")
    applied = await apply_all(editor, make_change(URI, "", "content", "edit"))
    assert applied == Applied(outcome="applied", after=digest_of("content\n"))


async def test_new_text_gets_the_line_ends_of_the_document() -> None:
    editor = Editor(honest, text=BASE.replace("\n", "\r\n"))
    change = make_change(URI, editor.text, editor.text.replace("two\r\n", "2\nand more\n"), "edit")
    assert (await apply_all(editor, change)).outcome == "applied"
    assert editor.text == "one\r\n2\r\nand more\r\nthree 😀\r\nfour\r\nfive\r\n"


async def test_yes_is_no_proof() -> None:
    editor = Editor(only_says_yes, limits=AT_ONCE)
    applied = await apply_all(editor, CHANGE)
    assert (applied.outcome, applied.after) == ("unverified", None)
    assert "its text does not show it" in (applied.said or "")
    assert len(editor.asked) == 1


async def test_an_edit_in_the_wrong_place_is_seen() -> None:
    async def off_by_two(editor: Editor, edit: types.WorkspaceEdit) -> object:
        (((line, _), (end, _), new),) = parts_of(edit)
        moved: Edit = ((line + 2, 0), (end + 2, 0), new)
        editor.text = edited(editor.text, moved, editor.unit)
        editor.tell([moved])
        return YES

    editor = Editor(off_by_two, limits=AT_ONCE)
    applied = await editor.texts.apply(PLACE, CHANGE, (TWO,))
    assert applied.outcome == "misplaced"
    assert applied.after == digest_of(editor.text)
    assert len(editor.asked) == 1


async def test_an_edit_of_which_a_part_is_missing_is_not_applied_and_not_sent_again() -> None:
    async def half(editor: Editor, edit: types.WorkspaceEdit) -> object:
        first = parts_of(edit)[0]
        editor.text = edited(editor.text, first, editor.unit)
        editor.tell([first])
        return NO

    editor = Editor(half, limits=AT_ONCE)
    assert (await apply_all(editor, CHANGE)).outcome == "unverified"
    assert len(editor.asked) == 1


# -- what the person types meanwhile --------------------------------------------------------------


async def test_text_that_was_typed_elsewhere_before_does_not_disturb() -> None:
    editor = Editor(honest)
    await editor.texts.read(PLACE)
    editor.type("one", "zero\n")
    editor.type("five", "more\n")
    applied = await apply_all(editor, CHANGE)
    assert applied.outcome == "applied"
    assert editor.text == "zero\none\n2\nthree 😀\n4\nmore\nfive\n"


async def test_text_that_was_typed_in_the_hunk_makes_it_stale() -> None:
    editor = Editor(text="a\n", version=3)
    change = make_change(URI, (await editor.texts.read(PLACE)).text, "b\n", "edit")
    editor.tell(["a user\n"], version=4)
    applied = await apply_all(editor, change)
    assert applied == Applied(outcome="stale", after=digest_of("a user\n"))
    assert editor.asked == []


async def test_text_that_is_typed_elsewhere_while_the_edit_is_made_does_not_disturb() -> None:
    async def with_typing(editor: Editor, edit: types.WorkspaceEdit) -> object:
        edits = editor.make(edit)
        editor.tell(edits)
        soon(lambda: editor.type("five", "typed\n"))
        return YES

    async def with_typing_before(editor: Editor, edit: types.WorkspaceEdit) -> object:
        def later() -> None:
            editor.type("five", "typed\n")  # after the hunks, so that they stay where they are
            editor.tell(editor.make(edit))

        soon(later)
        return YES

    for play in (with_typing, with_typing_before):
        editor = Editor(play)
        assert (await apply_all(editor, CHANGE)).outcome == "applied"


async def test_words_that_are_typed_while_the_edit_is_on_its_way_do_not_disturb() -> None:
    async def typing(editor: Editor, edit: types.WorkspaceEdit) -> object:
        def word(left: str) -> None:
            if left:
                editor.type("ne", left[0])
                soon(lambda: word(left[1:]))
            else:
                editor.tell(editor.make(edit))

        soon(lambda: word("typed"))
        return YES

    editor = Editor(typing)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    assert editor.text == NEW.replace("one", "otypedne")


async def test_more_changes_than_are_remembered_do_not_disturb() -> None:
    async def busy(editor: Editor, edit: types.WorkspaceEdit) -> object:
        for number in range(2 * LIMIT):
            editor.tell([((4, 0), (4, 4), f"{number:04}")])
        editor.text = editor.text.replace("five", f"{number:04}")
        editor.tell(editor.make(edit))
        return YES

    editor = Editor(busy)
    assert (await editor.texts.apply(PLACE, CHANGE, (TWO,))).outcome == "applied"


async def test_the_edit_and_typing_elsewhere_in_one_change_are_told_apart() -> None:
    async def in_one(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.make(edit)
        editor.type("five", "typed\n", told=False)
        editor.tell([editor.text])
        return YES

    editor = Editor(in_one, honest)
    await editor.texts.read(PLACE)
    assert (await editor.texts.apply(PLACE, CHANGE, (TWO,))).outcome == "applied"
    assert (await editor.texts.apply(PLACE, CHANGE, (FOUR,), (TWO,))).outcome == "applied"
    assert editor.text == NEW.replace("five", "typed\nfive")


async def test_an_edit_that_is_refused_since_the_person_typed_elsewhere_is_made_anew() -> None:
    async def typed_first(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.type("one", "zero\n")
        return await honest(editor, edit)

    editor = Editor(typed_first, honest)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    assert editor.text == "zero\n" + NEW
    assert [version_of(edit) for edit in editor.asked] == [1, 2]


async def test_an_edit_that_is_refused_since_the_person_typed_in_it_is_stale() -> None:
    async def typed_first(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.type("wo", "!")
        return await honest(editor, edit)

    editor = Editor(typed_first)
    applied = await apply_all(editor, CHANGE)
    assert applied == Applied(
        outcome="stale", after=digest_of(BASE.replace("two", "t!wo")), said="it has changed"
    )


# -- refusals -------------------------------------------------------------------------------------


async def test_a_refusal_without_a_change_is_tried_again_at_once() -> None:
    editor = Editor(refuses, honest)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"


async def test_an_edit_that_is_always_refused_is_declined_after_three_more_tries() -> None:
    editor = Editor(*[refuses] * 9)
    applied = await apply_all(editor, CHANGE)
    assert applied.outcome == "declined"
    assert applied.after == digest_of(BASE)
    assert len(editor.asked) == ATTEMPTS == 4


@pytest.mark.parametrize(
    ("play", "said"),
    [(fails, "User cancelled server edit"), (answers_null, "the editor gave no usable answer")],
)
async def test_an_error_or_an_answer_of_the_wrong_shape_is_a_no_that_is_not_asked_again(
    play: Play, said: str
) -> None:
    editor = Editor(play)
    applied = await apply_all(editor, CHANGE)
    assert applied == Applied(outcome="declined", after=digest_of(BASE), said=f"{said}; {LOOK}")
    assert len(editor.asked) == 1


async def test_an_error_of_an_editor_that_asks_its_person_is_a_clear_no() -> None:
    client = ClientFacts(name="Eglot", document_changes=True, apply_edit=True)
    applied = await apply_all(Editor(fails, client=client), CHANGE)
    assert (applied.outcome, applied.said) == ("declined", "User cancelled server edit")


@pytest.mark.parametrize("play", [fails, answers_null, refuses])
async def test_an_edit_that_lands_in_spite_of_a_no_is_applied(play: Play) -> None:
    async def lands(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.tell(editor.make(edit))
        return await play(editor, edit)

    editor = Editor(lands)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    assert len(editor.asked) == 1


@pytest.mark.parametrize("client", [STRICT, LOOSE])
async def test_an_edit_that_lands_some_time_after_a_no_is_not_made_twice(
    client: ClientFacts,
) -> None:
    async def lands_later(editor: Editor, edit: types.WorkspaceEdit) -> object:
        edits = editor.make(edit)
        soon(lambda: editor.tell(edits), turns=20)
        if client is LOOSE:
            return NO
        raise NoAnswer("something went wrong")

    limits = Limits(answer=60, settle=60, quiet=0.05, patience=60, opening=0)
    editor = Editor(lands_later, client=client, limits=limits)
    inserted = make_change(URI, BASE, BASE.replace("two", "new\ntwo"), "edit")
    assert (await apply_all(editor, inserted)).outcome == "applied"
    assert len(editor.asked) == 1


async def test_an_error_after_the_new_text_came_to_stand_elsewhere_is_said() -> None:
    async def goes_wrong(editor: Editor, _: types.WorkspaceEdit) -> object:
        editor.type("five", "2\n4\n")
        raise NoAnswer("something went wrong")

    applied = await apply_all(Editor(goes_wrong), CHANGE)
    assert applied.outcome == "misplaced"


async def test_an_error_after_the_text_has_changed_elsewhere_is_tried_again() -> None:
    async def typed_first(editor: Editor, _: types.WorkspaceEdit) -> object:
        editor.type("one", "zero\n")
        raise NoAnswer("Edits require version 1, you have 2")

    editor = Editor(typed_first, honest)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"


async def test_a_client_that_is_gone_has_declined() -> None:
    async def gone(editor: Editor, _: types.WorkspaceEdit) -> object:
        raise NoAnswer("the client is gone")

    applied = await apply_all(Editor(gone), CHANGE)
    assert (applied.outcome, applied.said) == ("declined", f"the client is gone; {LOOK}")


async def test_an_answer_that_never_comes_is_not_waited_for_and_nothing_is_sent_again() -> None:
    async def never(_: Editor, __: types.WorkspaceEdit) -> object:
        await anyio.sleep_forever()
        return YES

    editor = Editor(never, limits=Limits(answer=0.01, settle=60, quiet=0, opening=0))
    applied = await apply_all(editor, CHANGE)
    assert applied.outcome == "unverified"
    assert "did not answer" in (applied.said or "")
    assert len(editor.asked) == 1


async def test_a_client_that_takes_no_edits_is_not_asked() -> None:
    editor = Editor(client=ClientFacts(name="Reader"))
    assert (await apply_all(editor, CHANGE)).outcome == "declined"
    assert editor.asked == []


# -- editors that check nothing -------------------------------------------------------------------


@pytest.mark.parametrize(("client", "version"), [(STRICT, 0), (LOOSE, 3)])
async def test_an_edit_that_is_not_checked_waits_until_the_person_pauses(
    client: ClientFacts, version: int
) -> None:
    async def loose(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.tell(editor.make(edit), version=editor.version)
        return YES

    limits = Limits(answer=60, settle=60, quiet=0.05, patience=60, opening=0)
    editor = Editor(loose, client=client, version=version, limits=limits)

    def typing(left: int) -> None:
        editor.tell([((0, 0), (0, 0), "z")], version=editor.version)
        editor.text = "z" + editor.text
        if left:
            soon(lambda: typing(left - 1))

    await editor.texts.read(PLACE)
    soon(lambda: typing(9))
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    assert editor.text == "z" * 10 + NEW


async def test_a_person_who_never_pauses_is_not_written_over() -> None:
    limits = Limits(answer=60, settle=60, quiet=60, patience=0, opening=0)
    editor = Editor(client=LOOSE, limits=limits)
    applied = await apply_all(editor, CHANGE)
    assert applied.outcome == "declined"
    assert "kept changing" in (applied.said or "")
    assert editor.asked == []


async def test_a_client_without_versions_gets_plain_changes() -> None:
    async def loose(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.tell(editor.make(edit))
        return YES

    editor = Editor(loose, client=LOOSE)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    (edit,) = editor.asked
    assert edit.document_changes is None
    assert list(edit.changes or {}) == [URI]


# -- closing --------------------------------------------------------------------------------------


async def test_a_document_that_is_closed_before_its_text_was_seen_is_looked_for_on_disk() -> None:
    async def saves_and_closes(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.make(edit)
        editor.disk.files[PATH] = editor.text
        editor.close()
        return YES

    editor = Editor(saves_and_closes)
    assert await apply_all(editor, CHANGE) == Applied(outcome="applied", after=digest_of(NEW))


@pytest.mark.parametrize("saved", [None, BASE])
async def test_a_document_that_is_closed_without_its_new_text_is_unverified(
    saved: str | None,
) -> None:
    async def closes(editor: Editor, _: types.WorkspaceEdit) -> object:
        if saved is not None:
            editor.disk.files[PATH] = saved
        soon(editor.close)
        return YES

    editor = Editor(closes)
    applied = await apply_all(editor, CHANGE)
    assert applied.outcome == "unverified"
    assert "closed" in (applied.said or "")
    assert editor.disk.applied == []


async def test_a_document_that_is_closed_before_the_edit_was_sent_is_written_on_disk() -> None:
    limits = Limits(answer=60, settle=60, quiet=60, patience=60, opening=0)
    editor = Editor(client=LOOSE, limits=limits)
    soon(editor.close)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    assert editor.disk.files[PATH] == NEW


# -- files that are not open ----------------------------------------------------------------------


async def test_a_file_that_is_not_open_is_written_on_disk() -> None:
    editor = Editor()
    editor.close()
    assert (await editor.texts.apply(PLACE, CHANGE, (TWO,), (FOUR,))).outcome == "applied"
    assert editor.disk.files[PATH] == NEW


async def test_a_new_file_that_is_open_already_is_filled_in_the_editor() -> None:
    editor = Editor(honest, text="")
    change = make_change(URI, "", "content\n", "create")
    assert (await apply_all(editor, change)).outcome == "applied"
    assert editor.text == "content\n"
    assert editor.disk.applied == []


async def test_a_new_file_is_not_put_over_text_that_was_typed_there() -> None:
    editor = Editor(text="typed\n")
    change = make_change(URI, "", "content\n", "create")
    assert (await apply_all(editor, change)).outcome == "stale"


async def test_shortly_after_the_start_a_file_may_still_turn_out_to_be_open() -> None:
    editor = Editor(honest, limits=Limits(answer=60, settle=60, quiet=0, opening=0.05))
    editor.close()
    soon(editor.open)
    assert (await apply_all(editor, CHANGE)).outcome == "applied"
    assert editor.text == NEW
    assert editor.disk.applied == []


# -- one at a time --------------------------------------------------------------------------------


async def test_two_edits_of_one_document_are_made_one_after_the_other() -> None:
    running = 0

    async def slowly(editor: Editor, edit: types.WorkspaceEdit) -> object:
        nonlocal running
        running += 1
        assert running == 1
        await anyio.wait_all_tasks_blocked()
        running -= 1
        return await honest(editor, edit)

    editor = Editor(slowly, slowly)
    await editor.texts.read(PLACE)
    outcomes: list[str] = []

    async def apply(hunk_id: str) -> None:
        outcomes.append((await editor.texts.apply(PLACE, CHANGE, (hunk_id,))).outcome)

    async with anyio.create_task_group() as group:
        group.start_soon(apply, TWO)
        group.start_soon(apply, FOUR)
    assert outcomes == ["applied", "applied"]
    assert editor.text == NEW


async def test_a_document_that_is_closed_while_an_edit_waits_for_its_turn_is_written_on_disk() -> (
    None
):
    async def closes(editor: Editor, edit: types.WorkspaceEdit) -> object:
        editor.tell(editor.make(edit))
        await anyio.wait_all_tasks_blocked()
        editor.disk.files[PATH] = editor.text
        editor.close()
        return YES

    editor = Editor(closes)
    async with anyio.create_task_group() as group:
        group.start_soon(editor.texts.apply, PLACE, CHANGE, (TWO,))
        await anyio.wait_all_tasks_blocked()
        group.start_soon(editor.texts.apply, PLACE, CHANGE, (FOUR,), (TWO,))
    assert editor.disk.applied == [(FOUR,)]
    assert editor.disk.files[PATH] == NEW


async def test_hunks_of_one_change_are_applied_one_by_one_as_they_are_accepted() -> None:
    editor = Editor(tells_later, tells_the_whole_later)
    await editor.texts.read(PLACE)
    assert (await editor.texts.apply(PLACE, CHANGE, (FOUR,))).outcome == "applied"
    editor.type("one", "zero\n")
    assert (await editor.texts.apply(PLACE, CHANGE, (TWO,), (FOUR,))).outcome == "applied"
    assert editor.text == "zero\n" + NEW


async def test_a_turn_that_is_cancelled_lets_the_next_edit_begin() -> None:
    async def never(_: Editor, __: types.WorkspaceEdit) -> object:
        await anyio.sleep_forever()
        return YES

    editor = Editor(never, honest)
    async with anyio.create_task_group() as group:
        group.start_soon(apply_all, editor, CHANGE)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert (await apply_all(editor, CHANGE)).outcome == "applied"


# -- an editor that drops what comes too late -----------------------------------------------------

NEOVIM = ClientFacts(name="Neovim", apply_edit=True)


async def drops_it_for_untold_keys(editor: Editor, _: types.WorkspaceEdit) -> object:
    """Has keys that it did not tell yet, drops the edit, says yes, and tells them then."""
    edit: Edit = ((0, 0), (0, 0), "typed\n")
    editor.text = edited(editor.text, edit, editor.unit)
    soon(lambda: editor.tell([edit]))
    return YES


async def test_an_edit_that_was_dropped_for_untold_keys_is_sent_once_more() -> None:
    editor = Editor(drops_it_for_untold_keys, honest, client=NEOVIM)
    applied = await apply_all(editor, CHANGE)
    assert applied.outcome == "applied"
    assert editor.text == "typed\n" + NEW
    assert [version_of(edit) for edit in editor.asked] == [1, 2]


async def test_it_is_sent_once_more_and_no_more() -> None:
    editor = Editor(drops_it_for_untold_keys, drops_it_for_untold_keys, honest, client=NEOVIM)
    assert (await apply_all(editor, CHANGE)).outcome == "unverified"
    assert len(editor.asked) == 2


async def test_no_other_editor_is_sent_an_edit_again_that_it_says_it_made() -> None:
    client = ClientFacts(name="Other", document_changes=True, apply_edit=True)
    editor = Editor(drops_it_for_untold_keys, honest, client=client, limits=AT_ONCE)
    assert (await apply_all(editor, CHANGE)).outcome == "unverified"
    assert len(editor.asked) == 1


async def test_nothing_is_sent_again_where_the_version_is_not_checked() -> None:
    editor = Editor(drops_it_for_untold_keys, honest, client=NEOVIM, version=-5)
    assert (await apply_all(editor, CHANGE)).outcome == "unverified"
    assert len(editor.asked) == 1


async def test_nothing_is_sent_again_where_nothing_else_was_changed() -> None:
    editor = Editor(only_says_yes, honest, client=NEOVIM, limits=AT_ONCE)
    assert (await apply_all(editor, CHANGE)).outcome == "unverified"
    assert len(editor.asked) == 1


async def test_what_was_typed_over_the_edit_makes_it_stale() -> None:
    async def drops(editor: Editor, _: types.WorkspaceEdit) -> object:
        edit: Edit = ((1, 0), (1, 3), "zwei")
        editor.text = edited(editor.text, edit, editor.unit)
        soon(lambda: editor.tell([edit]))
        return YES

    editor = Editor(drops, honest, client=NEOVIM)
    assert (await apply_all(editor, CHANGE)).outcome == "stale"
    assert len(editor.asked) == 1
