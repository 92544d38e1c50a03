"""The editor features of one connection: made here, each with what it needs, and registered."""

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.app.catalogue import Catalogue
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.actions import Actions
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.asking import Asking
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.deciding import Deciding
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.prompts import Prompts
from turnbuckle.lsp.protocol import REQUESTS
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.subscriptions import Subscriptions
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.workdone import WorkDone


class Features:
    """What an editor can ask for. `quiet` is in seconds, as in `lsp.prompts`."""

    def __init__(self, editor: Editor, scope: Scope, *, catalogue: Catalogue, quiet: float) -> None:
        self._editor = editor
        self._scope = scope
        self._catalogue = catalogue
        self.showing = Showing(editor)
        self.prompts = Prompts(editor, self.showing, quiet=quiet)
        self.approvals = Approvals(editor, self.prompts)
        self.work_done = WorkDone(editor)
        self.subscriptions = Subscriptions(editor)
        self.turns = Turns(editor, self.subscriptions, self.work_done, catalogue.effective)
        self.commands = Commands(editor)

    def watch(self, opened: OpenSession) -> None:
        """Follow a session that was opened just now."""
        self.approvals.watch(opened)

    def register(self) -> None:
        """Answer requests and notifications on the editor's connection."""
        connection, documents = self._editor.connection, self._editor.documents
        connection.know(REQUESTS)
        connection.on_notification("textDocument/didOpen", documents.did_open)
        connection.on_notification("textDocument/didChange", documents.did_change)
        connection.on_notification("textDocument/didSave", documents.did_save)
        connection.on_notification("textDocument/didClose", documents.did_close)
        self._catalogue.register(connection)
        self.approvals.register(self._scope)
        features = (
            self.work_done,
            self.subscriptions,
            self.turns,
            self.commands,
            Asking(self._editor, self.commands, self.turns, self.work_done, self.showing),
            Deciding(self.commands, self.approvals),
            Actions(self._editor, self.approvals),
        )
        for feature in features:
            feature.register()
