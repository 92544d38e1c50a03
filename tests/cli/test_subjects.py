"""What is to be approved, as the person sees it."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from turnbuckle.cli.lines import plain
from turnbuckle.cli.subjects import changed_counts, shown_whole, subject_lines

CWD = "file:///work"
Json = dict[str, Any]  # Any: JSON


def change(
    *hunks: tuple[int, str, str], uri: str = "file:///work/a.py", kind: str = "edit"
) -> Json:
    """A change of one file; hunks are (line, old, new)."""
    rows = [
        {"hunkId": f"h{number}", "line": at, "oldText": old, "newText": new}
        for number, (at, old, new) in enumerate(hunks)
    ]
    return {"kind": "change", "files": [{"uri": uri, "kind": kind, "digest": "d", "hunks": rows}]}


def shown(subject: Json) -> str:
    return plain(subject_lines(subject, CWD))


def test_a_change_is_a_diff_with_the_numbers_of_both_sides() -> None:
    subject = change(
        (8, "    return a - b\n", "    # add\n    return a + b\n"), (98, "old\n", "new\n")
    )
    assert shown(subject) == snapshot("""\
edit a.py  +3 -2
    9 -     return a - b
    9 +     # add
   10 +     return a + b
    ⋮
   99 - old
  100 + new
""")


def test_a_new_file_says_so() -> None:
    assert shown(change((0, "", "print()\n"), kind="create")) == snapshot("""\
new file a.py  +1 -0
  1 + print()
""")


def test_a_new_empty_file_is_shown_too() -> None:
    assert shown(change((0, "", ""), kind="create")) == "new file a.py  +0 -0\n"


def test_a_missing_line_feed_at_the_end_shows() -> None:
    assert shown(change((0, "a", "a\n"))) == snapshot("""\
edit a.py  +1 -1
  1 - a
    \\ no line feed at the end
  1 + a
""")


def test_line_ends_that_change_show_and_others_do_not() -> None:
    assert "<U+000D>" not in shown(change((0, "a\r\n", "b\r\n")))
    assert shown(change((0, "a\r\n", "a\n"))) == snapshot("""\
edit a.py  +1 -1
  1 - a<U+000D>
  1 + a
""")


def test_what_would_be_invisible_in_a_diff_shows() -> None:
    assert "if admin<U+202E>:<U+200B>" in shown(change((0, "", "if admin\u202e:\u200b\n")))


def test_a_name_cannot_deceive() -> None:
    subject = change((0, "a\n", "b\n"), uri="file:///work/a%0A%1B%5B2Jb.py")
    assert shown(subject).startswith("edit a<U+000A><U+001B>[2Jb.py ")


def test_a_file_elsewhere_has_its_whole_path() -> None:
    assert "/etc/hosts" in shown(change((0, "a\n", "b\n"), uri="file:///etc/hosts"))


def test_a_hunk_that_was_left_out_is_named_and_the_subject_is_not_whole() -> None:
    subject = change((0, "a\n", "b\n"))
    assert shown_whole(subject)
    subject["files"][0]["hunks"].append({"hunkId": "h9", "line": 41, "truncated": True})
    assert "42 ! too large to be shown here" in shown(subject)
    assert not shown_whole(subject)


def test_a_command_is_shown_in_full() -> None:
    command = "for f in *; do\n  rm -rf \u00a0/\ndone" + " #" * 500
    subject = {"kind": "command", "command": command, "cwd": "file:///work/sub", "timeout": 90}
    text = shown(subject)
    assert text.count(" #") == 500
    assert text.replace(" #", "") == snapshot("""\
$ for f in *; do
    rm -rf <U+00A0>/
  done
  in sub, at most 90 s, 3 lines
""")


def test_a_read_says_why_it_asks() -> None:
    place = {"uri": "file:///root/.ssh/id", "shown": "x", "inside": False, "secret": True}
    text = shown({"kind": "read", "places": [place]})
    assert "/.ssh/id  outside the workspace, looks secret" in text


def test_a_subject_of_a_later_version_is_shown_as_it_is() -> None:
    assert "teleport" in shown({"kind": "teleport", "to": "mars"})


@pytest.mark.parametrize(
    "subject",
    [
        {},
        {"kind": "change", "files": [{"hunks": [{}, 1]}, 2]},
        {"kind": "change", "files": [{"uri": 1, "hunks": [{"line": "x", "oldText": 7}]}]},
        {"kind": "read", "places": [{}, None]},
    ],
)
def test_damaged_subjects_break_nothing(subject: Json) -> None:
    assert isinstance(shown(subject), str)
    assert list(changed_counts(subject)) is not None


def test_lines_are_counted_per_hunk() -> None:
    subject = change((0, "a\nb\n", "c\n"), (9, "", "d\ne"))
    assert list(changed_counts(subject)) == [
        ("h0", "file:///work/a.py", 1, 2),
        ("h1", "file:///work/a.py", 2, 0),
    ]
