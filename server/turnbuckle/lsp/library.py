"""Stored sessions as requests: list them, read pages of one, hand one on."""

import re
from collections.abc import Iterator
from pathlib import Path

import orjson
from anyio import to_thread

from turnbuckle.agent.opening import find_session
from turnbuckle.agent.sessions import SessionNotFound
from turnbuckle.lsp import names
from turnbuckle.lsp.cursor import page
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.lives import (
    SessionEntry,
    SessionExportParams,
    SessionExportResult,
    SessionListParams,
    SessionListResult,
    SessionReadParams,
    SessionReadResult,
)
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.export import Head, as_json, as_markdown, head_of
from turnbuckle.session.index import Index, Listed, Live, Place
from turnbuckle.session.reading import Stored, Unreadable, load
from turnbuckle.session.search import Words, said_in
from turnbuckle.session.session import Session
from turnbuckle.workspace.paths import path_of

PAGE = 1024 * 1024
"""About how many bytes of facts an answer of `session/read` holds."""

EXPORT_LIMIT = 16 * 1024 * 1024
"""The most bytes of an export in an answer."""

_CURSOR = re.compile(r"(-?\d{1,19})/(.{1,200})", re.DOTALL)
_NAME = re.compile(r"[^\w.-]+")


class Library:
    """What can be known of sessions without opening them; open ones are told as they are now."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._index = Index(editor.state)

    def register(self) -> None:
        """Answer our requests on the editor's connection."""
        connection = self._editor.connection
        connection.on_request(names.SESSION_LIST, self._list)
        connection.on_request(names.SESSION_READ, self._read)
        connection.on_request(names.SESSION_EXPORT, self._export)

    async def _list(self, params: SessionListParams) -> SessionListResult:
        words = Words(params.query or "")
        found = await self._index.page(
            live=list(self._live()),
            wanted=lambda cwd: params.cwd is None or _same_folder(cwd, params.cwd),
            words=words if words.words else None,
            after=_place(params.cursor) if params.cursor is not None else None,
        )
        cursor = f"{found.after[0]}/{found.after[1]}" if found.after else None
        return SessionListResult(sessions=tuple(map(_entry, found.sessions)), cursor=cursor)

    def _live(self) -> Iterator[Live]:
        for opened in self._editor.sessions.open_sessions:
            session = opened.session
            if session.log.entries:
                yield _live(session)

    async def _read(self, params: SessionReadParams) -> SessionReadResult:
        opened = self._open(params.session_id)
        entries = opened.log.entries if opened else (await self._stored(params.session_id)).entries
        values = page(entries, params.from_, params.to, PAGE)
        return SessionReadResult(events=tuple(map(orjson.loads, values)))

    async def _export(self, params: SessionExportParams) -> SessionExportResult:
        if opened := self._open(params.session_id):
            stored = Stored(entries=list(opened.log.entries), damaged=opened.damage)
            stored.lines = list(map(_line, stored.entries))
        else:
            stored = await self._stored(params.session_id)
        head = head_of(params.session_id, stored)
        text = await to_thread.run_sync(_text, head, stored, params.format)
        if len(text) > EXPORT_LIMIT:
            raise Refused(
                f"the session is too large for one message ({len(text):,} characters); "
                f"write it to a file with: turnbuckle sessions export {params.session_id}",
                kind="tooLarge",
                retryable=False,
            )
        ending = "md" if params.format == "markdown" else "json"
        name = _NAME.sub("-", head.title or "").strip("-.")[:60] or params.session_id
        return SessionExportResult(text=text, name=f"{name}.{ending}")

    def _open(self, session_id: str) -> Session | None:
        try:
            return self._editor.sessions.get(session_id).session
        except SessionNotFound:
            return None

    async def _stored(self, session_id: str) -> Stored:
        """A session's facts from disk, as far as they can be read.

        Raises:
            Refused: there is no such session, or its file cannot be opened.
        """
        try:
            path: Path = await to_thread.run_sync(find_session, self._editor.state, session_id)
            return await to_thread.run_sync(load, path)
        except SessionNotFound as error:
            raise Refused(str(error), kind="sessionNotFound", retryable=False) from error
        except Unreadable as error:
            raise Refused(str(error), kind="sessionUnreadable", retryable=False) from error


def _live(session: Session) -> Live:
    entries = session.log.entries
    listed = Listed(
        session_id=session.id,
        updated=entries[-1].time,
        title=session.title,
        cwd=session.created.cwd,
        parent=session.created.parent,
        turns=session.turn,
        damaged=session.damage,
    )
    return Live(listed, lambda: said_in(entries))


def _entry(listed: Listed) -> SessionEntry:
    return SessionEntry(
        session_id=listed.session_id, title=listed.title, cwd=listed.cwd, parent=listed.parent,
        updated=listed.updated, turns=listed.turns, match=listed.match,
        damaged=True if listed.damaged else None,
    )  # fmt: skip


def _same_folder(one: str | None, other: str) -> bool:
    """Whether two URIs name the same folder, however they are spelt."""
    if one is None or one == other:
        return one is not None
    path = path_of(one)
    return path is not None and path == path_of(other)


def _place(cursor: str) -> Place:
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise Refused("cursor: is not that of a page before", code=INVALID_PARAMS)
    return int(found[1]), found[2]


def _line(entry: Entry) -> bytes:
    return codec.line(entry.seq, entry.time, entry.fact, codec.encode_fact(entry.fact))


def _text(head: Head, stored: Stored, format_: str) -> str:
    if format_ == "json":
        return as_json(head, stored.lines).decode()
    return as_markdown(head, stored.entries)
