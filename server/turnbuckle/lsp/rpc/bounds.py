"""How deep and how long JSON may be, so that a bad message costs no more than a good one."""

from collections.abc import Iterable

from turnbuckle.lsp.rpc.errors import BadMessage

DEEPEST = 128
"""Levels of lists and objects in params or a result."""

LONGEST = 10_000
"""Entries of a list or an object in params of ours: each that is wrong is an error of its own."""


def require_shallow(value: object, name: str) -> None:
    """Pass if JSON is not nested so deeply that those who walk it would come to their end.

    Raises:
        BadMessage: it is; `name` stands for the whole.
    """
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _held(one) if isinstance(inner, dict | list)]
        if not level:
            return
    raise BadMessage(f"{name}: nested more than {DEEPEST} levels deep")


def require_short(value: object, name: str) -> None:
    """Pass if no list and no object in shallow JSON is too long.

    Raises:
        BadMessage: one is; `name` stands for the whole.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list) and len(one) > LONGEST:
            raise BadMessage(f"{name}: a list in it has more than {LONGEST:,} entries")
        waiting += [inner for inner in _held(one) if isinstance(inner, dict | list)]


def _held(value: object) -> Iterable[object]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()
