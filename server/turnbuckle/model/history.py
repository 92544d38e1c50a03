"""The messages of a request as JSON; what the request before began with is not done again."""

from collections.abc import Callable, Sequence
from operator import is_

from turnbuckle.session.events import Message

_TOOL = b'{"role":"tool",'
_USER = b'{"role":"user","content":"'
_USER_END = b'"}'
_PARTS = b'{"role":"user","content":['
_PARTS_END = b"]}"
_BRIDGE = b'{"role":"assistant","content":"Understood."}'


class History:
    """Encodes messages, each once for as long as the next request has the same object.

    What the person says in several messages goes out as one, since the templates of many models
    refuse two in a row. `bridge` says that an answer has to stand between a tool and the person.
    `images` and `image_bytes` are the pictures of the last request, and how much of it they are.
    """

    def __init__(self, encode: Callable[[Message], bytes], *, bridge: bool) -> None:
        self._encode = encode
        self._bridge = bridge
        self._begin([])

    def _begin(self, sent: list[tuple[Message, bytes]]) -> None:
        # The facts are held beside their bytes, so that no id is used again.
        self._known = {id(message): (message, piece) for message, piece in sent}
        self._messages: list[Message] = []
        self._pieces: list[bytes] = []  # as they go out
        self._users: list[bytes] = []  # what the person said after these
        self.images = 0
        self.image_bytes = 0

    def unknown(self, messages: Sequence[Message]) -> list[Message]:
        """Those of a request's messages that are not encoded yet."""
        start = len(self._messages) if self._goes_on(messages) else 0
        return [message for message in messages[start:] if id(message) not in self._known]

    def pieces(self, messages: Sequence[Message]) -> list[bytes]:
        """The JSON of a request's messages, to be joined by commas."""
        if not self._goes_on(messages):
            known = (self._known.get(id(message)) for message in messages)
            self._begin([pair for pair in known if pair is not None])
        for message in messages[len(self._messages) :]:
            self._add(message)
        return self._pieces + self._said()

    def _goes_on(self, messages: Sequence[Message]) -> bool:
        """Whether the request before was the beginning of this one."""
        longer = len(messages) >= len(self._messages)
        return longer and all(map(is_, self._messages, messages))

    def _add(self, message: Message) -> None:
        known = self._known.get(id(message))
        if known is None:
            known = self._known[id(message)] = (message, self._encode(message))
        self._messages.append(message)
        piece = known[1]
        if piece.startswith(_PARTS):
            self.images += 1
            self.image_bytes += len(piece)
        if piece.startswith((_USER, _PARTS)):
            self._users.append(piece)
            return
        self._pieces += self._said()
        self._users = []
        self._pieces.append(piece)

    def _said(self) -> list[bytes]:
        """What the person says, as one message, and what has to stand before it."""
        if not self._users:
            return []
        said = self._users[0] if len(self._users) == 1 else _as_one(self._users)
        after_tool = bool(self._pieces) and self._pieces[-1].startswith(_TOOL)
        return [_BRIDGE, said] if after_tool and self._bridge else [said]


def _as_one(users: list[bytes]) -> bytes:
    """Encoded messages of the person as one, with an empty line between them."""
    if any(piece.startswith(_PARTS) for piece in users):
        return b"".join((_PARTS, b",".join(filter(None, map(_parts, users))), _PARTS_END))
    texts = (piece[len(_USER) : -len(_USER_END)] for piece in users)
    return b"".join((_USER, rb"\n\n".join(texts), _USER_END))


def _parts(user: bytes) -> bytes:
    """The parts of an encoded message of the person; none of one that says nothing."""
    if user.startswith(_PARTS):
        return user[len(_PARTS) : -len(_PARTS_END)]
    text = user[len(_USER) :]
    return b"" if text == _USER_END else b'{"type":"text","text":"' + text
