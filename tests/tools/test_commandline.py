"""What a command line runs: what is allowed was understood, what is forbidden is found anywhere."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turnbuckle.tools.commandline import LONGEST, simple_commands
from turnbuckle.tools.commandrules import Unclear, allowed_commands, forbidding, rule_of

ALLOW = [rule_of(text) for text in ("git status", "ls", "echo", "npm test", "python -m pytest")]
DENY = [rule_of(text) for text in ("rm", "git push", "kill -9", "git reset --hard", "curl")]


def allowed(line: str) -> bool:
    return allowed_commands(line, ALLOW) is not None


def forbidden(line: str) -> str | None:
    found = forbidding(line, DENY)
    return found.text if found else None


# -- what is understood --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git status", [["git", "status"]]),
        ("git\tstatus  -s", [["git", "status", "-s"]]),
        ("a && b || c; d | e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ('"g"it \'sta\'tus x"y z"w', [["git", "status", "xy zw"]]),
        (r"git stat\us a\ b \"", [["git", "status", "a b", '"']]),
        ('echo "a\\\\b" "c  d " \'$x\'', [["echo", "a\\b", "c  d ", "$x"]]),
        ("git ''", [["git", ""]]),
        ("ls *.py ~/x", [["ls", "*.py", "~/x"]]),
        ("git status 2>&1 | tail -n 3", [["git", "status"], ["tail", "-n", "3"]]),
        ("git commit -m 'a; rm b'", [["git", "commit", "-m", "a; rm b"]]),
        ("ls é", [["ls", "é"]]),
    ],
)
def test_words_are_read_by_their_value(line: str, words: list[list[str]]) -> None:
    commands = simple_commands(line)
    assert commands is not None
    assert [[word.text for word in command] for command in commands] == words


NOT_PLAIN = [
    "", " ", "\n", ";", "# nothing", "ls # x", "ls &", "ls & git status", "ls |& git status",
    "ls $(rm x)", "ls `rm x`", 'ls "$(rm x)"', "ls $x", "ls ${x}", 'ls "$x"', "ls $((1+1))", "ls $x$",
    "ls > f", "ls >> f", "ls 2> f", "ls &> f", "ls < f", "ls >| f", "ls <> f", "ls 2>&1 > f",
    "ls > /dev/null", "ls 2>&1 x", "ls >&f", "ls <(rm x)", "ls >(rm x)", "ls << E\nx\nE\n", "ls <<< x",
    "(ls)", "{ ls; }", "! ls", "if ls; then ls; fi", "while ls; do ls; done", "for i in a; do ls; done",
    "case x in a) ls;; esac", "f() { ls; }", "[[ -f x ]]", "[ -f x ]", "((x++))", "select x in a; do ls; done",
    "A=1 ls", "A=1", "A+=1 ls", "A[0]=1 ls", "export A=1", "declare A=1", "unset A",
    "ls \\\n x", "l\\\ns", "ls $'x'", 'ls $"x"', "ls\r\ngit status", "ls \x00", "ls \u00a0x", "ls\u2028rm",
    "ls \u202ex", "ls \x1b[2K", "ls 'x", 'ls "x', "ls \\", "ls &&", "&& ls", "ls || ", "ls ;; ls", "ls | | ls",
    "ls )", "( ls", "ls }", "coproc { ls; }", "ls a=(1 2)", "ls !(x)", "echo " + "x" * LONGEST,
]  # fmt: skip


@pytest.mark.parametrize("line", NOT_PLAIN, ids=lambda line: repr(line[:30]))
def test_what_is_not_plain_is_not_understood(line: str) -> None:
    if (commands := simple_commands(line)) is not None:
        # What reads as words all the same is no word of a rule.
        assert all(not command[0].text.isalnum() for command in commands)
    assert not allowed(line)


# -- what is allowed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "git status", "git status -s x", "git  'status'", "ls *.py", "ls; git status && echo 'a b'",
        "ls | echo\n\ngit status", "npm test", "python -m pytest", "git status 2>&1",
    ],
)  # fmt: skip
def test_a_line_is_allowed_whose_every_part_begins_as_a_rule(line: str) -> None:
    assert allowed(line)


@pytest.mark.parametrize(
    "line",
    [
        "git", "git -c x status", "git push", "git statusx", "git 'status -s'", "Git status", "gits",
        "./git status", "/tmp/git status", "git stat*", "git {status,push}", "l? x", "~/ls", "./ls",
        "ls; rm x", "rm x; ls", "ls || rm x", "ls | sh", "ls\nrm x",
        "npm test x", "npm test; npm install x", "npm", "npm run test", "python -m pytest -x", "python x.py",
        "env ls", "sudo ls", "command ls", "xargs ls", "sh -c ls", "eval ls", "time ls", "\\time ls",
    ],
)  # fmt: skip
def test_a_line_is_not_allowed_if_any_part_of_it_is_not(line: str) -> None:
    assert not allowed(line)


@pytest.mark.parametrize(
    "program",
    [
        "python",
        "python3.11",
        "/usr/bin/python3",
        "node18",
        "sh",
        "env",
        "sudo",
        "xargs",
        "pip3",
        "uv",
    ],
)
def test_a_program_that_runs_anything_needs_a_rule_for_the_whole_command(program: str) -> None:
    assert allowed_commands(f"{program} -m build", [rule_of(f"{program} -m build")])
    assert not allowed_commands(f"{program} -m build x", [rule_of(f"{program} -m build")])
    assert not allowed_commands(f"{program} -m build", [rule_of(program)])
    assert not allowed_commands(f"{program} *", [rule_of(f"{program} *")])


@pytest.mark.parametrize(
    ("line", "rules", "fine"),
    [
        ("timeout 5 ls -l", ["timeout", "ls"], True),
        ("timeout 0.5m nohup ls", ["timeout", "ls", "nohup"], True),
        ("nice ls; timeout 9 ls", ["timeout", "ls", "nice"], True),
        ("timeout 5 ls", ["ls"], False),
        ("timeout 5 ls", ["timeout"], False),
        ("timeout 5", ["timeout", "ls"], False),
        ("timeout 5 rm x", ["timeout", "ls"], False),
        ("timeout -k 1 5 ls", ["timeout", "ls"], False),
        ("timeout 5 -k ls", ["timeout", "ls"], False),
        ("timeout '5*' ls", ["timeout", "ls"], False),
        ("timeout 5 python x", ["timeout", "python"], False),
        ("timeout 5 timeout 5 sh", ["timeout", "ls", "sh -c ls"], False),
        ("nice -n 5 ls", ["nice", "ls"], False),
        ("./timeout 5 ls", ["timeout", "ls"], False),
        ("env ls", ["env", "ls"], False),
        ("sudo ls", ["sudo", "ls"], False),
        ("xargs ls", ["xargs", "ls"], False),
    ],
)
def test_a_wrapper_is_allowed_with_what_it_runs_where_that_is_plain(
    line: str, rules: list[str], *, fine: bool
) -> None:
    assert (allowed_commands(line, [rule_of(rule) for rule in rules]) is not None) is fine


def test_find_that_runs_another_program_needs_a_rule_for_the_whole_command() -> None:
    rules = [rule_of("find")]
    assert allowed_commands("find . -name x", rules)
    assert not allowed_commands("find . -exec rm {} +", rules)
    assert not allowed_commands("find . -execdir touch x ';'", rules)


def test_without_rules_nothing_is_allowed() -> None:
    assert allowed_commands("ls", []) is None


@pytest.mark.parametrize("text", ["", " ", "''", "'git", '"'])
def test_a_rule_that_names_no_command_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"command|quotation"):
        rule_of(text)


HARMLESS = st.sampled_from(
    ["git status", "ls", "ls -la", "echo 'a b'", "npm test", "git 'status' x"]
)
HARMFUL = st.sampled_from(["rm x", "rm", "git push", "npm test x", "python", "sh", "touch x"])
OPERATORS = st.sampled_from([";", "&&", "||", "|", "\n", "&", "|&", " ; ", "&&\n", ";;"])
WRAPS = [
    "$({})", "`{}`", '"$({})"', "<({})", ">({})", "> {}", "< {}", ">> {}", "2> {}", "&> {}", "{} &", "({})",
    "$(({}))", "${{x:-{}}}", "<<E\n{}\nE\n", "<<< {}", "$'{}", "\\\n{}", "${}",
]  # fmt: skip
BLOCKS = [
    "{{ {}; }}", "! {}", "A=1 {}", "if {}; then ls; fi", "while {}; do ls; done", "f() {{ {}; }}", "# {}",
    "[[ {} ]]", "coproc {}", "for x in {}; do ls; done", "export A={}", "alias ls={}", "time {}",
]  # fmt: skip


@given(HARMLESS, st.sampled_from(WRAPS), HARMLESS | HARMFUL, st.sampled_from(["", " ", "; "]))
def test_no_substitution_and_no_redirection_is_allowed(
    good: str, wrap: str, inner: str, between: str
) -> None:
    assert not allowed(f"{good}{between}{wrap.format(inner)}")


@given(HARMLESS, st.sampled_from(BLOCKS), HARMLESS | HARMFUL, OPERATORS)
def test_no_block_is_allowed(good: str, block: str, inner: str, operator: str) -> None:
    assert not allowed(f"{good}{operator}{block.format(inner)}")
    assert not allowed(f"{block.format(inner)}{operator}{good}")


SOUP = st.lists(
    st.sampled_from([
        "ls", "git", "status", "echo", "rm", "x", "'", '"', "\\", "$", "`", "(", ")", "{", "}", "<", ">", ">&1",
        "2>&1", ";", "&", "|", "&&", "||", "\n", " ", " ", " ", "\t", "*", "?", "[", "]", "~", "!", "#", "=", "A=",
        "$(", "<<E\n", "E\n", "E", "-", "a", "0", ",", "é", "if ", "then ", "fi", "for ", "in ", "do ", "done",
    ]),
    max_size=14,
).map("".join)  # fmt: skip

PIECES = st.sampled_from([
    "a", "b-c", "'", '"', "'d e'", '"f g"', "\\ ", "\\'", '\\"', "\\\\", "''", '""', "'$x'", "'\n'", '"\n"', "=", "#", "!",
    "é", "'\\'", '"\\a"', '"\\$"', '"\\\\"', ",", "%", ":", "^", "@", "]", "-",
])  # fmt: skip
WORDS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
LINES = st.lists(
    st.one_of(WORDS, WORDS, WORDS, st.sampled_from([";", "\n", "2>&1", "\t", " ; ", "ls", "|"])),
    max_size=8,
).map(" ".join)

BASH = shutil.which("bash")
REPORT = """
command_not_found_handle() { printf '%s\\0' "$@" $'\\1'; }
PATH=/nowhere
"""


@pytest.mark.skipif(BASH is None, reason="there is no bash to compare with")
@settings(max_examples=400, deadline=None)
@given(LINES | LINES | SOUP | st.tuples(HARMLESS, SOUP).map(" ".join))
@example("ls '\n'x")
@example("ls \"a\"'b'\\ c")
@example("ls a\\;b;git status")
@example("ls\\|")
def test_what_is_understood_is_what_a_real_shell_runs(line: str) -> None:
    """Programs are not found, so that bash tells with which words it would have run them."""
    commands = simple_commands(line)
    if commands is None or any(word.text.startswith(("~", "-")) for c in commands for word in c):
        return
    if any(operator in line for operator in ("&&", "||", "|")) and ";" not in line:
        line = line.replace("&&", ";").replace("||", ";").replace("|", ";")
        commands = simple_commands(line)
        if commands is None:
            return
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(BASH), "--norc", "-c", f"unalias -a; enable -n echo [ test\n{REPORT}\n{line}"],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=20,
        )  # fmt: skip
        assert not any(Path(folder).iterdir())
    ran = [
        command.split("\0")
        for command in done.stdout.decode("utf-8", "replace").split("\0\1\0")
        if command
    ]
    understood = [[word.text for word in words] for words in commands]
    for command in ran:
        assert command in understood


# -- what is forbidden ---------------------------------------------------------------------------

HIDDEN = [
    "rm x", "rm", "rm;", "rm<f", "rm>f", "\trm\tx", "/usr/bin/rm x", "/bin/../bin/rm x", "\\rm x", '"r"m x',
    "r''m x", "'rm' x", "r\\m x", "RM x", "rm.exe x", "r\\\nm x", "rm\\\n x", "$'rm' x", "$'\\x72m' x",
    "r$()m x", "/bin/r? x", "/bin/[r]m x", "command rm x", "command -p rm x", "builtin rm", "exec rm x",
    "env rm x", "env -i A=1 rm x", "env -S 'rm x'", "sudo -u root rm x", "nice -n 5 rm x", "time rm x",
    "time -p rm", "timeout 5 rm x", "nohup nice rm x", "xargs rm", "ls | xargs -0 rm", "coproc rm x",
    "busybox rm x", "find . -exec rm {} +", "find . -exec sh -c 'rm x' ';'", "uv run rm x", "npx rm",
    'sh -c "rm x"', "bash -lc 'cd /; rm x'", "sh -ec 'true;rm x'", "sh -c rm", "sh -c $'rm x'",
    "sh -c \"sh -c 'rm x'\"", "A=1 sh -c 'rm x'", "xargs sh -c 'rm x'", "eval rm x", "eval 'rm x'",
    "eval \"$(echo 'rm x')\"", "bash -c \"$(echo 'rm x')\"", "trap 'rm x' EXIT", "alias a='rm x'; a",
    "echo 'rm x' | sh", "echo rm | sh", "printf 'rm x' | xargs sh -c", "echo 'rm x' | sudo sh",
    "sh <<< 'rm x'", "bash <<E\nrm x\nE\n", "cat <<E\n$(rm x)\nE", "sh <<'E'\nrm x\nE\n",
    "a; rm x", "a && rm x", "a||rm", "a|rm", "a & rm x", "a\nrm x", "a |& rm x", "! rm x", "A=1 rm x",
    "> f rm x", "2>f rm x", "a > f; rm x", "x=$(rm y)", "echo $(rm x)", "echo `rm x`", 'echo "$(rm x)"',
    "`echo \\`rm x\\``", "echo ${x:-$(rm x)}", "echo $((`rm x`))", "diff <(rm x) y", "tee >(rm x)",
    "(rm x)", "{ rm x; }", "if a; then rm x; fi", "if rm x; then a; fi", "for i in a; do rm $i; done",
    "while :; do rm x; done < f", "case x in a) rm x;; esac", "f() { rm x; }; f", "[[ a ]] && rm x",
    "X=rm; $X y", "for c in rm; do $c x; done", "if rm x", "rm x )", "'unclosed; rm x", "!(rm) x",
    "$(rm x", "ls\r\nrm x",
    "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "printf -v 'a[`rm x`]' y", "read 'a[$(rm x)]'",
    "jobs -x rm x", "compgen -C 'rm x'", "mapfile -C 'rm x' y", "unset 'a[$(rm x)]'",
    "rg --pre rm x", "rg --pre='rm -f' x", "git grep -Orm x", "git grep --open=rm x", "man -P 'rm -f' x",
    "tar xf a --to-command='rm x'", "tar cIf rm a b", "rsync -ae 'rm x' a b", "sort --compress-program=rm a",
    "fzf --preview 'ls; rm x'", "git fetch --upload-pack='sh -c \"rm x\"' y",
]  # fmt: skip


@pytest.mark.parametrize("line", HIDDEN)
def test_a_forbidden_command_is_found_wherever_it_stands(line: str) -> None:
    assert forbidden(line) == "rm"


@pytest.mark.parametrize(
    "line",
    [
        "git push", "git -C x push", "git --no-pager push origin", "git -c a=b push", "git --git-dir=x push",
    ],
)  # fmt: skip
def test_options_before_the_forbidden_word_do_not_hide_it(line: str) -> None:
    assert forbidden(line) == "git push"


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("kill -9 1", "kill -9"), ("kill -s -9 1", "kill -9"), ("git reset x --hard", "git reset --hard"),
        ("git reset x", None), ("kill 9", None), ("kill -l", None),
    ],
)  # fmt: skip
def test_options_of_a_rule_are_found_in_any_place(line: str, rule: str | None) -> None:
    assert forbidden(line) == rule


@pytest.mark.parametrize("line", ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rfv"])
def test_short_options_of_a_rule_are_found_one_by_one(line: str) -> None:
    assert forbidding(line, [rule_of("rm -rf")])
    assert not forbidding("rm -r x", [rule_of("rm -rf")])


@pytest.mark.parametrize(
    "line",
    [
        "echo rm", "ls rm", "ls rm.txt", "grep rm file", "find . -name rm", "git commit -m 'rm x'",
        "echo 'rm x' > f", "git log push", "git log --grep push x", "git status", "curly x", "rmdir x",
        "npm run build", "python -c 'rm x'", "echo $rm", "cat 'a;rm b'",
    ],
)  # fmt: skip
def test_a_word_that_is_no_command_is_not_forbidden(line: str) -> None:
    assert forbidden(line) is None


@given(SOUP)
def test_judging_a_line_never_fails(line: str) -> None:
    with suppress(Unclear):
        forbidding(line, DENY)
    allowed_commands(line, ALLOW)


@given(
    st.sampled_from(HIDDEN),
    st.sampled_from(["ls; {}", "({})", "a $({})", "if x; then {}\nfi", "{}; ls"]),
)
def test_it_is_found_inside_of_anything(line: str, around: str) -> None:
    assert forbidden(around.format(line)) == "rm"


def test_what_is_too_long_or_too_deep_is_unclear() -> None:
    with pytest.raises(Unclear, match="too long"):
        forbidding("a " * LONGEST, DENY)
    nested = "sh " + " ".join(f"'a {number}'" for number in range(600))
    with pytest.raises(Unclear, match="too nested"):
        forbidding(nested, DENY)


def test_where_the_shell_is_another_every_word_may_be_a_command() -> None:
    assert forbidding("echo rm", DENY, grammar=False)
    assert forbidding("if exist x ^r^m x", DENY, grammar=False)
    assert not forbidding("dir x", DENY, grammar=False)
