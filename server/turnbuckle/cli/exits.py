"""Exit codes, and what they mean to a script."""

from typing import Final

COMPLETED: Final = 0
ENDED_OTHERWISE: Final = 1
NOT_RUN: Final = 2
DENIED: Final = 3
NO_SERVER: Final = 4
CANCELLED: Final = 130

TABLE = (
    (COMPLETED, "the turn completed"),
    (
        ENDED_OTHERWISE,
        "the turn ended otherwise: an error, blocked, stopped, or cut off by a limit of tokens",
    ),
    (NOT_RUN, "nothing was run: wrong usage, not found, or refused by the server"),
    (
        DENIED,
        "the turn completed, but something was denied because there was no terminal to ask at",
    ),
    (NO_SERVER, "the server could not start, or died"),
    (CANCELLED, "cancelled with Ctrl-C; 128 + n after another signal n"),
)
"""Every exit code of a turn, for the help and the documentation."""

HELP = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in TABLE) + "."


def code_of(kind: str, *, denied: bool) -> int:
    """The exit code for the end of a turn; `denied` says that nobody could be asked."""
    if kind == "completed":
        return DENIED if denied else COMPLETED
    return CANCELLED if kind == "aborted" else ENDED_OTHERWISE
