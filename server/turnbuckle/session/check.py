"""Every request is what the log says it is: compared before it is sent, message by message."""

import hashlib
from collections.abc import Sequence
from operator import is_

from turnbuckle.session import codec
from turnbuckle.session.events import Message
from turnbuckle.session.rebuild import Rebuild


class NotLogged(Exception):
    """A request differs from what the log says it is; it was not sent."""


class RequestCheck:
    """Holds the rebuild of the stored lines against the requests made of live facts.

    A message is encoded and hashed once for as long as it is in use, so that a step costs nothing
    that grows with the session but the comparison itself.
    """

    def __init__(self) -> None:
        self._rebuild = Rebuild()
        # The last request: its messages, their encodings, the hashes of these, and of all of it.
        self._header = b""
        self._messages: list[Message] = []
        self._data: list[bytes] = []
        self._hashes: list[bytes] = []
        self._whole = _begun(b"")

    @property
    def header(self) -> bytes:
        """Prompt, tools and options as the log states them now."""
        return self._rebuild.header

    def feed(self, line: bytes) -> None:
        """Take the next stored line."""
        self._rebuild.feed(line)

    def digest(self, header: bytes, messages: Sequence[Message]) -> str:
        """The digest of a request: SHA-256 over the SHA-256s of its header and its messages."""
        self._follow(header, messages)
        return self._whole.hexdigest()

    def require(self, header: bytes, messages: Sequence[Message], digest: str) -> None:
        """Pass if the last `llm/stream` rebuilds to exactly this request.

        Raises:
            NotLogged: it does not, so the request would show what is not in the log.
        """
        self._follow(header, messages)
        sent, rebuilt = self._data, self._rebuild
        held = rebuilt.request
        if header != rebuilt.header:
            raise NotLogged("the request's prompt, tools or options are not those in the log")
        if len(sent) != len(held):
            raise NotLogged(f"{len(sent)} messages, {len(held)} of them in the log")
        if sent != held:
            pairs = enumerate(zip(sent, held, strict=True), 1)
            number = next(number for number, (ours, theirs) in pairs if ours != theirs)
            raise NotLogged(f"message {number} is not what the log says")
        if digest != rebuilt.stated:
            raise NotLogged("the log states another digest of the request")

    def _follow(self, header: bytes, messages: Sequence[Message]) -> None:
        """Make this the last request; most often it is the one before, and some more messages."""
        known: dict[int, tuple[bytes, bytes]] = {}
        goes_on = header == self._header and len(messages) >= len(self._messages)
        if not (goes_on and all(map(is_, self._messages, messages))):
            # Both lists hold their messages, so whatever has the same id is the same message.
            pairs = zip(self._data, self._hashes, strict=True)
            known = dict(zip(map(id, self._messages), pairs, strict=True))
            self._header, self._whole = header, _begun(header)
            self._messages, self._data, self._hashes = [], [], []
        for message in messages[len(self._messages) :]:
            data, hash_ = known.get(id(message)) or _encoded(message)
            self._messages.append(message)
            self._data.append(data)
            self._hashes.append(hash_)
            self._whole.update(hash_)


def _begun(header: bytes) -> "hashlib._Hash":
    return hashlib.sha256(hashlib.sha256(header).digest())


def _encoded(message: Message) -> tuple[bytes, bytes]:
    # Joined: a bare orjson result keeps a whole page of memory.
    data = b"".join((codec.encode(message),))
    return data, hashlib.sha256(data).digest()
