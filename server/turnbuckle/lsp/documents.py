"""Our own mirror of the documents that are open in the client's editor."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import anyio

from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.lsp.edits.trail import Trail
from turnbuckle.lsp.mirror import Mirror, Spot
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.versions import Versions
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.paths import canonical, path_of
from turnbuckle.workspace.text import Positions, Splice, Unit, smallest, whole

logger = logging.getLogger(__name__)

MANY = 50
"""Changes in one notification above which they are told as one."""


class OpenDocument:
    """A document that is open in the client, as it stands now.

    `uri` is the client's own spelling, for what is sent back; `version` is what the client says and
    never computed. `revision` is ours: it grows with every change of any document. `touched` is
    whether it was changed since it was opened or saved. `doubt` says why the text may not be the
    client's, None where nothing speaks against it; a whole text that comes ends every doubt. `lock`
    is held by the one who changes the document.
    """

    def __init__(self, item: types.TextDocumentItem, unit: Unit, revision: int) -> None:
        self.uri = item.uri
        self.path = real_path(item.uri)
        self.language = str(item.language_id)
        self.versions = Versions(item.version)
        self.revision = revision
        self.touched = False
        self.doubt: str | None = None
        self.closed = False
        self.trail = Trail()
        self.lock = anyio.Lock()
        self.unit = unit
        self._mirror = Mirror(whole(item.text), unit)
        self.text = self._mirror.text
        self._digest: str | None = None
        self._positions: Positions | None = None
        self._turned: anyio.Event | None = None

    @property
    def version(self) -> int:
        """The latest version that the client told."""
        return self.versions.now

    @property
    def digest(self) -> str:
        """The digest of the text; from here on it is known what changes it."""
        if self._digest is None:
            self._digest = digest_of(self.text)
            self.trail.hold(self._digest)
        return self._digest

    @property
    def positions(self) -> Positions:
        """The offsets of the text as lines and characters, and back."""
        if self._positions is None:
            self._positions = Positions(self.text)
        return self._positions

    async def changed(self, since: int) -> None:
        """Return when the revision is not `since` any more, or the document is closed."""
        while self.revision == since and not self.closed:
            if self._turned is None:
                self._turned = anyio.Event()
            await self._turned.wait()

    def edit(
        self, changes: tuple[types.TextDocumentContentChangeEvent, ...], revision: int
    ) -> tuple[Splice, ...]:
        """Take over what the client changed, one after another; gives what really changed."""
        before = self.text
        splices = [self._replaced(change) for change in changes]
        self.text = self._mirror.text
        if len(splices) > MANY:
            splices = [smallest(before, Splice(0, len(before), self.text))]
        splices = [splice for splice in splices if splice.new or splice.start < splice.end]
        for splice in splices:
            self.trail.add(splice)
        if splices:
            self.touched = True
            self._digest = self._positions = None
        self._turn(revision)
        return tuple(splices)

    def close(self) -> None:
        """Wake who waits: nothing changes any more."""
        self.closed = True
        self._turn(self.revision)

    def _replaced(self, change: types.TextDocumentContentChangeEvent) -> Splice:
        new = whole(change.text)
        if isinstance(change, types.TextDocumentContentChangePartial):
            first = Spot(change.range.start.line, change.range.start.character)
            last = Spot(change.range.end.line, change.range.end.character)
            if not self._mirror.has(first, last):
                self.doubt = self.doubt or "it told of a change of lines that are not there"
            return self._mirror.replace(first, last, new)
        self.doubt = None
        before = self._mirror.text
        self._mirror = Mirror(new, self.unit)
        return smallest(before, Splice(0, len(before), new))

    def _turn(self, revision: int) -> None:
        self.revision = revision
        if self._turned is not None:
            self._turned.set()
            self._turned = None


Listener: TypeAlias = Callable[[OpenDocument, tuple[Splice, ...]], None]


class Documents:
    """The open documents: one for each that the client has, however it spells its URI.

    The `did_…` functions take the params of the notifications of that name, in their order.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._open: dict[str, OpenDocument] = {}
        self._listeners: dict[object, Listener] = {}
        self._revision = 0

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(tuple(self._open.values()))

    def lookup(self, name: str | Path) -> OpenDocument | None:
        """The open document of a URI or of an absolute path.

        A path is also found where the client knows the file through a link. If it has the same file
        open under several names, the one that changed last is given.
        """
        if not self._open:
            return None
        if isinstance(name, str) and (document := self._open.get(canonical(name))):
            return document
        path = real_path(name) if isinstance(name, str) else _real(name)
        if path is None:
            return None
        same = (document for document in self._open.values() if _is(document.path, path))
        return max(same, key=lambda document: document.revision, default=None)

    def listen(self, scope: Scope, listener: Listener) -> Disposer:
        """Tell what changes in any document, right after it changed, until the scope closes."""
        key = object()
        self._listeners[key] = listener
        return scope.defer(lambda: self._forget(key), "document listener")

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take up a document; one that is open already is replaced."""
        item = params.text_document
        document = self._open.get(canonical(item.uri))
        if document is None:
            self._open[canonical(item.uri)] = OpenDocument(item, self.unit, self._next())
            return
        logger.warning("%s was opened again without being closed", item.uri)
        document.uri, document.versions = item.uri, Versions(item.version)
        self._edit(document, (types.TextDocumentContentChangeWholeDocument(text=item.text),))
        document.touched = False

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take over what was changed in a document."""
        name = params.text_document
        document = self._open.get(canonical(name.uri))
        if document is None:
            logger.warning("a change of %s, which is not open, is ignored", name.uri)
            return
        if odd := document.versions.follow(name.version):
            document.doubt = document.doubt or odd
        self._edit(document, tuple(params.content_changes))
        if document.doubt is not None:
            logger.warning("the text of %s is not known for sure: %s", name.uri, document.doubt)

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Compare the text that was saved with ours, where the client sends it; theirs is right."""
        document = self._open.get(canonical(params.text_document.uri))
        if document is None:
            return
        if params.text is not None and whole(params.text) != document.text:
            logger.warning("%s was saved with another text than is known here", document.uri)
            self._edit(document, (types.TextDocumentContentChangeWholeDocument(text=params.text),))
        elif params.text is not None:
            document.doubt = None
        document.touched = False

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Let go of a document."""
        document = self._open.pop(canonical(params.text_document.uri), None)
        if document is None:
            logger.warning("%s was closed, but is not open", params.text_document.uri)
            return
        document.close()

    def _edit(
        self, document: OpenDocument, changes: tuple[types.TextDocumentContentChangeEvent, ...]
    ) -> None:
        splices = document.edit(changes, self._next())
        for listener in tuple(self._listeners.values()):
            listener(document, splices)

    def _next(self) -> int:
        self._revision += 1
        return self._revision

    def _forget(self, key: object) -> None:
        self._listeners.pop(key, None)


def real_path(uri: str) -> Path | None:
    """The path of a file URI without links in it; None for what is no file here."""
    path = path_of(uri)
    return None if path is None else _real(path)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is(one: Path | None, other: Path) -> bool:
    """Whether two paths without links are one file; where case tells nothing, the system knows."""
    if one is None or one == other:
        return one is not None
    if str(one).casefold() != str(other).casefold():
        return False
    try:
        return one.samefile(other)
    except OSError:
        return False
