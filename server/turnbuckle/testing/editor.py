"""A fake editor: holds real documents, answers from a script, and records all that it is sent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import anyio

from turnbuckle.lsp.client import Client
from turnbuckle.testing.documents import Unit
from turnbuckle.testing.edits import Json, OpenDocuments

T = TypeVar("T")

Answer: TypeAlias = Callable[[str, list[str]], str | None]
"""Message and titles of a prompt → the title to click, None to dismiss it, or `HANG`."""

HANG = "(no answer)"
"""What a script gives for a prompt that stays on the screen."""

NOTED = (
    "$/progress",
    "window/showMessage",
    "window/logMessage",
    "textDocument/publishDiagnostics",
)
GRANTED = (
    "window/workDoneProgress/create",
    "client/registerCapability",
    "client/unregisterCapability",
    "workspace/codeLens/refresh",
    "workspace/diagnostic/refresh",
    "workspace/textDocumentContent/refresh",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One message of the server. Any: its params are JSON."""

    method: str
    params: Any


class Screen:
    """What came from the server, in order of arrival, and a way to wait for it."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._changed = anyio.Event()

    def add(self, method: str, params: object) -> None:
        """Record a message."""
        self.seen.append(Seen(method, params))
        self.touch()

    def touch(self) -> None:
        """Have the conditions looked at again that are waited for."""
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, condition: Callable[[], T | None], limit: float = 10.0) -> T:
        """Wait until a condition gives something true, and give that.

        Raises:
            AssertionError: it did not in `limit` seconds; the text says what came instead.
        """
        with anyio.move_on_after(limit):
            while not (value := condition()):
                await self._changed.wait()
            return value
        came = ", ".join(one.method for one in self.seen[-20:]) or "nothing"
        raise AssertionError(
            f"it did not happen within {limit:g} seconds; the last that came: {came}"
        )

    def of(self, method: str) -> list[Any]:  # Any: JSON
        """The params of all messages of a method."""
        return [one.params for one in self.seen if one.method == method]

    def progress(self, token: int | str) -> list[Any]:  # Any: JSON
        """The values that came on a token."""
        return [one["value"] for one in self.of("$/progress") if one["token"] == token]

    @property
    def prompts(self) -> list[tuple[str, list[str]]]:
        """Message and titles of each `window/showMessageRequest`."""
        return [
            (params["message"], _titles(params)) for params in self.of("window/showMessageRequest")
        ]

    @property
    def messages(self) -> list[str]:
        """The text of each `window/showMessage`."""
        return [params["message"] for params in self.of("window/showMessage")]


def dismiss(message: str, titles: list[str]) -> str | None:
    """Click nothing."""
    return None


class RecordingEditor:
    """An editor on a client; a subclass that lies replaces `apply_edit` or `prompt`.

    Its documents tell the server of every change; what the server sends stands on its screen.
    """

    def __init__(
        self, client: Client, *, encoding: Unit = "utf-16", answer: Answer = dismiss
    ) -> None:
        self.client = client
        self.encoding = encoding
        self.answer = answer
        self.screen = Screen()
        self.documents = OpenDocuments(client.notify, encoding)
        for method in NOTED:
            client.on_notification(method, partial(self.screen.add, method))
        for method in GRANTED:
            client.on_request(method, partial(self._grant, method))
        client.on_request("workspace/applyEdit", self.apply_edit)
        client.on_request("window/showMessageRequest", self.prompt)
        client.on_request("window/showDocument", self._show)

    async def initialize(
        self,
        folders: Sequence[str] = (),
        *,
        options: Json | None = None,
        events: bool = False,
        name: str = "recording editor",
    ) -> Json:
        """Shake hands; folders are URIs; with `events` as a client that renders those itself."""
        return await self.client.initialize(
            _capabilities(self.encoding, events=events), options, folders, name=name
        )

    def open(self, uri: str, text: str, *, version: int = 1, language: str = "plaintext") -> None:
        """Open a document."""
        self.documents.open(uri, text, version=version, language=language)

    def type(self, uri: str, start: int, end: int, new: str) -> None:
        """Replace characters `start` to `end` of a document, as a person who types."""
        self.documents.type(uri, start, end, new)

    async def code_actions(
        self, uri: str, start: int, end: int, diagnostics: Sequence[Json] = ()
    ) -> list[Json]:
        """What is offered for a selection."""
        selection = self.documents.range(self.documents[uri].text, start, end)
        params = {
            "textDocument": {"uri": uri},
            "range": selection,
            "context": {"diagnostics": list(diagnostics)},
        }
        return await self.client.request("textDocument/codeAction", params) or []

    async def execute(self, command: str, *arguments: object) -> Any:  # Any: JSON
        """Run a command of the server and give its result."""
        params = {"command": command, "arguments": list(arguments)}
        return await self.client.request("workspace/executeCommand", params)

    async def ask(self, prompt: str, **more: object) -> Any:  # Any: JSON
        """Submit a message with `turnbuckle.ask`; `more` are its other parameters."""
        return await self.execute("turnbuckle.ask", {"prompt": prompt, **more})

    async def apply_edit(self, params: Json) -> Json:
        """Really apply an edit, tell the server, and answer whether it was done."""
        self.screen.add("workspace/applyEdit", params)
        failure = self.documents.apply(params["edit"])
        self.screen.touch()
        return (
            {"applied": True} if failure is None else {"applied": False, "failureReason": failure}
        )

    async def prompt(self, params: Json) -> Json | None:
        """Let the script click, or leave the prompt on the screen until it is cancelled."""
        self.screen.add("window/showMessageRequest", params)
        title = self.answer(params["message"], _titles(params))
        if title == HANG:
            await anyio.sleep_forever()
        return None if title is None else {"title": title}

    async def _grant(self, method: str, params: object) -> None:
        self.screen.add(method, params)

    async def _show(self, params: object) -> Json:
        self.screen.add("window/showDocument", params)
        return {"success": True}


def _titles(params: Json) -> list[str]:
    return [action["title"] for action in params.get("actions") or ()]


def _capabilities(encoding: Unit, *, events: bool) -> Json:
    capabilities: Json = {
        "general": {"positionEncodings": [encoding]},
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
        "window": {
            "workDoneProgress": True,
            "showMessage": {"messageActionItem": {}},
            "showDocument": {"support": True},
        },
    }
    if events:
        capabilities["experimental"] = {"turnbuckle": {"protocolVersions": [1], "events": {}}}
    return capabilities
