"""What can be asked about a place without words: as code actions, and as lenses of comments."""

from __future__ import annotations

from collections.abc import Iterator

from turnbuckle.lsp import names
from turnbuckle.lsp.asking.comments import Comment, Comments
from turnbuckle.lsp.asking.current import Current
from turnbuckle.lsp.asking.offers import Offer, offer
from turnbuckle.lsp.convert import to_offsets, to_range
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.review.hints import SOURCE
from turnbuckle.lsp.review.marking import LINE
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.subjects import shortened, visible
from turnbuckle.lsp.turns import is_resumable
from turnbuckle.workspace.unseen import seen

ASK_TITLE = "Ask the agent"

EACH = 10
"""Diagnostics and comments of a selection that are offered one by one."""

COMMENT = "Do what the comment that I selected asks for:\n\n{said}\n\nThen remove the comment."
COMMENTS = (
    "Do what the comments in this file ask for, one after another:\n\n{said}\n\n"
    "Remove each comment when that is done."
)
SELECTION = (
    "Look at the code that I selected. {comment}"
    "Say briefly what it does, and mend what is plainly wrong in it."
)
IN_SELECTION = "If a comment in it begins with `{word}:`, do what it says and nothing else. "
EXPLAIN_CODE = (
    "Explain the code that I selected: what it does, how, and what is easily missed in it."
)
REFACTOR = (
    "Make the code that I selected easier to read and to change. What it does must stay the same; "
    "run the tests that there are for it."
)
FIX = "Fix the problem that the editor reports here."
FIX_ALL = "Fix the problems that the editor reports here."
EXPLAIN = (
    "Explain the problem that the editor reports here: what it means, where it comes from, and how "
    "it could be mended. Change nothing."
)


class Inviting:
    """Offers to ask: about comments, diagnostics and selections, and to go on with what was."""

    def __init__(self, editor: Editor, comments: Comments, current: Current) -> None:
        self._editor = editor
        self._comments = comments
        self._current = current

    def offers(self, params: types.CodeActionParams) -> Iterator[Offer]:
        """What can be asked about a selection; the nearest first."""
        document = self._editor.documents.lookup(params.text_document.uri)
        if document is not None:
            yield from self._of_comments(document, params.range)
        yield from self._of_diagnostics(document, params)
        yield from self._of_selection(document, params)
        if document is not None:
            yield from self._of_file(document)
        yield from self._of_session()

    async def lenses(self, document: OpenDocument) -> list[types.CodeLens]:
        """A lens for each comment that asks for something."""
        return [
            types.CodeLens(
                range=_place(document, comment),
                command=types.Command(
                    title=_title(comment),
                    command=names.ASK_COMMAND,
                    arguments=[self._about(document, comment)],
                ),
            )
            for comment in self._comments.of(document)
        ]

    def _of_comments(self, document: OpenDocument, selection: types.Range) -> Iterator[Offer]:
        first, last = selection.start.line, selection.end.line
        here = 0
        for comment in self._comments.of(document):
            place = _place(document, comment)
            if place.start.line <= last and first <= place.end.line and here < EACH:
                here += 1
                about = self._about(document, comment)
                yield offer(_title(comment), names.QUICKFIX, names.ASK_COMMAND, about)

    def _about(self, document: OpenDocument, comment: Comment) -> dict[str, object]:
        place = self._plain(_place(document, comment))
        return {
            "uri": document.uri,
            "range": place,
            "prompt": COMMENT.format(said=_asked(comment.said)),
        }

    def _of_diagnostics(
        self, document: OpenDocument | None, params: types.CodeActionParams
    ) -> Iterator[Offer]:
        # Our own are answered elsewhere.
        found = [one for one in params.context.diagnostics if one.source != SOURCE]
        for diagnostic in found[:EACH]:
            about = {
                "uri": params.text_document.uri,
                "range": self._plain(_wide(document, diagnostic.range)),
                "diagnostics": [self._plain(diagnostic)],
            }
            line = visible(_message(diagnostic).split("\n")[0])[:LINE]
            for verb, prompt in (("fix", FIX), ("explain", EXPLAIN)):
                yield offer(
                    f"{ASK_TITLE}: {verb} “{line}”",
                    names.QUICKFIX,
                    names.ASK_COMMAND,
                    about | {"prompt": prompt},
                    diagnostics=[diagnostic],
                )
        if len(found) > 1:
            every: dict[str, object] = {
                "uri": params.text_document.uri,
                "prompt": FIX_ALL,
                "diagnostics": [self._plain(one) for one in found],
            }
            title = f"{ASK_TITLE}: fix all {len(found)} problems here"
            yield offer(title, names.QUICKFIX, names.ASK_COMMAND, every, diagnostics=found)

    def _of_selection(
        self, document: OpenDocument | None, params: types.CodeActionParams
    ) -> Iterator[Offer]:
        where = {
            "uri": params.text_document.uri,
            "range": self._plain(_wide(document, params.range)),
        }
        word = self._comments.word
        look = SELECTION.format(comment=IN_SELECTION.format(word=word) if word else "")
        offered = [(ASK_TITLE, look)]
        if params.range.start != params.range.end:
            offered += [
                (f"{ASK_TITLE}: refactor this", REFACTOR),
                (f"{ASK_TITLE}: explain this", EXPLAIN_CODE),
            ]
        for title, prompt in offered:
            yield offer(title, names.REFACTOR, names.ASK_COMMAND, where | {"prompt": prompt})

    def _of_file(self, document: OpenDocument) -> Iterator[Offer]:
        comments = self._comments.of(document)
        if len(comments) > 1:
            rows = (
                f"- line {_place(document, one).start.line + 1}: {_asked(one.line)}"
                for one in comments
            )
            about: dict[str, object] = {
                "uri": document.uri,
                "prompt": COMMENTS.format(said="\n".join(rows)),
            }
            title = f"{ASK_TITLE}: all {len(comments)} `{self._comments.word}:` comments"
            yield offer(title, names.SOURCE, names.ASK_COMMAND, about)

    def _of_session(self) -> Iterator[Offer]:
        """What can be done with the session that commands go on in, for who has no command line."""
        opened = self._current.session
        if opened is None or not opened.session.log.entries:
            return
        about: dict[str, object] = {"sessionId": opened.session.id}
        if opened.agent.approvals.pending:
            title = "Agent: show the question that waits"
            yield offer(title, names.SOURCE, names.APPROVE_COMMAND, {})
        if opened.driver.running is not None:
            yield offer("Agent: cancel the turn", names.SOURCE, names.CANCEL_COMMAND, about)
        if is_resumable(opened):
            title = "Agent: go on with what was broken off"
            yield offer(title, names.SOURCE, names.RESUME_COMMAND, about)
        title = "Agent: show the conversation"
        yield offer(title, names.SOURCE, names.SHOW_TRANSCRIPT_COMMAND, about)
        yield offer("Agent: begin a new session", names.SOURCE, names.NEW_SESSION_COMMAND, {})

    def _plain(self, value: object) -> object:
        return self._editor.connection.incoming.messages.plain(value)


def _title(comment: Comment) -> str:
    line = visible(comment.line)
    return f"{ASK_TITLE}: {shortened(line, LINE)}"


def _asked(said: str) -> str:
    """What a comment asks for, once it is the person's word: no more of it than could be seen."""
    return seen(said).text


def _place(document: OpenDocument, comment: Comment) -> types.Range:
    return to_range(document.positions, comment.start, comment.end, document.unit)


def _wide(document: OpenDocument | None, range_: types.Range) -> types.Range:
    """The range; of an empty one its line, so that there is something to look at."""
    if document is None or range_.start != range_.end:
        return range_
    at, _ = to_offsets(document.positions, range_, document.unit)
    text = document.text
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    return to_range(document.positions, start, min(ends, default=len(text)), document.unit)


def _message(diagnostic: types.Diagnostic) -> str:
    """Its text: newer clients may send it as Markdown."""
    message: object = diagnostic.message
    return message if isinstance(message, str) else str(getattr(message, "value", ""))
