"""Replace exact pieces of a file's text."""

from dataclasses import replace
from functools import partial

from anyio import to_thread
from pydantic import Field

from turnbuckle.tools.builtin.changing import carry_out
from turnbuckle.tools.builtin.matching import Edit, matched
from turnbuckle.tools.builtin.places import Arguments, own_place, to_change, written
from turnbuckle.tools.tool import Change, Go, Outcome, Prepared, Tool, ToolError
from turnbuckle.workspace.changes import FileChange, make_change
from turnbuckle.workspace.line_ends import plain, spliced
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.text import MARK, line_end, whole


class OneEdit(Arguments):
    """One piece of text, and what stands there afterwards."""

    old: str = Field(
        description="The text to replace, exactly as in the file, with enough around it to be found"
        " only once."
    )
    new: str = Field(description="The text that replaces it.")
    all: bool = Field(default=False, description="Replace it wherever it stands.")


class EditFile(Arguments):
    """Which file, and its edits."""

    path: str = Field(description="The file, relative to the working folder or absolute.")
    edits: list[OneEdit] = Field(
        min_length=1,
        max_length=200,
        description="All are matched against the text as it is before the first of them; they must"
        " not overlap, and either all of them fit or nothing is changed.",
    )


def edit_file() -> Tool[EditFile]:
    """The tool."""
    return Tool(
        name="edit_file",
        description=(
            "Change a file that was read, by replacing exact pieces of its text. White space"
            " counts; line ends and encoding are kept as the file has them."
        ),
        parameters=EditFile,
        prepare=_prepare,
    )


async def _prepare(arguments: EditFile, workspace: Workspace) -> Prepared:
    place = own_place(workspace, arguments.path)
    snapshot = await to_change(workspace, place)
    edits = tuple(
        Edit(whole(edit.old), written(edit.new, "new"), edit.all) for edit in arguments.edits
    )
    if snapshot is None:
        change = _new_file(place, edits)
    else:
        # Looking for the nearest text, and comparing, may take a while in a large file.
        change = await to_thread.run_sync(_change, place, snapshot.text, edits)
    return Prepared(
        subject=Change(files=(change,)), perform=partial(_perform, workspace, place, change)
    )


def _new_file(place: Place, edits: tuple[Edit, ...]) -> FileChange:
    if len(edits) > 1 or edits[0].old:
        raise ToolError("NOT_FOUND", f"{place.shown} does not exist; write_file makes a new file")
    return make_change(place.uri, "", edits[0].new, "create")


def _change(place: Place, base: str, edits: tuple[Edit, ...]) -> FileChange:
    end = line_end(base)
    as_plain = tuple(Edit(plain(e.old, end), plain(e.new, end), e.everywhere) for e in edits)
    shown = plain(base, end)
    splices = matched(shown, tuple(_unmarked(shown, edit) for edit in as_plain), place.shown)
    return make_change(place.uri, base, spliced(base, splices), "edit")


def _unmarked(text: str, edit: Edit) -> Edit:
    """An edit whose old text is the beginning of the file, but for a byte order mark before it."""
    old = edit.old.lstrip(MARK)
    meant = not edit.everywhere and edit.old not in text and text.startswith(old)
    return replace(edit, old=old) if meant else edit


async def _perform(workspace: Workspace, place: Place, change: FileChange, go: Go) -> Outcome:
    return await carry_out(go, workspace, place, change)
