"""Git where files of the workspace pose as a repository, whose settings name what git runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from turnbuckle.tools.commandline import Words
from turnbuckle.tools.programs import kind

_SEEN = 5  # words before which a program stands, behind what wraps it


def strays(commands: Sequence[Words], cwd: Path) -> bool:
    """Whether git, run by one of these commands, may obey what only lies there as files.

    A folder that is no `.git` but is laid out like one came with the files, with its settings.
    """
    if not any(kind(word.text) == "git" for words in commands for word in words[:_SEEN]):
        return False
    named = (Path(cwd, word.text) for words in commands for word in words[1:])
    folders = dict.fromkeys([cwd, *(path for path in named if path.is_dir())])
    return any(_is_posing(one) for folder in folders for one in _searched(folder))


def _searched(folder: Path) -> Iterator[Path]:
    """Where git looks for a repository: upwards, until it has found one."""
    for one in (folder, *folder.parents):
        if (one / ".git").exists():
            return
        yield one


def _is_posing(folder: Path) -> bool:
    return (folder / "HEAD").exists() and all((folder / n).is_dir() for n in ("objects", "refs"))
