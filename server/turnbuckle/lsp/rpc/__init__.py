"""JSON-RPC made strict: one answer a request, bounded writing, cancel in every state."""

from turnbuckle.lsp.rpc.asking import Question
from turnbuckle.lsp.rpc.connection import Connection
from turnbuckle.lsp.rpc.errors import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_FAILED,
    BadMessage,
    NoAnswer,
    PeerRefused,
    Refused,
)
from turnbuckle.lsp.rpc.incoming import NotificationHandler, RequestHandler

__all__ = [
    "CANCELLED",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "NOT_INITIALIZED",
    "PARSE_ERROR",
    "REQUEST_FAILED",
    "BadMessage",
    "Connection",
    "NoAnswer",
    "NotificationHandler",
    "PeerRefused",
    "Question",
    "Refused",
    "RequestHandler",
]
