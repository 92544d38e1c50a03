"""What kind of message a JSON value is: the outermost layer of JSON-RPC, and only that."""

from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from turnbuckle.lsp.rpc.errors import INVALID_REQUEST

Id: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Request:
    """Wants one answer that bears its id."""

    id: Id
    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Notification:
    """Wants no answer."""

    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Response:
    """Answers a request: with `error` if there is one, else with `result`.

    `whole` is false where it had neither: some clients leave out a result that is null.
    """

    id: Id
    result: object
    error: object
    whole: bool


@dataclass(frozen=True, slots=True)
class Invalid:
    """Is none of these; the answer to send, with the id where it could be read."""

    id: Id | None
    message: str
    code: int = INVALID_REQUEST


Message: TypeAlias = Request | Notification | Response | Invalid


def open_envelope(value: object) -> Message:
    """Sort a decoded body; extra members are ignored, and a missing `jsonrpc` does no harm."""
    if isinstance(value, list):
        return Invalid(None, "batches are not supported: send one message a frame")
    if not isinstance(value, dict):
        return Invalid(None, "a message must be an object")
    identity = value.get("id")
    if "method" in value:
        return _call(value, identity)
    if not _is_id(identity):
        return _stray(value)
    whole = "result" in value or "error" in value
    return Response(identity, value.get("result"), value.get("error"), whole)


def _call(value: dict[str, object], identity: object) -> Message:
    method = value["method"]
    if "id" in value and not _is_id(identity):
        return Invalid(None, "id must be an integer or a string")
    if not isinstance(method, str):
        return Invalid(identity if _is_id(identity) else None, "method must be a string")
    if _is_id(identity):
        return Request(identity, method, value.get("params"))
    return Notification(method, value.get("params"))


def _stray(value: dict[str, object]) -> Message:
    if value.get("error") is not None:
        # The peer could not read something of ours; an answer to that would go round for ever.
        return Notification("$/error", value["error"])
    return Invalid(None, "a message must have a method, or a result and an id")


def _is_id(identity: object) -> TypeGuard[Id]:
    return isinstance(identity, int | str) and not isinstance(identity, bool)
