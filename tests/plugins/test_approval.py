"""What is not asked about any more, by rule and by grant; and what is asked about each time."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.plugins import approval, shipped_tools
from turnbuckle.plugins.approval import Rules, rules_of
from turnbuckle.session.events import ApprovalAsked, GrantAdded, ToolResult
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.tools.hooks import Allow, Ask, Execution, PreExecute
from turnbuckle.tools.tool import Command, Go, Prepared, Tool
from turnbuckle.workspace.paths import Roots, uri_of

Json = dict[str, Any]  # Any: arguments of any shape
Call = tuple[str, Json]

RULES = rules_of(
    allow=["git status", "ls", "cat", "npm test"],
    deny=["rm", "git push"],
    reads=["~/notes", "/nowhere/*.h"],
    writes=["src", "docs/**/*.md", "*.txt"],
)


def shell(folder: Path) -> Tool[Any]:
    """A tool that runs command lines as far as anybody can see."""

    async def prepare(arguments: Any, _: object) -> Prepared:
        cwd = uri_of(folder / "work" / arguments.model_dump().get("cwd", ""))
        command = Command(command=arguments.model_dump()["line"], cwd=cwd, timeout=10)
        return await tool("x", _ran, subject=command).prepare(arguments, None)  # type: ignore[arg-type] # unused

    async def _ran(_arguments: Json, _: Go) -> str:
        return "ran"

    made = tool("run", _ran)
    return Tool(
        name="run", description="Run.", parameters=made.parameters, prepare=prepare,
        execution_mode="exclusive",
    )  # fmt: skip


async def play(
    folder: Path,
    *calls: Call,
    rules: Rules = RULES,
    allow: bool = False,
    plugins: Sequence[Install] = (),
    own: Sequence[Path] = (),
    shell_name: str = "bash",
) -> Driven:
    """Make these calls, one a step; whatever is asked is answered by `allow`."""
    plugin: Install = partial(approval.install, rules=rules, own=own, shell=shell_name)
    steps = [say("", (f"c{n}", name, arguments)) for n, (name, arguments) in enumerate(calls)]
    async with driven(
        Scripted([*steps, say("done")]), folder, tools=[shell(folder)],
        plugins=[plugin, shipped_tools.install, *plugins],
    ) as session:  # fmt: skip
        session.answer_approvals(allow=allow)
        await session.say("go")
    return session


def asked(session: Driven) -> list[str]:
    """Why each question was asked."""
    facts = [fact for fact in session.facts if isinstance(fact, ApprovalAsked)]
    return [fact.subject["reason"] for fact in facts]


def results(session: Driven) -> list[tuple[str, str | None]]:
    facts = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    return [(fact.content, fact.code) for fact in facts]


def run(line: str, **more: str) -> Call:
    return "run", {"line": line, **more}


# -- commands ------------------------------------------------------------------------------------


async def test_a_command_that_a_rule_allows_is_not_asked_about(tmp_path: Path) -> None:
    session = await play(tmp_path, run("git status -s && ls *.py | cat"), run("npm test"))
    assert asked(session) == []
    assert results(session) == [("ran", None)] * 2


@pytest.mark.parametrize(
    "line",
    [
        "git status; touch x", "git status > x", "git status &", "git -c x status", "cat $(ls)", "npm test x",
        "A=1 git status", "make", "git status\nmake",
    ],
)  # fmt: skip
async def test_every_other_command_is_asked_about(tmp_path: Path, line: str) -> None:
    session = await play(tmp_path, run(line))
    assert asked(session) == ["commands are asked about first"]
    assert results(session)[0][1] == "DENIED"


@pytest.mark.parametrize(
    "line", ["rm x", "ls; rm x", "ls $(rm x)", "sh -c 'rm x'", "cd a && git push"]
)
async def test_what_a_rule_forbids_is_denied_and_nobody_is_asked(tmp_path: Path, line: str) -> None:
    session = await play(tmp_path, run(line), allow=True)
    assert asked(session) == []
    ((said, code),) = results(session)
    assert code == "DENIED"
    assert "the person's rule 'rm'" in said or "the person's rule 'git push'" in said


async def test_forbidden_beats_allowed_and_granted(tmp_path: Path) -> None:
    rules = rules_of(allow=["rm", "rm x"], deny=["rm"])
    assert asked(await play(tmp_path, run("rm x"), rules=rules, allow=True)) == []

    def grants(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(allows)

    async def allows(_: Execution, __: Next[Execution, PreExecute]) -> PreExecute:
        return Allow()

    session = await play(tmp_path / "b", run("rm x"), rules=rules, plugins=[grants])
    assert results(session)[0][1] == "DENIED"


async def test_what_cannot_be_held_against_the_rules_is_denied(tmp_path: Path) -> None:
    session = await play(tmp_path, run("echo " + "x" * 20_000), allow=True)
    assert "too long" in results(session)[0][0]
    without = await play(tmp_path / "b", run("echo " + "x" * 20_000), rules=Rules(), allow=True)
    assert results(without) == [("ran", None)]


@pytest.mark.parametrize(
    "line",
    [
        "cat .env", "cat ./x/.ssh/id_rsa", "cat *", "cat .e*", "cat .*", "cat id_*", "ls --x=.env", "cat a,.env",
        "cat ~/.aws/x", "cat '.env'", "cat .e\\nv", "ls .git/hooks/pre-commit", "cat HEAD:.env", "cat @.env",
        "git status .vscode/settings.json", "cat .github/workflows/x.yml", "cat AGENTS.md",
        "ls -o.git/hooks/pre-commit", "cat -f.env", "cat .ENV", "cat agents.MD", "cat a/../.env",
    ],
)  # fmt: skip
async def test_a_command_that_names_what_is_asked_about_each_time_is_asked_about(
    tmp_path: Path, line: str
) -> None:
    assert asked(await play(tmp_path, run(line))) == ["commands are asked about first"]


async def test_git_that_would_obey_files_of_the_workspace_is_asked_about(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / "work" / "data" / name).mkdir(parents=True)
    (tmp_path / "work" / "data" / "HEAD").write_text("ref: refs/heads/main\n")
    rules = rules_of(allow=["git status", "cd"])
    session = await play(tmp_path, run("cd data && git status"), run("git status"), rules=rules)
    assert asked(session) == ["commands are asked about first"]


@pytest.mark.parametrize(
    "line", ["cat a.py", "cat *.py", "ls src/*", "git status .", "ls -la src/"]
)
async def test_a_command_that_names_other_files_is_not(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "work" / "src"
    expected = ["commands are asked about first"] if "*" in line and ".py" not in line else []
    folder.mkdir(parents=True)
    assert asked(await play(tmp_path, run(line))) == expected


async def test_where_the_shell_is_another_no_rule_allows_and_all_forbid(tmp_path: Path) -> None:
    session = await play(tmp_path, run("ls"), run("call ^rm x"), shell_name="cmd")
    assert asked(session) == ["commands are asked about first"]
    assert "rule 'rm'" in results(session)[1][0]


# -- files ---------------------------------------------------------------------------------------


def write(path: str) -> Call:
    return "write_file", {"path": path, "content": "x\n"}


@pytest.mark.parametrize(
    "path", ["src/a.py", "src/b/c.py", "docs/a.md", "docs/x/y.md", "a.txt", "b/c.txt"]
)
async def test_a_place_that_a_rule_allows_is_written_without_a_question(
    tmp_path: Path, path: str
) -> None:
    session = await play(tmp_path, write(path))
    assert asked(session) == []
    assert (tmp_path / "work" / path).read_text() == "x\n"


@pytest.mark.parametrize(
    "path", ["a.py", "srcs/a.py", "b/src/a.py", "docs/a.py", "a.txt.py", "a.md"]
)
async def test_every_other_place_is_asked_about(tmp_path: Path, path: str) -> None:
    session = await play(tmp_path, write(path))
    assert asked(session) == ["changes are asked about first"]
    assert not (tmp_path / "work" / path).exists()


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("src/.git/config", "files of version control"),
        (".vscode/tasks.json", "settings of an editor"),
        (".github/workflows/ci.txt", "what a build server runs"),
        (".gitlab-ci.yml", "what a build server runs"),
        ("src/AGENTS.md", "instructions for agents"),
        ("src/.cursor/rules.txt", "instructions for agents"),
        (".husky/pre-commit.txt", "what runs by itself"),
        ("src/.pre-commit-config.yaml", "what runs by itself"),
        ("src/.env.txt", "held credentials"),
    ],
)
async def test_some_files_are_asked_about_each_time_whatever_a_rule_allows(
    tmp_path: Path, path: str, what: str
) -> None:
    everything = rules_of(writes=["**", ".", "src", "*", ".git/**"])
    session = await play(tmp_path, write(path), rules=everything)
    (reason,) = asked(session)
    assert what in reason
    assert "asked about each time" in reason


async def test_a_link_does_not_hide_what_is_asked_about_each_time(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".git" / "hooks").mkdir(parents=True)
    (work / "src").symlink_to(".git/hooks")
    (work / "away").symlink_to(work)
    everything = rules_of(writes=["src", "away", "."])
    session = await play(tmp_path, write("src/pre-commit"), write("away/.git/x"), rules=everything)
    assert ["version control" in reason for reason in asked(session)] == [True, True]


async def test_our_own_files_are_asked_about_each_time(tmp_path: Path) -> None:
    own = tmp_path / "work" / "config.toml"
    session = await play(tmp_path, write("config.toml"), rules=rules_of(writes=["*"]), own=[own])
    assert asked(session) == [
        "it belongs to Turnbuckle's own configuration and state, which is asked about each time"
    ]


async def test_a_place_outside_that_a_rule_allows_is_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("one\n")
    (outside / ".env").write_text("KEY=1\n")
    rules = rules_of(reads=[str(outside)])
    calls = [("read_file", {"path": str(outside / name)}) for name in ("a.txt", ".env")]
    session = await play(tmp_path, *calls, rules=rules)
    (reason,) = asked(session)
    assert ".env looks as if it held credentials" in reason
    assert "one" in results(session)[0][0]
    (without,) = asked(await play(tmp_path / "b", calls[0], rules=Rules()))
    assert "outside the workspace" in without


@pytest.mark.parametrize(
    "path", [".env", "id_rsa", "x.pem", ".ssh/config", ".netrc", "credentials.json"]
)
async def test_what_looks_secret_is_asked_about_each_time(tmp_path: Path, path: str) -> None:
    file = tmp_path / "work" / path
    file.parent.mkdir(parents=True)
    file.write_text("secret\n")
    read = ("read_file", {"path": path})
    session = await play(tmp_path, read, read, rules=rules_of(reads=["/", "."]), allow=True)
    assert len(asked(session)) == 2
    assert all("held credentials" in reason for reason in asked(session))


# -- grants --------------------------------------------------------------------------------------


async def granted(folder: Path, first: Call, *more: Call) -> tuple[list[str], list[Json]]:
    """Allow the first call for the session and deny all else: what was asked, and what is held."""
    steps = [say("", (f"c{n}", name, args)) for n, (name, args) in enumerate((first, *more))]
    plugin: Install = partial(approval.install, shell="bash")
    async with driven(
        Scripted([*steps, say("done")]), folder, tools=[shell(folder)],
        plugins=[plugin, shipped_tools.install],
    ) as session:  # fmt: skip
        session.send("go")
        approvals = session.opened.agent.approvals
        fact = await session.until(ApprovalAsked)
        assert isinstance(fact, ApprovalAsked)
        session.answer_approvals(allow=False)
        approvals.decide(fact.approval_id, allow=True, by="test", remember="session")
        await session.opened.driver.idle()
    return asked(session), [fact.subject for fact in session.facts if isinstance(fact, GrantAdded)]


async def test_a_granted_command_is_that_line_in_that_folder(tmp_path: Path) -> None:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    cwd = uri_of(tmp_path / "work")
    questions, held = await granted(
        tmp_path,
        run("make x"),
        run("make x"),
        run("make  x"),
        run("make x y"),
        run("make x", cwd="sub"),
    )
    assert len(questions) == 4
    assert held == [{"kind": "command", "command": "make x", "cwd": cwd}]


async def test_a_granted_file_is_that_file_by_any_of_its_names(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "link.txt").symlink_to("a.txt")
    edit = ("edit_file", {"path": "a.txt", "edits": [{"old": "x\n", "new": "y\n"}]})
    linked = ("edit_file", {"path": "link.txt", "edits": [{"old": "y\n", "new": "z\n"}]})
    questions, held = await granted(tmp_path, write("a.txt"), edit, linked, write("b.txt"))
    assert len(questions) == 2
    assert (work / "a.txt").read_text() == "z\n"
    assert held == [{"kind": "change", "uri": uri_of(work / "a.txt")}]


async def test_a_granted_place_is_that_place(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a.txt", "b.txt"):
        (outside / name).write_text("x\n")
    first, second = (("read_file", {"path": str(outside / name)}) for name in ("a.txt", "b.txt"))
    questions, held = await granted(tmp_path, first, first, second)
    assert len(questions) == 2
    assert held == [{"kind": "read", "uri": uri_of(outside / "a.txt")}]


@pytest.mark.parametrize(
    "call",
    [write(".git/config"), write("AGENTS.md"), write("x.env"), ("read_file", {"path": ".env"})],
)
async def test_what_is_asked_about_each_time_is_never_granted(tmp_path: Path, call: Call) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".env").write_text("KEY=1\n")
    again = call if call[0] == "read_file" else write(call[1]["path"] + ".md")
    questions, held = await granted(tmp_path, call, again)
    assert held == []
    assert questions


async def test_what_another_layer_asks_about_is_asked_whatever_was_granted(tmp_path: Path) -> None:
    async def careful(_: Execution, __: Next[Execution, PreExecute]) -> PreExecute:
        return Ask("it is late")

    def late(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(careful)

    session = await play(tmp_path, run("git status"), plugins=[late])
    assert asked(session) == ["it is late"]
    (fact,) = [fact for fact in session.facts if isinstance(fact, ApprovalAsked)]
    assert fact.choices == ("allow", "reject")


async def test_what_another_layer_allows_is_asked_where_it_is_asked_each_time(
    tmp_path: Path,
) -> None:
    async def careless(_: Execution, __: Next[Execution, PreExecute]) -> PreExecute:
        return Allow()

    def easy(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(careless)

    session = await play(tmp_path, write("a.md"), write(".git/x"), plugins=[easy])
    (reason,) = asked(session)
    assert "version control" in reason


async def test_without_the_plugin_everything_is_asked_about_again(tmp_path: Path) -> None:
    async with driven(
        Scripted([say("", ("1", "run", {"line": "ls"})), say("done")]),
        tmp_path,
        tools=[shell(tmp_path)],
    ) as session:
        session.answer_approvals(allow=False)
        await session.say("go")
    assert asked(session) == ["commands are asked about first"]


@pytest.mark.parametrize("kind", ["allow", "deny", "reads", "writes"])
@pytest.mark.parametrize("text", ["", "  "])
def test_a_rule_that_says_nothing_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match="names no"):
        rules_of(**{kind: [text]})


def test_a_place_rule_leads_nowhere_else() -> None:
    with pytest.raises(ValueError, match="upwards"):
        rules_of(writes=["src/../.."])
    roots = Roots(cwd=Path("/w"), folders=(Path("/w"),))
    (rule,) = rules_of(reads=["/nowhere/*.h"]).reads
    assert rule.matches(Path("/nowhere/a.h"), roots.folders)
    assert not rule.matches(Path("/nowhere/x/a.h"), roots.folders)
    assert not rule.matches(Path("/elsewhere/a.h"), roots.folders)
