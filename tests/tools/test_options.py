"""A rule for a harmless program does not let it run others, load code or write where it likes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.testing.strategies import soak
from turnbuckle.tools.commandrules import allowed_commands, rule_of
from turnbuckle.tools.options import OPTIONS
from turnbuckle.tools.programs import RUNS_ANYTHING, kind


def allowed(line: str, rule: str | None = None) -> bool:
    """Whether a line is allowed by the rule for its program alone, or by another one."""
    return allowed_commands(line, [rule_of(rule or line.split()[0])]) is not None


@pytest.mark.parametrize(
    "line",
    [
        "git diff --output=src/a.py", "git diff --out x", "git grep -O./evil x", "git grep -nO./evil",
        "git grep --open-files-in-pager=./evil x", "git fetch --upload-pack=./evil x",
        "git -c core.pager=./evil log", "git -C sub status", "git --git-dir=x status",
        "git --exec-path=. status", "git difftool -x ./evil", "git log --ext-diff",
        "rg --pre ./evil x", "rg --pre=./evil x", "rg --hostname-bin ./evil x",
        "find . -delete", "find . -fprint x", "sort -o a.py b", "sort -noa.py b", "sort --out=a.py b",
        "sort --compress-program=./evil b", "tar xf a --to-command=./evil",
        "tar xf a --checkpoint-action=exec=./evil", "tar -cI./evil -f a b", "tar cIf ./evil a b",
        "tar --use-comp=./evil -cf a b", "rsync -ave ./evil a b", "rsync --rsh=./evil a b",
        "man -P ./evil ls", "bat --pager ./evil a", "fzf --preview=./evil", "curl -sSLo a.py http://x",
        "curl -K evil http://x", "make CC=./evil", "make --eval=x", "make -f evil.mk", "make -C sub",
        "pytest -p evil", "pytest -c evil.ini", "pytest --rootdir=sub", "mypy --config-file=e.ini .",
        "eslint -c evil.js .", "gcc -fplugin=./evil.so a.c", "gcc -wrapper ./evil a.c",
        "test -v 'a[$(./evil)]'", "printf -v PATH ./evil", "printf -v 'a[$(./evil)]' x",
        "wait -p 'a[$(./evil)]'", "jobs -x ./evil", "compgen -C ./evil x", "read PATH",
        "mapfile -C ./evil x", "getopts a PATH", "fc -e ./evil",
        "clang-15 -fplugin=./evil.so a.c", "timeout 5 rg --pre ./evil x",
    ],
)  # fmt: skip
def test_what_an_option_makes_of_a_program_is_asked_about(line: str) -> None:
    assert not allowed(line)
    programs = [rule_of(one) for one in ("timeout", "rg")]
    assert allowed_commands(line, programs) is None
    assert allowed(line, line)  # a rule for the whole command is one for exactly that


@pytest.mark.parametrize(
    "line",
    [
        "git status", "git status -s src", "git --no-pager log --oneline -5", "git log --format=%h",
        "git diff HEAD~1 -- a.py", "git show -s", "rg -n foo src", "rg -i --glob '*.py' foo",
        "find . -name '*.py' -print", "sort -k2n a", "tar tf a.tar", "tar -tzf a.tgz", "man ls",
        "make test", "make -j8 test", "pytest -x -k foo tests", "pytest -vv tests/a.py::test_b",
        "curl -sSfL http://x", "gcc -O2 -Wall a.c", "ls -la *", "cat a*", "grep -rn x *",
        "test -f a.py", "test -n x", "printf '%s\\n' x", "wait", "rg foo src/*", "rg -- foo *", "git grep -- -Ox",
    ],
)  # fmt: skip
def test_the_usual_options_are_not_asked_about(line: str) -> None:
    assert allowed(line)


@pytest.mark.parametrize(
    "line", ["rg foo *", "tar cf a *", "git add *", "rg foo -*", "find *", "rg foo ?-x"]
)
def test_a_pattern_may_become_the_name_of_a_file_that_is_an_option(line: str) -> None:
    assert not allowed(line)


def test_the_rows_are_called_as_programs_are_compared() -> None:
    assert [name for name in OPTIONS if kind(name) != name] == []


def test_what_has_to_be_allowed_whole_needs_no_row() -> None:
    assert not RUNS_ANYTHING & OPTIONS.keys()


@settings(max_examples=soak(300), deadline=None)
@given(st.sampled_from(sorted(OPTIONS)), st.data())
def test_each_option_is_seen_in_all_ways_to_write_it(program: str, data: st.DataObject) -> None:
    option = data.draw(st.sampled_from(OPTIONS[program]))
    before = data.draw(st.lists(st.sampled_from(["a", "src/b", "-q", "--quiet"]), max_size=3))
    value = data.draw(st.sampled_from(["", "=x", " x"]))
    if option.startswith("--") and data.draw(st.booleans()):
        option = option[: data.draw(st.integers(min(5, len(option)), len(option)))]
    line = " ".join([program, *before, option + value])
    assert not allowed(line), line
