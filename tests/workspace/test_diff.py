"""What differs between two texts, where few places of many lines differ."""

import subprocess
import sys
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from turnbuckle.workspace.changes import make_change
from turnbuckle.workspace.diff import NEAR, RUN, changed_lines

BLOCKS = st.lists(
    st.sampled_from((
        ["a\n"], ["b\n"], ["x\n", "\n"] * RUN, [f"{n}\n" for n in range(2 * RUN)],
        [f"{n}\n" for n in range(NEAR)], ["y\n"] * NEAR,
    )),
    max_size=8,
).map(lambda blocks: [line for block in blocks for line in block])  # fmt: skip


@given(BLOCKS, BLOCKS)
def test_what_lies_between_blocks_is_equal_in_long_texts_too(
    old: list[str], new: list[str]
) -> None:
    at = at_new = 0
    for a, b, c, d in [*changed_lines(old, new), (len(old), len(old), len(new), len(new))]:
        assert old[at:a] == new[at_new:c]
        assert (a, c) > (at, at_new) or (at, at_new) == (0, 0) or a == len(old)
        at, at_new = b, d


@given(BLOCKS, BLOCKS, st.sampled_from(["\n", "\r\n", "\r", "\n\r"]), st.booleans())
@example(["a\n"] * RUN + ["b\n"], ["a\n"] * RUN + ["c\n"], "\r", False)
def test_hunks_of_long_texts_come_to_the_new_text_and_never_touch(
    old: list[str], new: list[str], end: str, bare: bool
) -> None:
    one, other = ("".join(lines).replace("\n", end) for lines in (old, new))
    one = one.removesuffix(end) if bare else one
    change = make_change("file:///w/a.py", one, other, "edit")
    assert change.result == other
    assert all(a.end < b.start for a, b in pairwise(change.hunks))
    assert all(hunk.old != hunk.new for hunk in change.hunks)
    assert all(one[hunk.start : hunk.end] == hunk.old for hunk in change.hunks)


def test_few_places_of_a_long_text_are_found_line_by_line() -> None:
    old = [f"line {number}\n" for number in range(20_000)]
    new = list(old)
    new[19_000:19_002] = []
    new[9_000] = "changed\n"
    new[100:100] = ["added\n"] * 3
    assert changed_lines(old, new) == [
        (100, 100, 100, 103),
        (9_000, 9_001, 9_003, 9_004),
        (19_000, 19_002, 19_003, 19_003),
    ]


def test_a_long_part_that_was_taken_out_is_one_block() -> None:
    old = [f"line {number}\n" for number in range(2_000)]
    assert changed_lines(old, old[:500] + old[1_500:]) == [(500, 1_500, 500, 500)]
    assert changed_lines(old[:500] + old[1_500:], old) == [(500, 500, 500, 1_500)]


WITHOUT = """
import sys

sys.modules["cydifflib"] = None
from turnbuckle.tools.builtin.matching import Edit, matched
from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.diff import BUDGET, changed_lines

print(changed_lines(list("abcdef"), list("abXdYf")), BUDGET)
try:
    matched("one two\\n", (Edit("one  twa", "x"),), "a.py")
except ToolError as error:
    print(error)
"""


def test_where_there_is_no_compiled_matcher_the_standard_one_finds_the_same_with_less_at_once() -> (
    None
):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, timeout=30
    )
    blocks, told = done.stdout.split("\n", 1)
    assert blocks == f"{changed_lines(list('abcdef'), list('abXdYf'))} 5000000"
    assert "one two" in told
