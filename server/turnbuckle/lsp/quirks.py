"""How named editors differ from what they say, as data; looked up by `clientInfo.name`."""

from dataclasses import dataclass

from turnbuckle.lsp.clientfacts import ClientFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """What to know of one editor.

    `document_changes`: honours versioned edits, though it does not advertise them.
    `confirms_edits`: asks the person before every edit that a server sends, so that its answer is
    a person's and an error answer may be their "no".
    `drops_late_edits`: has changes that it did not tell yet, drops an edit that was made for the
    text before them, and answers all the same that it was made.
    """

    document_changes: bool = False
    confirms_edits: bool = False
    drops_late_edits: bool = False


PLAIN = Quirks()

NAMED = {
    # With plain `changes` it applies an edit onto text that moved, and answers `applied: true`.
    # It tells of changes 150 ms later, and checks versions against its own.
    "neovim": Quirks(document_changes=True, drops_late_edits=True),
    # Refuses with a JSON-RPC error, "User cancelled server edit".
    "eglot": Quirks(confirms_edits=True),
}
"""Names in lower case."""


def quirks_of(client: ClientFacts) -> Quirks:
    """The quirks of a client; none for one that is not listed."""
    return NAMED.get((client.name or "").casefold(), PLAIN)


def takes_versions(client: ClientFacts) -> bool:
    """Whether edits can bear the version of the text that they were made for."""
    return client.document_changes or quirks_of(client).document_changes
