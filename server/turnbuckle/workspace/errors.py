"""What can be wrong with a file: a small family, each with the code that a tool's result bears."""


class WorkspaceError(Exception):
    """Something about a file, with a code of the tools' error results.

    WorkspaceError
    ├── Missing     NOT_FOUND: nothing stands at the place, so something could be made there
    └── NoFolder    OUTSIDE: the session has no folder to work in
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Missing(WorkspaceError):
    """Nothing stands at the place."""

    def __init__(self, message: str) -> None:
        super().__init__("NOT_FOUND", message)


class NoFolder(WorkspaceError):
    """The session has no folder to work in."""

    def __init__(self) -> None:
        super().__init__(
            "OUTSIDE", "no folder is open in the editor, so there are no files to work on"
        )
