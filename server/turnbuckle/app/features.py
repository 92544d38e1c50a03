"""The editor features of one connection: made here, each with what it needs, and registered."""

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.app.catalogue import Catalogue
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.actions import Actions
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.asking.asking import Asking
from turnbuckle.lsp.asking.comments import Comments
from turnbuckle.lsp.asking.current import Current
from turnbuckle.lsp.asking.growing import Growing
from turnbuckle.lsp.asking.inviting import Inviting
from turnbuckle.lsp.asking.resuming import Resuming
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.compacting import Compacting
from turnbuckle.lsp.configuring import Configuring
from turnbuckle.lsp.deciding import Deciding
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.granting import Granting
from turnbuckle.lsp.inbox import InboxEditing
from turnbuckle.lsp.library import Library
from turnbuckle.lsp.lifecycle import Lifecycle
from turnbuckle.lsp.prompts import Prompts
from turnbuckle.lsp.protocol import REQUESTS
from turnbuckle.lsp.reloading import Reload, Reloading
from turnbuckle.lsp.review.reviews import Reviews
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.subscriptions import Subscriptions
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.watching import Watching
from turnbuckle.lsp.workdone import WorkDone


class Features:
    """What an editor can ask for. `quiet` is in seconds, as in `lsp.prompts`."""

    def __init__(
        self,
        editor: Editor,
        scope: Scope,
        *,
        catalogue: Catalogue,
        quiet: float,
        reload: Reload,
        comment_word: str,
    ) -> None:
        self._editor = editor
        self._reload = reload
        self._scope = scope
        self._catalogue = catalogue
        self.showing = Showing(editor)
        self.prompts = Prompts(editor, self.showing, quiet=quiet)
        self.approvals = Approvals(editor, self.prompts)
        self.work_done = WorkDone(editor)
        self.subscriptions = Subscriptions(editor)
        self.turns = Turns(editor, self.subscriptions, self.work_done, catalogue.effective)
        self.commands = Commands(editor)
        self.current = Current(editor, self.turns)
        self.inviting = Inviting(editor, Comments(comment_word), self.current)
        self.growing = Growing(editor, self.showing)
        self.reviews = Reviews(
            editor, self.commands, self.showing, self.growing, self.inviting.lenses
        )
        self.watching = Watching(editor)
        self.reviews.review.observe(self.watching.review_changed)

    def watch(self, opened: OpenSession) -> None:
        """Follow a session that was opened just now."""
        self.reviews.watch(opened)
        self.approvals.watch(opened)
        self.watching.watch(opened)

    def register(self) -> None:
        """Answer requests and notifications on the editor's connection."""
        connection, documents = self._editor.connection, self._editor.documents
        connection.know(REQUESTS)
        connection.on_notification("textDocument/didOpen", self.reviews.did_open)
        connection.on_notification("textDocument/didChange", documents.did_change)
        connection.on_notification("textDocument/didSave", documents.did_save)
        connection.on_notification("textDocument/didClose", self.reviews.did_close)
        self._catalogue.register(connection)
        self.approvals.register(self._scope)
        self.reviews.register(self._scope)
        features = (
            self.work_done,
            self.subscriptions,
            self.turns,
            self.commands,
            self.watching,
            Library(self._editor),
            Configuring(self._editor, self._catalogue.choose, self._catalogue.effective),
            InboxEditing(self._editor),
            Lifecycle(self._editor, self.commands),
            Compacting(self._editor),
            *self._asking(),
            Deciding(self.commands, self.approvals),
            Granting(self._editor),
            Reloading(self.commands, self._reload),
            Actions(self._editor, self.reviews.review, self.inviting),
        )
        for feature in features:
            feature.register()

    def _asking(self) -> tuple[Asking, Resuming]:
        """What a client without a panel asks with."""
        editor, commands = self._editor, self.commands
        asking = Asking(
            editor,
            commands,
            self.turns,
            self.current,
            work_done=self.work_done,
            showing=self.showing,
            growing=self.growing,
        )
        resuming = Resuming(
            editor, commands, self.turns, self.current, asking=asking, growing=self.growing
        )
        return asking, resuming
