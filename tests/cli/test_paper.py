"""Lines on a terminal and in a pipe."""

import io
import os
from collections.abc import Iterable
from typing import TextIO, cast

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from turnbuckle.cli.lines import Said, Shown, line
from turnbuckle.cli.paper import Guarded, Pipe, Sheet


def piped(shown: Iterable[Shown]) -> str:
    out = io.StringIO()
    pipe = Pipe(out)
    for item in shown:
        pipe.show([item])
    return out.getvalue()


def printed(shown: Iterable[Shown], width: int = 20) -> str:
    out = io.StringIO()
    sheet = Sheet(Console(file=out, width=width, force_terminal=False, legacy_windows=False))
    for item in shown:
        sheet.show([item])
    sheet.finish()
    return out.getvalue()


def test_text_in_a_pipe_goes_on_where_it_ended_and_a_line_starts_anew() -> None:
    assert piped([Said("Hel"), Said("lo"), line("done"), Said("x\n"), line("y")]) == (
        "Hello\ndone\nx\ny\n"
    )


def test_a_long_line_in_a_pipe_is_not_broken() -> None:
    assert piped([line("x" * 500), Said("y" * 500)]) == "x" * 500 + "\n" + "y" * 500


def test_a_pipe_that_nobody_reads_says_so_once_it_is_written_to() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    seen: list[str] = []
    with os.fdopen(writing, "w") as file:
        pipe = Pipe(cast("TextIO", Guarded(file, lambda _: seen.append("gone"))))
        pipe.show([line("x")])
        pipe.show([line("y")])
    assert seen == ["gone"]


def test_text_on_a_terminal_is_wrapped_between_words() -> None:
    said: list[Shown] = [
        Said("The quick brown "),
        Said("fox jumps over"),
        Said(" it.\nNext"),
        line("done"),
    ]
    assert printed(said) == "The quick brown fox\njumps over it.\nNext\ndone\n"


def test_a_block_is_held_back_until_it_is_finished() -> None:
    out = io.StringIO()
    sheet = Sheet(Console(file=out, width=20, force_terminal=False))
    sheet.show([Said("The *first*\n\nand the "), Said("second")])
    assert out.getvalue() == "The first\n"
    assert len(sheet.rest(room=9)) == 2  # with the empty line before it
    sheet.show([Said(" one\n\n")])
    assert out.getvalue() == "The first\n\nand the second one\n"
    assert sheet.rest(room=9) == []


def test_a_line_aside_does_not_break_off_what_is_being_said() -> None:
    out = io.StringIO()
    sheet = Sheet(Console(file=out, width=20, force_terminal=False))
    sheet.show([Said("Some *emph")])
    sheet.aside([line("by the way")])
    sheet.show([Said("asis* here"), line("done")])
    assert out.getvalue() == "by the way\nSome emphasis here\ndone\n"


def test_a_line_on_a_terminal_is_not_broken_so_that_it_can_be_copied() -> None:
    assert printed([line("x " * 50)]) == "x " * 50 + "\n"


def test_nothing_in_a_line_is_read_as_markup() -> None:
    text = "[bold]x[/bold] :smile: http://a/b <b>1234</b>"
    assert printed([line(text)], width=80) == text + "\n"
    assert printed([Said(text)], width=80) == text + "\n"


words = st.text(st.sampled_from("ab 日\n"), max_size=30)


@given(words, st.data())
def test_it_does_not_matter_how_text_is_cut(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    assert piped([Said(text[:cut]), Said(text[cut:])]) == piped([Said(text)])
    ours, whole = (printed(said) for said in ([Said(text[:cut]), Said(text[cut:])], [Said(text)]))
    assert [row.rstrip() for row in ours.split("\n")] == [row.rstrip() for row in whole.split("\n")]


def test_words_stay_apart_where_a_row_is_full() -> None:
    words = [f"word-{number} " for number in range(100)]
    assert printed(map(Said, words)).split() == [word.strip() for word in words]
