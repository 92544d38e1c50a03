"""A subject in words: one line for a prompt, and all of it for a document."""

import unicodedata
from pathlib import Path
from typing import assert_never

from turnbuckle.tools.subject import Change, Command, Internal, Question, Read, Subject
from turnbuckle.workspace.changes import FileChange, patch
from turnbuckle.workspace.paths import Place, path_of

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
)
"""Letters and marks that show nothing, though their category does not say so."""

LINE_LIMIT = 200
"""How long a line may be that is approved without having been shown in full."""


BRIEF = 80
"""How many characters stand for a subject in a list."""


def headline(subject: Subject, home: Path | None = None) -> str:
    """What the person is asked, as one line where that says all of it.

    `home` is the folder that a command runs in, and files lie in, unless the line names another.
    """
    match subject:
        case Command(command=command, cwd=cwd):
            folder = path_of(cwd)
            where = f" in {folder or cwd}" if home is not None and folder != home else ""
            return f"run{where}: {command}"
        case Change(files=files):
            return " and ".join(
                f"{verb} {', '.join(_file(file, home) for file in some)}"
                for verb, kinds in _VERBS.items()
                if (some := [file for file in files if file.kind in kinds])
                and (verb != "edit" or not any(file.target for file in files))
            )
        case Read(places=places):
            return "read " + ", ".join(place.shown for place in places)
        case Question(question=question):
            return question
        case Internal():
            return "go on"
        case _:
            assert_never(subject)


_VERBS = {"edit": ("edit", "create"), "delete": ("delete",), "rename": ("rename",)}


def _file(change: FileChange, home: Path | None) -> str:
    path = path_of(change.uri)
    name = path.name if path else change.uri
    if path and home is not None:
        name = str(path.relative_to(home) if path.is_relative_to(home) else path)
    if change.target is not None:
        return f"{name} to {change.target.shown}"
    added = sum(hunk.counts[0] for hunk in change.hunks)
    removed = sum(hunk.counts[1] for hunk in change.hunks)
    new = " (new file)" if change.kind == "create" else ""
    return f"{name}{new} +{added} −{removed}"


def whole(subject: Subject) -> tuple[str, str]:
    """All of a subject, with the ending of the file that shows it."""
    match subject:
        case Change(files=files):
            return "".join(patch(file) for file in files), "diff"
        case Command(command=command, cwd=cwd, timeout=timeout):
            return f"# in {cwd}, for {timeout:g} seconds at most\n{command}\n", "sh"
        case Read(places=places):
            return "".join(f"{place.path}{_why(place)}\n" for place in places), "txt"
        case Question(question=question, choices=choices):
            return "\n".join((question, "", *(f"- {choice}" for choice in choices), "")), "txt"
        case _:
            return f"{headline(subject)}\n", "txt"


def _why(place: Place) -> str:
    """Why reading a place is asked about."""
    why = ["outside the workspace"] * (not place.inside) + ["looks secret"] * place.secret
    return f"  ({', '.join(why)})" if why else ""


def brief(subject: Subject) -> str:
    """A subject in a list of several: the beginning of its line, with what does not show."""
    return shortened(unlinked(visible(headline(subject))), BRIEF)


def shortened(line: str, most: int) -> str:
    """At most so many characters of a line, its end among them: what matters may stand there."""
    if len(line) <= most:
        return line
    end = most // 3
    return f"{line[: most - end - 1]}…{line[-end:]}"


def is_plain(line: str) -> bool:
    """Whether a line reads as what it is: short, and without anything that does not show."""
    hides = unlinked(line) != line or any(_hides(character) for character in line)
    return len(line) <= LINE_LIMIT and not hides


def unlinked(text: str) -> str:
    """A message in which nothing is a link: some editors show a link's name and not its target."""
    return text.replace("](", "]\\u{28}")


def visible(text: str) -> str:
    """The text with whatever does not show, or turns the writing round, spelt out."""
    return "".join(f"\\u{{{ord(c):x}}}" if _hides(c) else c for c in text)


def _hides(character: str) -> bool:
    if character in _BLANK:
        return True
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp", "Cs") or (
        category == "Zs" and character != " "
    )
