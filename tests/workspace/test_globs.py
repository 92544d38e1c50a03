"""Patterns for paths."""

import pytest

from turnbuckle.workspace.globs import compile_glob

YES = [
    ("*.py", "a.py"),
    ("*.py", "deep/er/a.py"),
    ("**/*.py", "a.py"),
    ("**/*.py", "x/y/a.py"),
    ("src/*.py", "src/a.py"),
    ("./src/*.py", "src/a.py"),
    ("src/**/test_*.py", "src/test_a.py"),
    ("src/**/test_*.py", "src/x/y/test_a.py"),
    ("*.{ts,tsx}", "a/b.tsx"),
    ("{src,lib}/*.{c,h}", "lib/a.h"),
    ("src/", "src/a/b"),
    ("src/**", "src/a/b"),
    ("file[0-9].txt", "file7.txt"),
    ("file[!0-9].txt", "filex.txt"),
    ("[]]", "]"),
    ("a?c", "abc"),
    ("a.b", "a.b"),
]
NO = [
    ("src/*.py", "src/deep/a.py"),
    ("src/*.py", "other/src/a.py"),
    ("*.py", "a.pyc"),
    ("a.b", "axb"),
    ("file[!0-9].txt", "file7.txt"),
    ("a?c", "a/c"),
    ("a[!b]c", "a/c"),
    ("src/**", "src"),
    ("[", "x"),
]


@pytest.mark.parametrize(("pattern", "path"), YES)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert compile_glob(pattern).fullmatch(path)


@pytest.mark.parametrize(("pattern", "path"), NO)
def test_a_pattern_does_not_match(pattern: str, path: str) -> None:
    assert not compile_glob(pattern).fullmatch(path)


@pytest.mark.parametrize("pattern", ["{a,b}" * 8, "[z-a]"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="it "):
        compile_glob(pattern)
