"""`turnbuckle grants`: what is allowed without a question is listed and can be taken back."""

from pathlib import Path

import anyio
import pytest
from typer.testing import CliRunner, Result

from turnbuckle.cli.commands import app
from turnbuckle.plugins import approval
from turnbuckle.session.events import ApprovalAsked, TurnEnd
from turnbuckle.session.reading import session_files
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.tools.subject import Command
from turnbuckle.tools.tool import Go
from turnbuckle.workspace.paths import uri_of


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNBUCKLE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("TURNBUCKLE_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "state"


async def talk(state: Path, line: str = "make all") -> tuple[str, str]:
    """Have a session in which a command was granted; its id and that of the grant."""

    async def body(_arguments: object, _: Go) -> str:
        return "made"

    subject = Command(command=line, cwd=uri_of(state.parent / "work"), timeout=1)
    act = tool("act", body, subject=subject)
    async with driven(
        Scripted([say("", ("1", "act", {})), say("done")]), state.parent, tools=[act],
        plugins=[approval.install],
    ) as session:  # fmt: skip
        session.send("go")
        fact = await session.until(ApprovalAsked)
        assert isinstance(fact, ApprovalAsked)
        approvals = session.opened.agent.approvals
        approvals.decide(fact.approval_id, allow=True, by="test", remember="session")
        await session.until(TurnEnd)
        await session.opened.session.flush()
        return session.opened.session.id, approvals.grants[0].grant_id


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_grants_are_listed_by_session(state: Path) -> None:
    session_id, grant_id = anyio.run(talk, state)
    done = run("grants", "list")
    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert first == session_id
    assert f"{grant_id}  run make all  in " in second
    assert run("grants", "list", session_id[:15]).stdout == done.stdout
    assert "nothing is allowed" in run("grants", "list", "zzzz").stdout


@pytest.mark.usefixtures("state")
def test_where_nothing_is_granted_the_list_says_so() -> None:
    done = run("grants", "list")
    assert (done.exit_code, done.stdout) == (0, "nothing is allowed without a question\n")


def test_what_a_grant_is_good_for_hides_nothing(state: Path) -> None:
    anyio.run(talk, state, "make \x1b[2K\u202ex")
    said = run("grants", "list").stdout
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_file_that_is_no_session_is_passed_over(state: Path) -> None:
    session_id, _ = anyio.run(talk, state)
    bad = session_files(state)[0].with_name("20200101-000000-00000000.jsonl")
    bad.write_bytes(b'\xff "grant/added"\n')
    assert run("grants", "list").stdout.splitlines()[0] == session_id


def test_a_grant_is_taken_back_once(state: Path) -> None:
    session_id, grant_id = anyio.run(talk, state)
    assert "no such grant" in run("grants", "revoke", session_id, "nonsense").stdout
    done = run("grants", "revoke", session_id, grant_id)
    assert (done.exit_code, done.stdout) == (0, "it is asked about again\n")
    again = run("grants", "revoke", session_id, grant_id)
    assert (again.exit_code, "no such grant" in again.stdout) == (1, True)
    assert "nothing is allowed" in run("grants", "list").stdout


@pytest.mark.usefixtures("state")
def test_a_session_that_is_not_there_is_named() -> None:
    done = run("grants", "revoke", "20200101-000000-00000000", "x")
    assert done.exit_code == 2
    assert "there is no session" in done.output
