"""Sessions on disk: list them, show one, and prove that a log holds every request."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from turnbuckle.cli.exits import COMPLETED, ENDED_OTHERWISE, NOT_RUN
from turnbuckle.cli.lines import Line, Shown, Style, counted, line
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.places import short, shown_place
from turnbuckle.cli.values import event_of
from turnbuckle.cli.visible import one_line
from turnbuckle.session.reading import (
    Outline,
    Unreadable,
    Verified,
    find_files,
    outline,
    records,
    session_files,
    verify_file,
)

Show = Callable[[Iterable[Shown]], None]


def list_sessions(state: Path, show: Show) -> int:
    """One line or two for each session, the newest first."""
    files = session_files(state)
    if not files:
        show([line(f"no sessions in {short(state)}", "dim")])
    for path in files:
        try:
            show(_outlined(outline(path)))
        except Unreadable as error:
            show([((path.stem, "strong"), (f"  {error}", "bad"))])
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
            code = max(code, ENDED_OTHERWISE if verified.differing else COMPLETED)
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
    style: Style = "bad" if verified.differing else "good"
    said = f"{good} of {counted(verified.requests, 'request')} rebuilt"
    lines: list[Line] = [((name, "strong"), (f"  {said}", style))]
    if verified.differing:
        numbers = ", ".join(map(str, verified.differing[:20]))
        more = ", …" if len(verified.differing) > 20 else ""
        lines.append(line(f"  not as the log says: request {numbers}{more}", "bad"))
    return lines


def _outlined(known: Outline) -> list[Line]:
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
    return [*lines, line(f"  {known.damaged}", "bad")] if known.damaged else lines


def _when(milliseconds: int | None) -> str:
    if milliseconds is not None:
        with suppress(OverflowError, OSError, ValueError):  # a clock was far out
            return f"{datetime.fromtimestamp(milliseconds / 1000).astimezone():%Y-%m-%d %H:%M}"
    return "at an unknown time"


def _size(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size // 1024:,} KiB"
