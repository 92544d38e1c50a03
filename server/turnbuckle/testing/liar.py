"""An editor that lies about edits, in ways that real ones do, each alone or several together."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import anyio

from turnbuckle.lsp.client import Client
from turnbuckle.lsp.rpc.body import encode
from turnbuckle.lsp.rpc.framing import frame
from turnbuckle.testing.documents import Unit
from turnbuckle.testing.editor import Answer, RecordingEditor, dismiss
from turnbuckle.testing.edits import Json, OpenDocuments, document_edits

Types: TypeAlias = Literal["nothing", "elsewhere", "inside", "afterwards"]
Makes: TypeAlias = Literal["it", "nothing", "misplaced", "half"]
Checks: TypeAlias = Literal["versions", "nothing"]
Tells: TypeAlias = Literal["at once", "late", "too late", "twice"]
Counts: TypeAlias = Literal["by one", "in jumps", "never", "back"]
Answers: TypeAlias = Literal[
    "truly", "yes", "null", "an odd error", "nonsense", "never", "twice", "and disappears"
]
Commands: TypeAlias = Literal["beside all else", "before all else"]

TYPED = "\N{KEYBOARD}"
"""What the person of this editor types, so that it can be told from all other text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lies:
    """What an editor does with an edit; the first of each is what an honest one does.

    `types`: what a person types between the request and the edit, or after it. `makes`: what
    becomes of the edit. `checks`: whether it refuses one for another version. `tells`: when its
    changes are told; `too late` is when `catch_up` says. `counts`: how its versions go.
    `answers`: what it says. `commands`: whether it does anything while it waits for a command.
    """

    types: Types = "nothing"
    makes: Makes = "it"
    checks: Checks = "versions"
    tells: Tells = "at once"
    counts: Counts = "by one"
    answers: Answers = "truly"
    commands: Commands = "beside all else"

    @classmethod
    def drawn(cls, seed: int) -> "Lies":
        """Lies as a seed says: the same again for the same one."""
        chance = random.Random(seed)
        return cls(**{name: chance.choice(get_args(kind)) for name, kind in _KINDS.items()})

    @classmethod
    def each(cls) -> Sequence["Lies"]:
        """Every lie alone."""
        return [cls(**{name: lie}) for name, kind in _KINDS.items() for lie in get_args(kind)[1:]]

    def __str__(self) -> str:
        """What is not honest."""
        told = {name: getattr(self, name) for name in _KINDS}
        honest = Lies()
        lies = (f"{name} {lie}" for name, lie in told.items() if lie != getattr(honest, name))
        return ", ".join(lies) or "no lie"


# Any: the literals of each field.
_KINDS: Mapping[str, Any] = {
    "types": Types, "makes": Makes, "checks": Checks, "tells": Tells, "counts": Counts,
    "answers": Answers, "commands": Commands,
}  # fmt: skip

_STEPS: Mapping[Counts, int] = {"by one": 1, "in jumps": 7, "never": 0, "back": -1}


class LiarClient(RecordingEditor):
    """An editor that holds a true text, and does with edits and with the truth what `lies` say.

    `heard` is every message that came from the server. `made` counts the edits that were made.
    """

    def __init__(
        self,
        client: Client,
        lies: Lies,
        heard: Sequence[Json],
        *,
        encoding: Unit = "utf-16",
        answer: Answer = dismiss,
    ) -> None:
        super().__init__(client, encoding=encoding, answer=answer)
        self.documents = OpenDocuments(self._told, encoding)
        self.lies = lies
        self.made = 0
        self._heard = heard
        self._version = 0
        self._untold: list[Json] = []
        self._free = anyio.Event()
        self._free.set()

    def open(self, uri: str, text: str, *, version: int = 1, language: str = "plaintext") -> None:
        """Open a document, with the version that this editor begins with."""
        self._version = 0 if self.lies.counts == "never" else 100
        super().open(uri, text, version=self._version, language=language)

    def catch_up(self) -> None:
        """Tell what was not told yet."""
        for params in self._untold:
            self.client.notify("textDocument/didChange", params)
        self._untold.clear()

    async def execute(self, command: str, *arguments: object) -> Any:  # Any: JSON
        """Run a command; an editor that waits for it does nothing else meanwhile."""
        with self._busy():
            return await super().execute(command, *arguments)

    async def apply_edit(self, params: Json) -> Json:
        """Do with an edit what the lies say, and answer as they say."""
        identity = next(m["id"] for m in reversed(self._heard) if m.get("params") == params)
        self.screen.add("workspace/applyEdit", params)
        await self._free.wait()
        failure = self._make(params["edit"])
        self.screen.touch()
        if self.lies.answers == "and disappears":
            self.client.stop.set()
        for answer in self._answers(failure):
            self._post({"id": identity, **answer})
        if self.lies.tells == "late":
            self.catch_up()
        await anyio.sleep_forever()  # it was answered, or will never be
        raise AssertionError

    @contextmanager
    def _busy(self) -> Iterator[None]:
        if self.lies.commands == "before all else":
            self._free = anyio.Event()
        try:
            yield
        finally:
            self._free.set()

    def _make(self, edit: Json) -> str | None:
        ((uri, version, edits),) = document_edits(edit)
        if self.lies.types in ("elsewhere", "inside"):
            self._type(uri, edits)
        if self.lies.checks == "versions" and version not in (None, self._version):
            return f"version {version} is not the current one"
        if self.lies.makes != "nothing":
            self.made += 1
            self.documents.edit(uri, self._bent(edits))
        if self.lies.types == "afterwards":
            text = self.documents[uri].text
            self.documents.type(uri, len(text), len(text), TYPED)
        return None

    def _type(self, uri: str, edits: Sequence[Json]) -> None:
        """A person types in the first line of the edit, or at the very end of the text."""
        text = self.documents[uri].text
        at = len(text)
        if self.lies.types == "inside":
            line = edits[0]["range"]["start"]["line"]
            at = sum(len(one) + 1 for one in text.split("\n")[:line])
        self.documents.type(uri, at, at, TYPED)

    def _bent(self, edits: Sequence[Json]) -> Sequence[Json]:
        """The edits as they are really made."""
        if self.lies.makes == "half":
            return edits[:1]
        if self.lies.makes == "misplaced":
            return [edit | {"range": _lower(edit["range"])} for edit in edits]
        return edits

    def _answers(self, failure: str | None) -> Sequence[Json]:
        """What it says to an edit, in the order in which it says it."""
        no = {"result": {"applied": False, "failureReason": failure or "no"}}
        yes = {"result": {"applied": True}}
        truth = yes if failure is None else no
        said: Mapping[Answers, Sequence[Json]] = {
            "truly": [truth],
            "yes": [yes],
            "null": [{"result": None}],
            "an odd error": [{"error": {"code": 32603, "message": "Internal error"}}],
            "nonsense": [{"result": {"applied": "perhaps", "failureReason": 7}}],
            "never": [],
            "twice": [truth, no],
            "and disappears": [],
        }
        return said[self.lies.answers]

    def _post(self, message: Json) -> None:
        body = encode({"jsonrpc": "2.0", **message}, lambda value: value)
        self.client.connection.writer.post(frame(body))

    def _told(self, method: str, params: object) -> None:
        """Tell the server of a change, when and with the version that the lies say."""
        if method != "textDocument/didChange" or not isinstance(params, dict):
            self.client.notify(method, params)
            return
        self._version += _STEPS[self.lies.counts]
        name = params["textDocument"] | {"version": self._version}
        told = params | {"textDocument": name}
        if self.lies.tells in ("late", "too late"):
            self._untold.append(told)
            return
        for _ in range(2 if self.lies.tells == "twice" else 1):
            self.client.notify(method, told)


def _lower(place: Json) -> Json:
    """A range two lines further down."""
    return {
        name: {"line": place[name]["line"] + 2, "character": place[name]["character"]}
        for name in ("start", "end")
    }
