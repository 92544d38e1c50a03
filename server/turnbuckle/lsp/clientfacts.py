"""What a client says about itself in `initialize`, read from the raw JSON before it is answered."""

from dataclasses import dataclass, field
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import get_args

from turnbuckle.workspace.paths import uri_of
from turnbuckle.workspace.text import Unit

KNOWN: dict[str, Unit] = {name: name for name in get_args(Unit)}
OURS = "turnbuckle"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFacts:
    """What is known of a client; what it did not say, or said with a wrong type, is absent.

    `folders` are URIs. `resource_operations` is what an edit may do to whole files. `dynamic` holds
    the dotted names of the capabilities that it registers dynamically, such as
    `workspace.executeCommand`. `events` says that it renders events and answers approvals itself,
    `save` that it saves documents for us. `token` is what a client of a TCP server brings.
    `options` is all that it sent for us beside its capabilities, as it came.
    """

    name: str | None = None
    version: str | None = None
    encoding: Unit = "utf-16"
    document_changes: bool = False
    apply_edit: bool = False
    show_document: bool = False
    work_done_progress: bool = False
    code_action_literals: bool = False
    text_document_content: bool = False
    code_lens_refresh: bool = False
    resource_operations: frozenset[str] = frozenset()
    dynamic: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    protocol_versions: tuple[int, ...] = ()
    events: bool = False
    save: bool = False
    trusted: bool = True
    token: str | None = field(default=None, repr=False)
    options: object = field(default=None, repr=False, compare=False)


def read_client(params: object) -> ClientFacts:
    """The facts in the params of `initialize`; total: never raises, whatever the JSON is."""
    has = _at(params, "capabilities")
    workspace, window = _at(has, "workspace"), _at(has, "window")
    options = _at(params, "initializationOptions", OURS)
    announced = (_at(has, "experimental", OURS), _at(options, "client"))
    return ClientFacts(
        name=_text(_at(params, "clientInfo", "name")),
        version=_text(_at(params, "clientInfo", "version")),
        encoding=_encoding(_at(has, "general", "positionEncodings")),
        document_changes=_at(workspace, "workspaceEdit", "documentChanges") is True,
        apply_edit=_at(workspace, "applyEdit") is True,
        show_document=_at(window, "showDocument", "support") is True,
        work_done_progress=_at(window, "workDoneProgress") is True,
        code_action_literals=_said(
            _at(has, "textDocument", "codeAction", "codeActionLiteralSupport")
        ),
        text_document_content=_said(_at(workspace, "textDocumentContent")),
        code_lens_refresh=_at(workspace, "codeLens", "refreshSupport") is True,
        resource_operations=frozenset(
            name
            for name in _list(_at(workspace, "workspaceEdit", "resourceOperations"))
            if isinstance(name, str)
        ),
        dynamic=_dynamic(has),
        folders=_folders(params),
        protocol_versions=_versions(*(_at(ours, "protocolVersions") for ours in announced)),
        events=any(_said(_at(ours, "events")) for ours in announced),
        save=any(_said(_at(ours, "save")) for ours in announced),
        # A client that knows nothing of it says nothing; one that says anything but yes, no.
        trusted=not isinstance(options, dict) or options.get("trusted", True) is True,
        token=_text(_at(options, "token")),
        options=options,
    )


def _at(value: object, *keys: str) -> object:
    """The value at a path of keys, None where the path ends early."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _said(value: object) -> bool:
    """A capability that is an object of options, or just true."""
    return value is True or isinstance(value, dict)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _encoding(offered: object) -> Unit:
    known = (KNOWN[name] for name in _list(offered) if isinstance(name, str) and name in KNOWN)
    return next(known, "utf-16")


def _versions(*offered: object) -> tuple[int, ...]:
    found = (version for versions in offered for version in _list(versions))
    return tuple(dict.fromkeys(version for version in found if type(version) is int))


def _dynamic(capabilities: object) -> frozenset[str]:
    return frozenset(
        f"{area}.{name}"
        for area in ("workspace", "textDocument")
        for name, value in _items(_at(capabilities, area))
        if _at(value, "dynamicRegistration") is True
    )


def _items(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _folders(params: object) -> tuple[str, ...]:
    """The workspace folders; where a client has none, the older `rootUri`, then `rootPath`."""
    named = (_text(_at(folder, "uri")) for folder in _list(_at(params, "workspaceFolders")))
    folders = tuple(dict.fromkeys(uri for uri in named if uri))
    root = _text(_at(params, "rootUri")) or _root(_text(_at(params, "rootPath")))
    return folders or ((root,) if root else ())


def _root(path: str | None) -> str | None:
    """The URI of an absolute path of either kind of system."""
    if path is None or "\0" in path:
        return None
    windows = PureWindowsPath(path)
    pure: PurePath = windows if windows.drive else PurePosixPath(path)
    try:
        return uri_of(pure) if pure.is_absolute() else None
    except UnicodeError:  # half a character, which no URI can spell
        return None
