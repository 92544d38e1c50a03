"""Code actions: ask about a selection or a diagnostic, answer what waits for an answer."""

from __future__ import annotations

from collections.abc import Iterator

from turnbuckle.lsp import names
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.subjects import headline, visible
from turnbuckle.tools.subject import Change

ASK_TITLE = "Ask the agent"
SELECTION = (
    "Look at the code that I selected. If a comment in it begins with `agent:`, do what it says. "
    "Otherwise say briefly what it does, and mend what is plainly wrong in it."
)
FIX = "Fix the problem that the editor reports here."


class Actions:
    """What a plain client offers in its menu of code actions."""

    def __init__(self, editor: Editor, approvals: Approvals) -> None:
        self._editor = editor
        self._approvals = approvals

    def register(self) -> None:
        """Answer `textDocument/codeAction`."""
        self._editor.connection.on_request("textDocument/codeAction", self._code_action)

    async def _code_action(
        self, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command]:
        only = params.context.only
        return [
            action if self._editor.client.code_action_literals else command
            for action, command in self._offers(params)
            if only is None or any(_within(str(action.kind), str(kind)) for kind in only)
        ]

    def _offers(
        self, params: types.CodeActionParams
    ) -> Iterator[tuple[types.CodeAction, types.Command]]:
        uri = params.text_document.uri
        yield from self._answers(uri)
        plain = self._editor.connection.incoming.messages.plain
        where: dict[str, object] = {"uri": uri, "range": plain(params.range)}
        for diagnostic in params.context.diagnostics:
            about = where | {"prompt": FIX, "diagnostics": [plain(diagnostic)]}
            line = visible(diagnostic.message.split("\n")[0])[:60]
            yield _offer(
                f"{ASK_TITLE}: fix “{line}”",
                names.QUICKFIX,
                names.ASK_COMMAND,
                about,
                diagnostics=[diagnostic],
            )
        yield _offer(ASK_TITLE, names.REFACTOR, names.ASK_COMMAND, where | {"prompt": SELECTION})

    def _answers(self, uri: str) -> Iterator[tuple[types.CodeAction, types.Command]]:
        """Accept and reject, where a change of this file waits for the person."""
        for _, pending in self._approvals.pending:
            subject = pending.subject
            if isinstance(subject, Change) and uri in (file.uri for file in subject.files):
                about: dict[str, object] = {"approvalId": pending.approval_id}
                line = headline(subject)
                yield _offer(f"Show: {line}", names.QUICKFIX, names.APPROVE_COMMAND, {})
                yield _offer(f"Reject: {line}", names.QUICKFIX, names.REJECT_COMMAND, about)


def _offer(
    title: str,
    kind: str,
    command: str,
    argument: dict[str, object],
    diagnostics: list[types.Diagnostic] | None = None,
) -> tuple[types.CodeAction, types.Command]:
    """One offer in both forms; a client that takes no literals gets the bare command."""
    bare = types.Command(title=title, command=command, arguments=[argument])
    action = types.CodeAction(title=title, kind=kind, command=bare, diagnostics=diagnostics)
    return action, bare


def _within(kind: str, wanted: str) -> bool:
    """Whether a kind of code action is the wanted one or a sub-kind of it."""
    return wanted == "" or kind == wanted or kind.startswith(f"{wanted}.")
