"""What the page on plugins shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from turnbuckle.config.plugins import Wanted, load_plugin
from turnbuckle.kernel.scope import Scope
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go, ToolError

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
PLUGINS = [name for name, code in BLOCKS.items() if "\ndef install(" in code]


async def run(folder: Path, name: str, *replies: Step, prompt: str = "go") -> tuple[str, list[str]]:
    """The transcript of a turn with a plugin of the page, and the notes that were shown."""
    path = folder / name
    folder.mkdir(exist_ok=True)
    path.write_text(BLOCKS[name], encoding="utf-8")
    source = load_plugin(Wanted(name, path.stem, path))
    notes: list[str] = []

    async def missing(_arguments: JsonObject, _go: Go) -> str:
        raise ToolError("NOT_FOUND", "nothing there")

    async def make(_arguments: JsonObject, _go: Go) -> str:
        return "made \n\n"

    tools = [
        tool("missing", missing, mode="exclusive"),
        tool("make", make, subject=COMMAND, mode="exclusive"),
    ]
    model = Scripted(replies)
    async with driven(model, folder, tools=tools, plugins=[(path.stem, source.install)]) as session:
        session.answer_approvals(allow=True)
        session.opened.session.observe_notes(
            Scope("test"), lambda type_, data: notes.append(f"{type_} {data.get('text')}")
        )
        await session.say(prompt)
        assert session.failures == []
        await session.plugins.exchange([])
    source.forget()
    return transcript(session.entries), notes


def test_every_block_of_code_is_run_here() -> None:
    assert PAGE.count("```python") == len(BLOCKS) == 4
    assert PLUGINS == ["sorry.py", "hooks_tour.py", "dice.py"]


async def test_the_first_plugin_says_sorry(tmp_path: Path) -> None:
    _, notes = await run(tmp_path, "sorry.py", say("", ("1", "missing", {})), say("done"))
    assert "status sorry: <tool error: nothing there>" in notes


def test_the_first_plugin_is_short() -> None:
    code = BLOCKS["sorry.py"].partition('"""\n')[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


async def test_each_hook_of_the_tour_does_what_it_says(tmp_path: Path) -> None:
    said, _ = await run(
        tmp_path,
        "hooks_tour.py",
        say("", ("1", "missing", {}), ("2", "make", {}), ("3", "make", {"what": "deploy"})),
        say("that is all"),
        say("I did little"),
    )
    assert (
        said
        == """\
user      go
  call    1 missing()
  result  1 NOT_FOUND <tool error: nothing there>
  call    2 make()
  asked   2 command: it is a command
  decided allowed by test
  result  2 made
  call    3 make(what='deploy')
  result  3 DENIED <tool error: not on a Friday>
context   Look before you guess.
assistant that is all
plugin    Say in one line what you did.
assistant I did little
end       completed
"""
    )
    said, _ = await run(tmp_path / "again", "hooks_tour.py", prompt="GO NOW")
    assert said.endswith("end       blocked (please do not shout)\n")


async def test_the_die_is_thrown(tmp_path: Path) -> None:
    said, _ = await run(tmp_path, "dice.py", say("", ("1", "dice", {"sides": 2})), say("done"))
    assert re.search(r"result  1 [12]\n", said)


def test_the_test_of_the_page_passes(tmp_path: Path) -> None:
    for name in ("dice.py", "test_dice.py"):
        (tmp_path / name).write_text(BLOCKS[name], encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_dice.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", PAGE))
def test_what_the_page_points_at_is_there(link: str) -> None:
    assert (Path(__file__).parents[2] / "docs" / link).exists()
