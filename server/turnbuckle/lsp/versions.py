"""What the versions of one document tell about whether its changes came in order, each once."""


class Versions:
    """The versions of a document as its client tells them; `now` is the latest.

    They may jump ahead: clients count what they do, and tell of it together. A client whose
    version never moved says nothing with it.
    """

    def __init__(self, version: int) -> None:
        self.now = version
        self._counted = False

    def follow(self, version: int) -> str | None:
        """Take the version of a change; gives what it says against the text, None if nothing."""
        before, self.now = self.now, version
        if version > before:
            self._counted = True
            return None
        if version == before and not self._counted:
            return None
        if version == before:
            return f"it told of version {version} twice"
        return f"its version went from {before} back to {version}"
