"""Patterns of strangers mean what they meant, and none of them takes long."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from turnbuckle.testing.strategies import soak
from turnbuckle.workspace.globs import compile_glob
from turnbuckle.workspace.ignoring import LONGEST, MOST, spec_of, steady
from turnbuckle.workspace.tree import walk

SOON = 30
"""Seconds in which anything is matched; it is a bound for what would take hours."""

pieces = st.sampled_from(
    ["a", "b", "*", "**", "/", "/**/", "?", "[ab]", "[!a]", ".", "!", "\\*", ")", "x"]
)
patterns = st.lists(pieces, min_size=1, max_size=9).map("".join)
paths = st.lists(
    st.sampled_from(["a", "b", "ab", "aab", "ba", "x", ".a", "a)b"]), min_size=1, max_size=6
).map("/".join)


@settings(max_examples=soak(600), deadline=None)
@given(patterns, paths)
def test_a_rule_ignores_what_it_ignored(pattern: str, path: str) -> None:
    try:
        plain = GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return
    quick = spec_of([pattern])
    for name in (path, f"{path}/"):
        assert quick.check_file(name).include == plain.check_file(name).include, name


def means(pattern: list[str], path: list[str]) -> bool:
    """What a pattern matches, told in the plainest way."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(path)
        return any(means(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and part(pattern[0], path[0]) and means(pattern[1:], path[1:])


def part(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(part(pattern[1:], name[start:]) for start in range(len(name) + 1))
    return bool(name) and pattern[0] in ("?", name[0]) and part(pattern[1:], name[1:])


@settings(max_examples=soak(600), deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "*", "**", "a*b", "*a*", "*a*b*", "??", "a?*"]),
        min_size=2,
        max_size=5,
    ),
    paths,
)
def test_a_pattern_matches_what_it_says(pattern: list[str], path: str) -> None:
    found = compile_glob("/".join(pattern)).fullmatch(path) is not None
    assert found is means(pattern, path.split("/")), (pattern, path)


HOSTILE = [
    "*a" * 40 + "b", "**/a/" * 20 + "b", "a/**/" * 20 + "b", "*a?" * 30 + "b", "*[ab]" * 40 + "c",
    "*" * 300 + "b", "**/*a*a*a*a*a*a*a*a/" * 6 + "b", "*)a" * 30 + "b", "a*" * 40 + "/b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_keeps_the_process_busy(tmp_path: Path, pattern: str) -> None:
    """In a process of its own: what matches cannot be interrupted."""
    code = (
        "import sys\n"
        "from turnbuckle.workspace.globs import compile_glob\n"
        "from turnbuckle.workspace.ignoring import spec_of\n"
        "for path in ('a' * 200, 'a/' * 100 + 'a', '/'.join(['a' * 60] * 8), ')a' * 90):\n"
        "    compile_glob(sys.argv[1]).fullmatch(path)\n"
        "    spec_of([sys.argv[1]]).match_file(path)\n"
    )
    subprocess.run([sys.executable, "-c", code, pattern], check=True, timeout=SOON)


def test_a_workspace_with_hostile_rules_is_walked(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("\n".join(["*.o", *HOSTILE, "x" * (LONGEST + 1)]))
    (tmp_path / ("a" * 200)).touch()
    (tmp_path / "b.o").touch()
    assert [entry.path for entry in walk(tmp_path)] == [".gitignore", "a" * 200]


def test_of_many_rules_the_first_count() -> None:
    spec = spec_of([f"x{number}" for number in range(MOST + 10)])
    assert spec.match_file("x1")
    assert not spec.match_file(f"x{MOST + 5}")


def test_an_expression_without_stars_stays() -> None:
    assert steady("^a/b$") == "^a/b$"
    assert re.compile(steady("^(?:.+/)?[^/]*a[^/]*b$")).match("x/cacb")
