"""What the person has typed before, kept in the state folder for this person only."""

import os
from contextlib import suppress
from pathlib import Path

import orjson

from turnbuckle.session.redacting import redacted
from turnbuckle.workspace.variables import is_provider_key

NAME = "history"
MOST = 1_000
"""How many of the last prompts are kept."""

LONGEST = 20_000
"""The most characters of a prompt that is kept."""


class History:
    """A file of prompts, one JSON string a line; where it cannot be used there is no history."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME

    def load(self) -> list[str]:
        """The prompts, oldest first; the file is made shorter when it has grown too long."""
        try:
            rows = self._file.read_bytes().splitlines()
        except OSError:
            return []
        if len(rows) > 2 * MOST:
            rows = rows[-MOST:]
            self._replace(rows)
        return [text for row in rows[-MOST:] if (text := _text(row))]

    def add(self, text: str) -> None:
        """Keep a prompt, without the secrets in it, unless it is very long."""
        if len(text) > LONGEST:
            return
        text = redacted(text, [key for name, key in os.environ.items() if is_provider_key(name)])
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._write(self._file, os.O_APPEND, [orjson.dumps(_sound(text))])

    def _replace(self, rows: list[bytes]) -> None:
        shorter = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._write(shorter, os.O_TRUNC, rows)
            shorter.replace(self._file)

    def _write(self, file: Path, how: int, rows: list[bytes]) -> None:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | how, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(b"".join(row + b"\n" for row in rows))


def _text(row: bytes) -> str | None:
    try:
        value = orjson.loads(row)
    except orjson.JSONDecodeError:  # half a line, from a program that was killed
        return None
    return value if isinstance(value, str) else None


def _sound(text: str) -> str:
    """The text without halves of characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode()
