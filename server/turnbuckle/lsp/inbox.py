"""`turnbuckle/inbox/edit`: change a message that still waits, or take it out."""

from turnbuckle.agent.inbox import take_out
from turnbuckle.lsp import names
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.protocol import InboxEditParams, InboxEditResult
from turnbuckle.lsp.writing import require_writable
from turnbuckle.session.codec import scrub

REMOVED = "removed"
"""Why a message was dropped that was taken out."""


class InboxEditing:
    """Edits what waits. What has entered a turn, or is entering one, stays as it was sent."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def register(self) -> None:
        """Answer our request on the editor's connection."""
        self._editor.connection.on_request(names.INBOX_EDIT, self._edit)

    async def _edit(self, params: InboxEditParams) -> InboxEditResult:
        opened = self._editor.session(params.session_id)
        inbox = opened.agent.inbox
        async with opened.changing:
            await require_writable(self._editor, opened)
            if params.remove:
                return InboxEditResult(changed=take_out(inbox, params.key, REMOVED))
            text = "\n\n".join(part.text for part in params.input)
            return InboxEditResult(changed=inbox.edit(params.key, scrub(text)))
