"""Tool calls as compact lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.cli.calls import label, main_argument, result_lines
from turnbuckle.cli.lines import plain
from turnbuckle.session.events import ToolResult
from turnbuckle.session.parts import JsonObject


def result(content: str, code: str | None = None, meta: JsonObject | None = None) -> ToolResult:
    return ToolResult(
        turn=1,
        step=1,
        call_id="c",
        content=content,
        is_error=code is not None,
        code=code,
        meta=meta,
    )


def shown(name: str, arguments: str, outcome: ToolResult) -> str:
    return plain(result_lines(name, arguments, outcome))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"path": "a.py", "offset": 3}', "a.py"),
        ('{"pattern": "x", "path": "src"}', "src"),
        ('{"command": "ls -l\\n| head"}', "ls -l | head"),
        ('{"n": 1, "other": "this"}', "this"),
        ('{"n": 1}', ""),
        ("", ""),
        ("[1]", "[1]"),
        ('{"path": "half', '{"path": "half'),
    ],
)
def test_the_argument_that_tells_most_is_shown(arguments: str, told: str) -> None:
    assert main_argument(arguments) == told


def test_a_command_shows_its_exit_code_once_and_both_ends_of_its_output() -> None:
    output = "".join(f"line {number}\n" for number in range(1, 31)) + "exit code 1"
    text = shown("run_command", '{"command": "make"}', result(output, meta={"exitCode": 1}))
    assert text == snapshot("""\
✓ run_command make · exit code 1
  line 1
  line 2
  line 3
  line 4
  … 20 more lines …
  line 25
  line 26
  line 27
  line 28
  line 29
  line 30
""")


def test_an_error_shows_its_code_and_what_it_says() -> None:
    outcome = result("<tool error: there is no file a.py>", "NOT_FOUND")
    assert shown("read_file", '{"path": "a.py"}', outcome) == snapshot("""\
✗ read_file a.py · NOT_FOUND
  <tool error: there is no file a.py>
""")


def test_what_was_read_is_counted_only() -> None:
    text = shown("read_file", '{"path": "a.py"}', result("one\ntwo\n"))
    assert text == "✓ read_file a.py · 2 lines\n"


def test_a_call_without_output_is_one_line() -> None:
    assert shown("run_command", "{}", result("exit code 0", meta={"exitCode": 0})) == snapshot(
        "✓ run_command · exit code 0\n"
    )


def test_output_cannot_steer_the_terminal() -> None:
    text = shown("run_command", '{"command": "\\u001b]0;x\\u0007"}', result("\x1b[31mred\x1b[0m"))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_long_line_is_cut() -> None:
    assert max(map(len, shown("x", "{}", result("y" * 10_000)).splitlines())) < 200


@given(st.text(), st.text(), st.text())
def test_a_call_of_any_kind_is_bounded(name: str, arguments: str, content: str) -> None:
    lines = result_lines(name, arguments, result(content))
    assert len(lines) <= 13
    assert len(label(name, arguments)) <= 121
