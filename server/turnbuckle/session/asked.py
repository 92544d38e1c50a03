"""What a person was asked for, as Markdown: a change as a diff, a command as it would run."""

from collections.abc import Iterator

from turnbuckle.session.markdown import code, fenced, quoted
from turnbuckle.session.parts import JsonObject


def asked_for(subject: JsonObject) -> Iterator[str]:
    """What the person was asked for."""
    match subject:
        case {"kind": "change", "files": list(files)}:
            yield "Asked to change:"
            for file in files:
                if isinstance(file, dict):
                    yield fenced("".join(_diff(file)), "diff")
        case {"kind": "command", "command": str(command)}:
            yield "Asked to run:"
            yield fenced(command, "sh")
        case {"kind": "read", "places": list(places)}:
            yield "Asked to read:"
            yield "\n".join(f"- {code(str(p.get('uri')))}" for p in places if isinstance(p, dict))
        case {"kind": "question", "question": str(question)}:
            yield "Asked:"
            yield quoted(question)
        case _:
            yield f"Asked: {code(str(subject.get('kind')))}"


def _diff(file: JsonObject) -> Iterator[str]:
    """A file's hunks as a unified diff without context."""
    uri = " ".join(str(file.get("uri")).split())
    yield f"--- {'/dev/null' if file.get('kind') == 'create' else uri}\n+++ {uri}\n"
    shift = 0
    for hunk in file.get("hunks") or ():
        old, new = _rows(hunk.get("oldText")), _rows(hunk.get("newText"))
        line = hunk.get("line")
        start = line + 1 if isinstance(line, int) else 1
        if hunk.get("truncated"):
            yield f"@@ line {start} @@ too large to be kept in the log\n"
            continue
        yield f"@@ -{start},{len(old)} +{start + shift},{len(new)} @@\n"
        shift += len(new) - len(old)
        for mark, rows in (("-", old), ("+", new)):
            yield from (f"{mark}{row}\n" for row in rows)
            if rows and not str(hunk.get("oldText" if mark == "-" else "newText")).endswith("\n"):
                yield "\\ No newline at end of file\n"


def _rows(text: object) -> list[str]:
    return str(text or "").replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
