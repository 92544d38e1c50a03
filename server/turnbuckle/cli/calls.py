"""Tool calls as compact lines: name and main argument, how it went, and some of what came out."""

import orjson

from turnbuckle.cli.lines import Line, Style, counted, line
from turnbuckle.cli.visible import harmless, one_line
from turnbuckle.session.events import ToolResult

_TELLING = ("command", "path", "pattern", "question", "prompt", "title", "name", "url")
"""Arguments that say most about a call, best first."""

_QUIET = frozenset({"read_file", "list_files", "search", "use_skill", "list_skills", "todo_write"})
"""Tools whose output is for the model: how much there is says enough."""

HEAD, TAIL = 4, 6
"""How many lines of output are shown, from its start and from its end."""

WIDTH = 160
"""How many characters of a line of output are shown."""


def main_argument(arguments: str) -> str:
    """The argument that tells most about a call, on one line; `arguments` is the raw JSON."""
    try:
        values = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return one_line(arguments)
    if not isinstance(values, dict):
        return one_line(arguments)
    words = {name: value for name, value in values.items() if isinstance(value, str) and value}
    told = next((words[name] for name in _TELLING if name in words), None)
    return one_line(told if told is not None else next(iter(words.values()), ""))


def label(name: str, arguments: str) -> str:
    """A call in a few words: `run_command python3 -m unittest`."""
    return f"{one_line(name, 40)} {main_argument(arguments)}".rstrip()


def result_lines(name: str, arguments: str, result: ToolResult) -> list[Line]:
    """A call that is over: what it was, how it went, and some of its output."""
    mark: Style = "bad" if result.is_error else "good"
    head: Line = (
        ("✗ " if result.is_error else "✓ ", mark),
        (one_line(name, 40), "strong"),
        (" " + argument if (argument := main_argument(arguments)) else "", ""),
    )
    rows = harmless(result.content).rstrip("\n").split("\n") if result.content.strip() else []
    if name in _QUIET and not result.is_error:
        return [(*head, (f" · {counted(len(rows), 'line')}" if rows else "", "dim"))]
    state, style = _state(result, rows)
    return [(*head, (f" · {state}" if state else "", style)), *_preview(rows)]


def _state(result: ToolResult, rows: list[str]) -> tuple[str, Style]:
    """How it went; a last row that says no more than that is taken off."""
    if result.is_error:
        return result.code or "failed", "bad"
    exit_code = (result.meta or {}).get("exitCode")
    if not isinstance(exit_code, int):
        return "", ""
    said = rows.pop() if rows and rows[-1].startswith("exit code ") else f"exit code {exit_code}"
    return said, "warn" if exit_code else "good"


def _preview(rows: list[str]) -> list[Line]:
    left_out = len(rows) - HEAD - TAIL
    if left_out <= 1:
        return [_output(row) for row in rows]
    between = line(f"  … {counted(left_out, 'more line')} …", "dim")
    return [*map(_output, rows[:HEAD]), between, *map(_output, rows[-TAIL:])]


def _output(row: str) -> Line:
    return line(f"  {row if len(row) <= WIDTH else row[: WIDTH - 1] + '…'}".rstrip(), "dim")
