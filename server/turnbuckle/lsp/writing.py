"""Whether a session runs turns for this client, and why not."""

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.refusing import refusing
from turnbuckle.lsp.rpc import Refused


async def require_writable(editor: Editor, opened: OpenSession) -> None:
    """Pass if a session runs turns; one whose writer is gone is taken over first.

    Only for who holds its `changing`.

    Raises:
        Refused: it runs none; the data's `kind` says why.
    """
    if not editor.client.trusted:
        raise Refused(
            "the workspace is not trusted, so nothing runs in it; trust it in the editor first",
            kind="untrusted",
            retryable=False,
        )
    with refusing():
        writable = await editor.sessions.write(opened)
    if opened.session.damage is not None:
        raise Refused(
            f"this session can only be read: {opened.session.damage}",
            kind="damaged",
            retryable=False,
        )
    if not writable:
        raise Refused(
            "another window writes this session; close it there, or open a new session",
            kind="readOnly",
            retryable=True,
        )


async def writes(editor: Editor, opened: OpenSession) -> bool:
    """Whether this process writes a session now; one whose writer is gone is taken over."""
    if not opened.read_only:
        return True
    try:
        async with opened.changing:
            await require_writable(editor, opened)
    except Refused:
        return False
    return True
