"""Messages of our own, as pydantic models, over whatever the rest are."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from turnbuckle.lsp.rpc.bounds import require_short
from turnbuckle.lsp.rpc.errors import BadMessage
from turnbuckle.lsp.rpc.messages import Messages

Requests: TypeAlias = Mapping[str, tuple[type[BaseModel], type[BaseModel]]]
"""Method → params, result."""


class Modelled:
    """Reads and writes the messages of a table with its models, and leaves all others to `over`."""

    def __init__(self, requests: Requests, over: Messages) -> None:
        self._requests = requests
        self._over = over

    def params(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The model of the method's params; absent ones are an empty object."""
        if (models := self._requests.get(method)) is None:
            return self._over.params(method, raw)
        require_short(raw, "params")
        return _validated(models[0], {} if raw is None else raw, "params")

    def result(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The model of the method's result."""
        if (models := self._requests.get(method)) is None:
            return self._over.result(method, raw)
        return _validated(models[1], raw, "result")

    def plain(self, value: object) -> object:
        """A model as JSON: camelCase, absent rather than null."""
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json", by_alias=True, exclude_none=True)
        return self._over.plain(value)


def _validated(model: type[BaseModel], raw: object, name: str) -> BaseModel:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise BadMessage(reason(error, name)) from None


def reason(error: ValidationError, name: str, most: int = 3) -> str:
    """The first errors as `field: reason`, without the values; `name` stands for the whole."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    said = [
        f"{'.'.join(map(str, one['loc'])) or name}: {one['msg'].removeprefix('Value error, ')}"
        for one in errors[:most]
    ]
    if len(errors) > most:
        said.append(f"and {len(errors) - most} more")
    return "; ".join(said)
