"""Commands that print lines of all files in a folder, and whether one there looks like a secret."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from turnbuckle.tools.commandline import Words
from turnbuckle.tools.programs import kind
from turnbuckle.workspace.secretive import looks_secret

MOST = 100_000
"""How many files of a folder are looked at; what is larger counts as one with a secret."""

_SEARCHERS = ("rg", "ripgrep", "ag", "ack", "ugrep")
"""Programs that read whole folders, hidden files only when they are told to."""

_READERS = ("grep", "egrep", "fgrep", "zgrep", "diff")
"""Programs that read whole folders when they are told to."""

_HIDDEN = (("hidden", "unrestricted", "no-ignore"), "u.")
_RECURSIVE = (("recursive", "dereference-recursive", "directories"), "rRd")
"""Options, long and short ones."""

_SEEN = 5  # words before which a program stands, behind what wraps it
_TELLING = re.compile(rb"://[^/\s]*@|token|password|extraheader|authorization", re.IGNORECASE)


def swept(commands: Sequence[Words], cwd: Path) -> dict[Path, bool]:
    """The folders whose files these commands may print, and whether the hidden ones, too."""
    found: dict[Path, bool] = {}
    for words in commands:
        if (hidden := _sweeps(words)) is None:
            continue
        # Another command of the line may change the folder first.
        texts = [word.text for other in commands for word in other[1:]]
        folders = [path for text in texts if (path := Path(cwd, text)).is_dir()]
        for folder in (cwd, *folders) if _roams(commands) else folders or [cwd]:
            found[folder] = found.get(folder, False) or hidden
    return found


def _roams(commands: Sequence[Words]) -> bool:
    return any(words[0].text in ("cd", "pushd", "popd") for words in commands)


def _sweeps(words: Words) -> bool | None:
    """Whether a command reads hidden files of a folder, too; None if it reads no whole folder."""
    for at, word in enumerate(words[:_SEEN]):
        name, rest = kind(word.text), [one.text for one in words[at + 1 :]]
        if name in _SEARCHERS:
            return any(_is_option(one, *_HIDDEN) for one in rest)
        if name == "rgrep" or (name == "git" and "grep" in rest):
            return True
        if name in _READERS and any(_is_option(one, *_RECURSIVE) for one in rest):
            return True
    return None


def _is_option(word: str, long: Sequence[str], short: str) -> bool:
    """Whether a word is one of these; long ones may be cut, and short ones stand together."""
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        return len(name) > 1 and any(one.startswith(name) for one in long)
    return word.startswith("-") and any(char in word for char in short)


def secret_in(folder: Path, *, hidden: bool) -> str | None:
    """Why a folder's files are not all printed unasked, for people; None if they may be. Blocks."""
    for number, path in enumerate(_files(folder, hidden=hidden)):
        if number >= MOST:
            return f"{folder.name} is too large to be looked through"
        if looks_secret(path) and not _is_plain_config(path):
            return f"{path.relative_to(folder)} looks as if it held credentials"
    return None


def _files(folder: Path, *, hidden: bool) -> Iterator[Path]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith(".") and not hidden:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    else:
                        yield Path(entry.path)
        except OSError:
            continue  # nobody reads it then


def _is_plain_config(path: Path) -> bool:
    """Whether it is the configuration of a repository, as each has one, with no secret in it."""
    if path.parts[-2:] != (".git", "config"):
        return False
    try:
        with path.open("rb") as file:
            return _TELLING.search(file.read(64 * 1024)) is None
    except OSError:
        return True
