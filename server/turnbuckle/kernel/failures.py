"""Say in one line what failed, and whose fault it was."""

from traceback import TracebackException

_LIMIT = 2000
"""The most characters that one failure may take up."""


class _Origin(str):
    """A note on an error that says who raised it."""

    __slots__ = ()


def blame(error: BaseException, who: str) -> None:
    """Note who raised an error, unless that is known already; not for a cancellation."""
    if isinstance(error, Exception) and _origin(error) is None:
        error.add_note(_Origin(f"raised by {who}"))


def told(error: BaseException) -> str:
    """The error's type, its words and who raised it, bounded; works for every error."""
    origin = _origin(error)
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]  # a group of one says nothing by itself
        origin = origin or _origin(error)
    # Not `str(error)`: a broken `__str__` must not become a second failure.
    words = str(TracebackException(type(error), error, None, lookup_lines=False))
    name = type(error).__name__
    said = f"{name}: {words}" if words else name
    said = said if len(said) <= _LIMIT else f"{said[:_LIMIT]}…"
    return f"{said}, {origin}" if origin else said


def _origin(error: BaseException) -> _Origin | None:
    notes: list[object] = getattr(error, "__notes__", [])
    return next((note for note in notes if isinstance(note, _Origin)), None)
