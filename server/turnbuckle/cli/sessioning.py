"""What can be typed about sessions: find one, go on in it, branch off, go back."""

from datetime import datetime
from pathlib import Path

from anyio import to_thread

from turnbuckle.cli.lines import Line, counted
from turnbuckle.cli.places import shown_place
from turnbuckle.cli.sitting import Sitting
from turnbuckle.cli.visible import one_line
from turnbuckle.lsp.lives import (
    SessionCompactResult,
    SessionEntry,
    SessionExportParams,
    SessionExportResult,
    SessionForkParams,
    SessionForkResult,
    SessionListParams,
    SessionListResult,
    SessionOpenParams,
    SessionParams,
    SessionRewindParams,
    SessionRewindResult,
)
from turnbuckle.lsp.names import (
    SESSION_COMPACT,
    SESSION_EXPORT,
    SESSION_FORK,
    SESSION_LIST,
    SESSION_REWIND,
)

PAGE = 15
"""How many sessions are shown at once."""

PICK = "Which? its number, other words to search for, + for more, or nothing: "


async def sessions(sitting: Sitting, words: str) -> None:
    """Show the sessions in which all words were said, and go on in the one that is picked."""
    found: list[SessionEntry] = []
    cursor: str | None = None
    shown, more = 0, True
    while True:
        while more and len(found) < shown + PAGE:
            page = await _page(sitting, words, cursor)
            found += page.sessions
            cursor, more = page.cursor, page.cursor is not None
        rows = found[shown : shown + PAGE]
        sitting.stage.screen.aside([_row(n, entry) for n, entry in enumerate(rows, shown + 1)])
        if not rows:
            sitting.say("no more sessions" if shown else "no session was found", "warn")
        shown += len(rows)
        reply = (await sitting.source.line(PICK) or "").strip()
        if not reply:
            return
        if reply.isascii() and reply.isdigit() and 1 <= int(reply) <= len(found):
            await _open(sitting, found[int(reply) - 1].session_id)
            return
        if reply != "+":
            words, found, cursor, shown, more = reply, [], None, 0, True


async def resume(sitting: Sitting, words: str) -> None:
    """Go on in a session, by its id or how that begins."""
    if not words:
        await sessions(sitting, "")
        return
    page = await _page(sitting, "", None)
    ids = [entry.session_id for entry in page.sessions if entry.session_id.startswith(words)]
    await _open(sitting, ids[0] if len(ids) == 1 else words)


async def new(sitting: Sitting, _: str) -> None:
    """Begin a session in the same folder."""
    if _idle(sitting):
        sitting.opens = SessionOpenParams(cwd=sitting.dialogue.cwd)


async def fork(sitting: Sitting, words: str) -> None:
    """Branch off after a turn, the last one if none is named, and go on there."""
    turn = _turn(sitting, words)
    if turn is not None and _idle(sitting):
        params = SessionForkParams(session_id=sitting.talk.session_id, turn=turn)
        child = await sitting.talk.client.request(SESSION_FORK, params)
        assert isinstance(child, SessionForkResult)
        sitting.opens = SessionOpenParams(session_id=child.session_id)


async def rewind(sitting: Sitting, words: str) -> None:
    """Go back to before a turn, the last one if none is named; `files` puts files back, too."""
    first, _, rest = words.partition(" ")
    restores = "files" in (first, rest.strip())
    session_id = sitting.talk.session_id
    if first == "undo":
        params = SessionRewindParams(session_id=session_id, undo=True)
    else:
        turn = _turn(sitting, "" if first == "files" else first)
        if turn is None:
            return
        if turn == 0:
            sitting.say("there is no turn to go back before", "warn")
            return
        params = SessionRewindParams(
            session_id=session_id, turn=turn, files="restore" if restores else "keep"
        )
    result = await sitting.talk.client.request(SESSION_REWIND, params)
    assert isinstance(result, SessionRewindResult)
    cwd = sitting.dialogue.cwd
    for file in result.skipped:
        where = one_line(shown_place(file.uri, cwd))
        sitting.say(f"  left as it is: {where}, {one_line(file.why, 200)}", "warn")
    if first != "undo":
        sitting.say("/rewind undo takes it back")


async def compact(sitting: Sitting, _: str) -> None:
    """Sum up the older part of the conversation for the model."""
    sitting.stage.activity.begin("summing up the older part of the conversation")
    try:
        result = await sitting.talk.client.request(
            SESSION_COMPACT, SessionParams(session_id=sitting.talk.session_id)
        )
    finally:
        if not sitting.busy:
            sitting.stage.activity.end()
    assert isinstance(result, SessionCompactResult)
    if result.outcome == "nothing":
        sitting.say(f"nothing was changed: {one_line(result.message, 200)}")
    else:
        sitting.say(f"from about {result.before:,} tokens to {result.after:,}")


async def export(sitting: Sitting, words: str) -> None:
    """Write the session into a new file: Markdown, or JSON where its name ends so."""
    json = words.endswith(".json")
    params = SessionExportParams(
        session_id=sitting.talk.session_id, format="json" if json else "markdown"
    )
    result = await sitting.talk.client.request(SESSION_EXPORT, params)
    assert isinstance(result, SessionExportResult)
    name = words or Path(result.name).name
    try:
        file = await to_thread.run_sync(_write, name, result.text)
    except OSError as error:
        sitting.say(f"not written: {one_line(name, 400)}: {error.strerror}", "bad")
    else:
        sitting.say(f"written: {one_line(str(file), 400)}")


def _write(name: str, text: str) -> Path:
    """Write a file that is not there yet."""
    file = Path(name).expanduser().absolute()
    with file.open("x", encoding="utf-8", newline="") as opened:
        opened.write(text)
    return file


async def _page(sitting: Sitting, words: str, cursor: str | None) -> SessionListResult:
    params = SessionListParams(query=words or None, cursor=cursor)
    result = await sitting.talk.client.request(SESSION_LIST, params)
    assert isinstance(result, SessionListResult)
    return result


async def _open(sitting: Sitting, session_id: str) -> None:
    if session_id == sitting.talk.session_id:
        sitting.say("that is the session that you are in")
    elif _idle(sitting):
        sitting.opens = SessionOpenParams(session_id=session_id)


def _idle(sitting: Sitting) -> bool:
    if sitting.busy:
        sitting.say("a turn runs: wait for its end, or /cancel it first", "warn")
    return not sitting.busy


def _turn(sitting: Sitting, word: str) -> int | None:
    """The number of a turn; without a word that of the last one."""
    if not word:
        return sitting.dialogue.waiting.turn
    if word.isascii() and word.isdigit():
        return int(word)
    sitting.say(f"{one_line(word, 40)} is not the number of a turn", "warn")
    return None


def _row(number: int, entry: SessionEntry) -> Line:
    when = datetime.fromtimestamp(entry.updated / 1000).astimezone()
    matched = f"  {one_line(entry.match, 60)}" if entry.match else ""
    return (
        (f"{number:>3}  ", "you"),
        (f"{when:%Y-%m-%d %H:%M}  ", "dim"),
        (one_line(entry.title or "without a title", 60), ""),
        (f"  {counted(entry.turns, 'turn')}{', damaged' if entry.damaged else ''}", "dim"),
        (f"  {one_line(entry.session_id, 12)}{matched}", "dim"),
    )
