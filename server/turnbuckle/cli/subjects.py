"""What is to be approved, in full: a change as a diff, a command as it would run."""

from collections.abc import Iterator

from turnbuckle.cli.lines import Line, Style, counted, line
from turnbuckle.cli.places import shown_place
from turnbuckle.cli.visible import exact, exact_name
from turnbuckle.session.parts import JsonObject


def subject_lines(subject: JsonObject, cwd: str | None) -> list[Line]:
    """The subject of `approval/asked` as lines; `cwd` is the session's folder, as a URI."""
    match subject:
        case {"kind": "change", "files": list(files)}:
            return [row for file in files if isinstance(file, dict) for row in _file(file, cwd)]
        case {"kind": "command", "command": str(command)}:
            return _command(command, subject, cwd)
        case {"kind": "read", "places": list(places)}:
            return [_read(place, cwd) for place in places if isinstance(place, dict)]
        case {"kind": "question", "question": str(question)}:
            return [line(row, "strong") for row in exact(question).split("\n")]
        case _:
            return [line(exact(str(subject)), "warn")]


def grant_words(subject: JsonObject, cwd: str | None) -> str:
    """What a grant is good for, on one line."""
    match subject:
        case {"kind": "command", "command": str(command), "cwd": str(folder)}:
            where = shown_place(folder, cwd)
            return f"run {exact_name(command)}" + (
                "" if where == "." else f"  in {exact_name(where)}"
            )
        case {"kind": "change" | "read" as kind, "uri": str(uri)}:
            return f"{kind} {exact_name(shown_place(uri, cwd))}"
        case _:
            return exact(str(subject))


def shown_whole(subject: JsonObject) -> bool:
    """Whether all of the subject is there to be looked at; large changes carry only a part."""
    return not any(hunk.get("truncated") for file in _dicts(subject.get("files"))
                   for hunk in _dicts(file.get("hunks")))  # fmt: skip


def changed_counts(subject: JsonObject) -> Iterator[tuple[str, str, int, int]]:
    """For each hunk of a change: its id, its file's URI, and how many lines it adds and removes."""
    for file in _dicts(subject.get("files")):
        for hunk in _dicts(file.get("hunks")):
            added, removed = _rows(hunk.get("newText")), _rows(hunk.get("oldText"))
            yield str(hunk.get("hunkId")), str(file.get("uri")), len(added), len(removed)


def _dicts(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _file(file: JsonObject, cwd: str | None) -> Iterator[Line]:
    name = exact_name(shown_place(str(file.get("uri")), cwd))
    new = file.get("kind") == "create"
    hunks = _dicts(file.get("hunks"))
    added = sum(len(_rows(hunk.get("newText"))) for hunk in hunks)
    removed = sum(len(_rows(hunk.get("oldText"))) for hunk in hunks)
    yield (
        ("new file " if new else "edit ", "dim"), (name, "strong"),
        (f"  +{added}", "add"), (f" -{removed}", "remove"),
    )  # fmt: skip
    width = _width(hunks)
    for number, (_, rows) in enumerate(_hunks(file)):
        if number:
            yield line(f"  {'⋮':>{width}}", "dim")
        yield from rows


def hunks_of(subject: JsonObject, cwd: str | None) -> list[tuple[str, list[Line]]]:
    """The hunks of a change, each by its id and as lines that stand for themselves."""
    found = []
    for file in _dicts(subject.get("files")):
        name = exact_name(shown_place(str(file.get("uri")), cwd))
        for hunk_id, rows in _hunks(file):
            found.append((hunk_id, [line(name, "strong"), *rows]))
    return found


def _hunks(file: JsonObject) -> Iterator[tuple[str, list[Line]]]:
    hunks = _dicts(file.get("hunks"))
    width, shift = _width(hunks), 0
    for hunk in hunks:
        yield str(hunk.get("hunkId")), [*_hunk(hunk, shift, width)]
        shift += len(_rows(hunk.get("newText"))) - len(_rows(hunk.get("oldText")))


def _width(hunks: list[JsonObject]) -> int:
    """How wide the numbers of lines are."""
    last = max((_number(hunk.get("line")) for hunk in hunks), default=0)
    both = ("oldText", "newText")
    return len(str(last + sum(len(_rows(hunk.get(side))) for hunk in hunks for side in both)))


def _hunk(hunk: JsonObject, shift: int, width: int) -> Iterator[Line]:
    first = _number(hunk.get("line")) + 1
    if hunk.get("truncated"):
        yield line(f"  {first:>{width}} ! too large to be shown here", "warn")
        return
    # Carriage returns are shown unless every line has one: then none of them changes.
    both = [*_rows(hunk.get("oldText")), *_rows(hunk.get("newText"))]
    end = "\r\n" if all(row.endswith("\r\n") for row in both) else "\n"
    sides: tuple[tuple[object, int, str, Style], ...] = (
        (hunk.get("oldText"), first, "-", "remove"),
        (hunk.get("newText"), first + shift, "+", "add"),
    )
    for text, start, mark, style in sides:
        rows = _rows(text)
        for number, row in enumerate(rows, start):
            yield line(f"  {number:>{width}} {mark} {exact(row.removesuffix(end))}", style)
        if rows and not rows[-1].endswith("\n"):
            yield line(f"  {'':>{width}} \\ no line feed at the end", "dim")


def _rows(text: object) -> list[str]:
    """Lines with their ends; a carriage return alone is no end, so that it stays visible."""
    parts = text.split("\n") if isinstance(text, str) else [""]
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _command(command: str, subject: JsonObject, cwd: str | None) -> list[Line]:
    first, *rest = exact(command).split("\n")
    rows: list[Line] = [(("$ ", "dim"), (first, "strong"))]
    rows += [(("  ", ""), (row, "strong")) for row in rest]
    where = shown_place(str(subject.get("cwd", "")), cwd)
    limit = subject.get("timeout")
    facts = [f"in {exact_name(where)}"] if where not in ("", ".") else []
    facts += [f"at most {limit:g} s"] if isinstance(limit, int | float) else []
    facts += [counted(len(rest) + 1, "line")] if rest else []
    return [*rows, line(f"  {', '.join(facts)}", "dim")] if facts else rows


def _read(place: JsonObject, cwd: str | None) -> Line:
    name = shown_place(str(place.get("uri", "")), cwd)
    why = [] if place.get("inside") else ["outside the workspace"]
    why += ["looks secret"] if place.get("secret") else []
    return (("read ", "dim"), (exact_name(name), "strong"), (f"  {', '.join(why)}", "warn"))
