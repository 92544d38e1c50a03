"""JSON that nobody can change: what a fact holds, once it is in the log."""

import dataclasses
from typing import Any, NoReturn

# Any: JSON of any shape, as `JsonObject` says.


def _refuse(self: object, *_args: object, **_named: object) -> NoReturn:
    raise TypeError("a fact cannot be changed; copy what you want to change")


class FrozenObject(dict[str, Any]):
    """A JSON object that stays as it is; equal to a plain one, and a copy of it is a plain one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class FrozenArray(list[Any]):
    """A JSON array that stays as it is; equal to a plain one, and a copy of it is a plain one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = clear = _refuse
    pop = sort = reverse = _refuse

    def __reduce__(self) -> tuple[type, tuple[list[Any]]]:
        return list, (list(self),)


def frozen(value: Any) -> Any:  # Any: a value of a fact, or a fact, in and out
    """The value with all its JSON frozen, all levels deep; a dataclass is frozen in place.

    So it must be nobody else's.
    """
    if isinstance(value, dict):
        return FrozenObject((key, frozen(item)) for key, item in value.items())
    if isinstance(value, list):
        return FrozenArray(map(frozen, value))
    if isinstance(value, tuple):
        return tuple(map(frozen, value))
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if isinstance(item, dict | list | tuple) or dataclasses.is_dataclass(item):
                object.__setattr__(value, field.name, frozen(item))
    return value
