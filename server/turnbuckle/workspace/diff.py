"""Which lines differ, within a budget of time: anchors first, then the small gaps between them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from turnbuckle.workspace.comparing import COMPILED, SequenceMatcher
from turnbuckle.workspace.text import split_lines

Block: TypeAlias = tuple[int, int, int, int]
"""`old[a:b]` became `new[c:d]`: (a, b, c, d)."""

BUDGET = 50_000_000 if COMPILED else 5_000_000
"""Comparisons that one diff may cost at worst, some 50 ms; a gap that costs more is one block."""

NEAR, RUN = 128, 12
"""Lines after a difference in which they are looked for that go on as before, so many of them."""

_WINDOW = 16 * 1024
"""Characters in which those lines are looked for."""


def changed_lines(old: Sequence[str], new: Sequence[str], budget: int = BUDGET) -> list[Block]:
    """The blocks that differ, in order; between two of them stands at least one equal line."""
    head, tail = _common_ends(old, new)
    blocks: list[Block] = []
    for a, b, c, d in _gaps(old, new, (head, len(old) - tail, head, len(new) - tail)):
        cost = _cost(old[a:b], new[c:d])
        if cost > budget:
            blocks.append((a, b, c, d))
            continue
        budget -= cost
        opcodes = SequenceMatcher(None, old[a:b], new[c:d], False).get_opcodes()
        blocks += [(a + i, a + j, c + k, c + m) for tag, i, j, k, m in opcodes if tag != "equal"]
    return blocks


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def differing(one: str, other: str) -> Iterator[Block]:
    """The parts of two texts that differ, in characters and on whole lines, each as it is found.

    As long as they go on alike near what differs, this costs what differs; then the rest is one
    part.
    """
    a = c = 0
    while (a, c) != (len(one), len(other)):
        same = _same(one, a, other, c)
        if (a + same, c + same) != (len(one), len(other)):
            same = max(0, one.rfind("\n", a, a + same) + 1 - a)
        a, c = a + same, c + same
        old, new = split_lines(one[a : a + _WINDOW]), split_lines(other[c : c + _WINDOW])
        again = _resumed(old[:NEAR], new[:NEAR]) or (0, 0)
        if again == (0, 0):
            break
        i, j = a + sum(map(len, old[: again[0]])), c + sum(map(len, new[: again[1]]))
        yield a, i, c, j
        a, c = i, j
    if (a, c) != (len(one), len(other)):
        yield a, len(one), c, len(other)


def _same(one: str, a: int, other: str, c: int) -> int:
    """How many characters are the same from here on in both."""
    same, step = 0, 64 * 1024
    most = min(len(one) - a, len(other) - c)
    while step:
        stop = min(same + step, most)
        if same < stop and one[a + same : a + stop] == other[c + same : c + stop]:
            same = stop
        else:
            step //= 2
    return same


def _resumed(old: Sequence[str], new: Sequence[str]) -> tuple[int, int] | None:
    """The first anchor with which many equal lines begin; most are near, so that is tried first."""
    for size in (2 * RUN, NEAR):
        for i, j in _anchors(old[:size], new[:size]):
            if old[i : i + RUN] == new[j : j + RUN] and max(i, j) + RUN <= min(len(old), len(new)):
                return i, j
    return None


def _gaps(old: Sequence[str], new: Sequence[str], within: Block) -> Iterator[Block]:
    """What lies between the anchors, in this part of both."""
    first, stop, new_first, new_stop = within
    a, c = first, new_first
    anchors = _anchors(old[first:stop], new[new_first:new_stop])
    for i, j in [*anchors, (stop - first, new_stop - new_first)]:
        b, d = first + i, new_first + j
        if (a, c) != (b, d):
            yield a, b, c, d
        a, c = b + 1, d + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that are unique in both, the most that keep their order (as in a patience diff)."""
    count, new_count = Counter(old), Counter(new)
    where = {line: index for index, line in enumerate(new) if new_count[line] == 1}
    pairs = [(i, where[line]) for i, line in enumerate(old) if count[line] == 1 and line in where]
    lowest: list[int] = []  # for each length, the lowest end of an increasing run
    tops: list[int] = []  # the pair that it ends with
    before: list[int] = []  # for each pair, the one before it in its run
    for number, (_, position) in enumerate(pairs):
        length = bisect_left(lowest, position)
        before.append(tops[length - 1] if length else -1)
        lowest[length : length + 1] = [position]
        tops[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _cost(old: Sequence[str], new: Sequence[str]) -> int:
    """Comparisons at worst: each match splits the rest, and the rest is searched again."""
    count = Counter(new)
    pairs = sum(count[line] for line in old)
    return pairs * min(len(old), len(new)) + len(old) + len(new)
