"""Code actions in both forms: with a kind, and as the bare command for clients without literals."""

from __future__ import annotations

from typing import TypeAlias

from turnbuckle.lsp.rpc.late import types

Offer: TypeAlias = "tuple[types.CodeAction, types.Command]"


def offer(
    title: str,
    kind: str,
    command: str,
    argument: dict[str, object],
    diagnostics: list[types.Diagnostic] | None = None,
) -> Offer:
    """One offer in both forms; a client that takes no literals gets the bare command."""
    bare = types.Command(title=title, command=command, arguments=[argument])
    action = types.CodeAction(title=title, kind=kind, command=bare, diagnostics=diagnostics)
    return action, bare


def within(kind: str, wanted: str) -> bool:
    """Whether a kind of code action is the wanted one or a sub-kind of it."""
    return wanted == "" or kind == wanted or kind.startswith(f"{wanted}.")
