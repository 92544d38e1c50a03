"""Sessions on disk: list them, show one, hand it on, prove that a log holds every request."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from turnbuckle.cli.exits import COMPLETED, ENDED_OTHERWISE, NOT_RUN
from turnbuckle.cli.lines import Line, Shown, Style, counted, line
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.places import short, shown_place
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.values import event_of
from turnbuckle.cli.visible import harmless, one_line
from turnbuckle.session.export import as_json, as_markdown, head_of
from turnbuckle.session.index import said_in_file
from turnbuckle.session.reading import (
    Outline,
    Unreadable,
    find_files,
    load,
    outline,
    records,
    session_files,
)
from turnbuckle.session.search import Words
from turnbuckle.session.verification import Verified, verify_file

Show = Callable[[Iterable[Shown]], None]


def list_sessions(state: Path, show: Show, query: str = "") -> int:
    """Some lines for each session, or for each that holds all words; the newest first."""
    words = Words(query)
    found = False
    for path in session_files(state):
        match = words.find(said_in_file(path, words)) if words.words else None
        if words.words and match is None:
            continue
        found = True
        try:
            show(_outlined(outline(path), match))
        except Unreadable as error:
            show([((path.stem, "strong"), (f"  {error}", "bad"))])
    if not found:
        holding = f" that hold {harmless(query)!r}" if words.words else ""
        show([line(f"no sessions{holding} in {short(state)}", "dim")])
    return COMPLETED


def show_session(state: Path, session_id: str, show: Show) -> int:
    """What happened in a session, as the terminal shows it live.

    Raises:
        Unreadable: there is no such session, or it is damaged from here on.
    """
    narration = Narration(echo=True, subjects=True)
    for _, record in records(the_file(state, session_id)):
        if (event := event_of(record)) is not None:
            show(narration.feed(event))
    return COMPLETED


def show_lines(state: Path, session_id: str, write: Callable[[str], None]) -> int:
    """The stored lines of a session, as they are.

    Raises:
        Unreadable: there is no such session, or it is damaged from here on.
    """
    for stored, _ in records(the_file(state, session_id)):
        write(stored.decode("utf-8", "replace"))
    return COMPLETED


def export_session(
    state: Path, session_id: str, screen: Screen, format_: str, output: Path | None
) -> int:
    """Write a whole session to a file, or to standard output; a damaged one up to the damage.

    Raises:
        Unreadable: there is no such session, or its file cannot be opened.
    """
    path = the_file(state, session_id)
    kept = load(path)
    head = head_of(path.stem, kept)
    if format_ == "json":
        data = as_json(head, kept.lines)
    else:
        data = as_markdown(head, kept.entries).encode()
    code = COMPLETED
    if output is None:
        screen.write(data.decode())
    else:
        try:
            _replace(output, data)
        except OSError as error:
            screen.complain([line(f"{output} cannot be written: {error.strerror}", "bad")])
            return ENDED_OTHERWISE
    if kept.damaged is not None:
        screen.complain([line(f"the rest is missing: {kept.damaged}", "bad")])
        code = ENDED_OTHERWISE
    return code


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; what stood there stays until then."""
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        scratch.write_bytes(data)
        scratch.replace(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def verify_sessions(state: Path, session_ids: Sequence[str], show: Show, *, every: bool) -> int:
    """Rebuild the requests of sessions from their logs; the worst outcome is the exit code."""
    code = COMPLETED
    paths: list[tuple[str, Path | None]] = [(p.stem, p) for p in session_files(state)]
    for session_id, path in paths if every else [(name, None) for name in session_ids]:
        try:
            verified = verify_file(path or the_file(state, session_id))
        except Unreadable as error:
            show([((session_id, "strong"), (f"  {error}", "bad"))])
            code = NOT_RUN
        else:
            show(verified_lines(session_id, verified))
            code = max(code, COMPLETED if verified.ok else ENDED_OTHERWISE)
    return code


def the_file(state: Path, session_id: str) -> Path:
    """The file of the one session that is meant.

    Raises:
        Unreadable: there is none, or more than one.
    """
    found = find_files(state, session_id)
    if len(found) == 1:
        return found[0]
    if found:
        raise Unreadable(f"{len(found)} sessions begin with {session_id!r}; give more of the id")
    raise Unreadable(f"there is no session {session_id!r} in {short(state)}")


def verified_lines(name: str, verified: Verified) -> list[Line]:
    """What a verification found, in a line, and in another what differs."""
    good = verified.requests - len(verified.differing)
    style: Style = "good" if verified.ok else "bad"
    said = f"{good} of {counted(verified.requests, 'request')} rebuilt"
    lines: list[Line] = [((name, "strong"), (f"  {said}", style))]
    if verified.differing:
        numbers = ", ".join(map(str, verified.differing[:20]))
        more = ", …" if len(verified.differing) > 20 else ""
        lines.append(line(f"  not as the log says: request {numbers}{more}", "bad"))
    if (first := verified.difference) is not None:
        lines.append(line(f"  line {first.line}: {first.what}", "bad"))
    return lines


def _outlined(known: Outline, match: str | None) -> list[Line]:
    when = _when(known.updated or known.created)
    facts = [counted(known.turns, "turn"), _size(known.size)]
    if known.turns:
        facts.append(known.end or "running, or cut off")
    head: Line = (
        (known.session_id, "strong"),
        (f"  {when}  ", "dim"),
        (one_line(known.title or "(no title)", 60), ""),
    )
    where = f"{shown_place(known.cwd, None)} · " if known.cwd else ""
    lines = [head, line(f"  {where}{', '.join(facts)}", "dim")]
    lines += [line(f"  › {one_line(match, 200)}", "you")] if match else []
    return [*lines, line(f"  {one_line(known.damaged, 200)}", "bad")] if known.damaged else lines


def _when(milliseconds: int | None) -> str:
    if milliseconds is not None:
        with suppress(OverflowError, OSError, ValueError):  # a clock was far out
            return f"{datetime.fromtimestamp(milliseconds / 1000).astimezone():%Y-%m-%d %H:%M}"
    return "at an unknown time"


def _size(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size // 1024:,} KiB"
