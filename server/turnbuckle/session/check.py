"""Every request is what the log says it is: compared before it is sent, message by message."""

import hashlib
from collections.abc import Sequence

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
        self._encoded: dict[int, tuple[Message, bytes, bytes]] = {}

    @property
    def header(self) -> bytes:
        """Prompt, tools and options as the log states them now."""
        return self._rebuild.header

    def feed(self, line: bytes) -> None:
        """Take the next stored line."""
        self._rebuild.feed(line)

    def _encode(self, message: Message) -> tuple[Message, bytes, bytes]:
        kept = self._encoded.get(id(message))
        if kept is None or kept[0] is not message:
            # Joined: a bare orjson result keeps a whole page of memory.
            data = b"".join((codec.encode(message),))
            kept = self._encoded[id(message)] = (message, data, hashlib.sha256(data).digest())
        return kept

    def digest(self, header: bytes, messages: Sequence[Message]) -> str:
        """The digest of a request: SHA-256 over the SHA-256s of its header and its messages."""
        whole = hashlib.sha256(hashlib.sha256(header).digest())
        for message in messages:
            whole.update(self._encode(message)[2])
        return whole.hexdigest()

    def require(self, header: bytes, messages: Sequence[Message], digest: str) -> None:
        """Pass if the last `llm/stream` rebuilds to exactly this request.

        Raises:
            NotLogged: it does not, so the request would show what is not in the log.
        """
        rebuilt = self._rebuild
        sent = [self._encode(message) for message in messages]
        if len(self._encoded) > 2 * len(sent) + 64:
            self._encoded = {id(kept[0]): kept for kept in sent}
        if header != rebuilt.header:
            raise NotLogged("the request's prompt, tools or options are not those in the log")
        if len(sent) != len(rebuilt.request):
            raise NotLogged(f"{len(sent)} messages, {len(rebuilt.request)} of them in the log")
        for number, (ours, theirs) in enumerate(zip(sent, rebuilt.request, strict=True), 1):
            if ours[1] != theirs:
                raise NotLogged(f"message {number} is not what the log says")
        if digest != rebuilt.stated:
            raise NotLogged("the log states another digest of the request")
