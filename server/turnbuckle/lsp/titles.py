"""What a prompt says, which titles it has, and what a click on each of them means."""

from dataclasses import dataclass
from pathlib import Path

from turnbuckle.agent.approvals import SESSION, Pending
from turnbuckle.lsp.subjects import headline, is_plain, shortened, unlinked, visible
from turnbuckle.tools.subject import Change, Question

SHOW, ALLOW, REJECT = "Show…", "Allow once", "Reject"
ALLOW_SESSION = "Allow for this session"
NO_ANSWER = "No answer"

MESSAGE_LIMIT = 400
"""How many characters a prompt shows at most."""

TITLE_LIMIT = 60
"""How many characters of a choice a title shows at most."""

ORDINARY = ("commands are asked about first", "changes are asked about first", "it is a question")
"""Reasons that say nothing which the prompt does not say anyway."""


@dataclass(frozen=True, slots=True)
class Click:
    """What a title means: a decision, an answer to a question."""

    allow: bool
    remember: str | None = None
    answer: str | None = None


DISMISSED = Click(allow=False)
"""What no click, and a click on what was not offered, means."""


def message(pending: Pending, home: Path | None, waiting: int) -> str:
    """What a prompt says of a question; `waiting` others come after it."""
    verb = "asks:" if isinstance(pending.subject, Question) else "wants to"
    line = unlinked(visible(f"Turnbuckle {verb} {_line(pending, home)}"))
    said = shortened(line, MESSAGE_LIMIT)
    more = f"{waiting} more question{'s' * (waiting > 1)} wait{'s' * (waiting == 1)}"
    return f"{said} ({more})" if waiting else said


def titles(pending: Pending, home: Path | None, *, shown: bool) -> dict[str, Click | None]:
    """What can be clicked, in order; None shows the whole subject.

    There is no yes to what does not show in the message, until it was `shown`.
    """
    subject = pending.subject
    offered: dict[str, Click | None] = {SHOW: None}
    if isinstance(subject, Question):
        plain = is_plain(subject.question) and all(map(_fits, subject.choices))
        for choice in subject.choices if plain or shown else ():
            offered[_unlike(_title(choice), offered)] = Click(allow=True, answer=choice)
        return offered | {NO_ANSWER: DISMISSED}
    if shown or (is_plain(_line(pending, home)) and not isinstance(subject, Change)):
        offered[ALLOW] = Click(allow=True)
        if pending.grants:
            offered[ALLOW_SESSION] = Click(allow=True, remember=SESSION)
    return offered | {REJECT: DISMISSED}


def _line(pending: Pending, home: Path | None) -> str:
    line = headline(pending.subject, home)
    return line if pending.reason in ORDINARY else f"{line} ({pending.reason})"


def _fits(choice: str) -> bool:
    return is_plain(choice) and len(choice) <= TITLE_LIMIT


def _title(choice: str) -> str:
    return shortened(visible(choice), TITLE_LIMIT)


def _unlike(title: str, others: dict[str, Click | None]) -> str:
    """A title that no other has, and that is none of ours."""
    taken = {*others, SHOW, NO_ANSWER, ""}
    number, found = 1, title
    while found in taken:
        number, found = number + 1, f"{title} ({number + 1})"
    return found
