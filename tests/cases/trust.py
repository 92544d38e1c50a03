"""What a workspace may try: the cases H."""

import contextlib
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from cases.case import Case, Run, elsewhere
from plugins.test_approval import asked, play
from turnbuckle import config
from turnbuckle.plugins.approval import rules_of
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.write_file import WriteFile, write_file
from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.paths import Roots, uri_of
from turnbuckle.workspace.unseen import seen

# Any: what a case's file holds.
Json = dict[str, Any]

EXTENSION = Path(__file__).parents[2] / "vscode-client" / "package.json"

OF_LOOKS = {
    "turnbuckle.chat.sendKey",
    "turnbuckle.chat.showThinking",
    "turnbuckle.notifications",
    "turnbuckle.codeActions.enabled",
}
"""Settings that only say how something looks, which a workspace may say too."""


async def linked(case: Case, folder: Path) -> None:
    """A link out of the workspace is no way to write there."""
    (folder / "work").mkdir()
    (folder / "outside").mkdir()
    for name, text in case.data["outside"].items():
        (folder / "outside" / name).write_text(text)
    desk = Desk(folder / "work")
    for name, node in case.data["tree"].items():
        if "symlink" in node:
            (desk.folder / name).symlink_to(node["symlink"])
        else:
            (desk.folder / name).write_text(node["text"])
    outcomes = []
    for name, text in case.data["write"]:
        real = (desk.folder / name).resolve()
        if real.is_file():  # a model that read it before
            place = desk.workspace.roots.resolve(name)
            desk.digests[place.uri] = (await desk.texts.read(place)).digest
        try:
            asked_for = WriteFile(path=name, content=text)
            await desk.perform(await write_file().prepare(asked_for, desk.workspace))
            outcomes.append("ok")
        except ToolError as error:
            outcomes.append({"OUTSIDE": "outside_workspace"}[error.code])
    assert outcomes == case.data["expect"]["outcomes"]
    assert sorted(path.name for path in (folder / "outside").iterdir()) == [*case.data["outside"]]
    for name, text in case.data["outside"].items():
        assert (folder / "outside" / name).read_text() == text


async def settings(case: Case, folder: Path) -> None:
    """No file of a workspace sets anything, wherever it stands; the client's settings neither."""
    names = (
        ".turnbuckle.toml", "turnbuckle.toml", ".turnbuckle/config.toml", "config.toml",
        ".agent/config.json", ".vscode/settings.json", ".env", "pyproject.toml",
    )  # fmt: skip
    values = case.data["workspace"]
    for name in names:
        path = folder / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values | {"approvals": {"commands": {"allow": ["make"]}}}))
    (folder / "work" / ".env").write_text("TURNBUCKLE_BASE_URL=http://x.invalid\n")
    with contextlib.chdir(folder / "work"):
        found = config.read({"TURNBUCKLE_CONFIG": str(folder / "none.toml")})
    assert found.settings == config.Settings()
    # Where an editor has settings of its own for a workspace, ours are none of those.
    properties = json.loads(EXTENSION.read_text("utf-8"))["contributes"]["configuration"]
    said = {
        name: about.get("scope")
        for part in (properties if isinstance(properties, list) else [properties])
        for name, about in part["properties"].items()
    }
    for name, scope in said.items():
        assert scope in ("application", "machine") or name in OF_LOOKS, name


async def cloned(case: Case, folder: Path) -> None:
    """A folder that brings what other agents would run: nothing of it runs."""
    for name, text in case.data["tree"].items():
        path = folder / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    plugin = folder / "work" / ".turnbuckle" / "plugins" / "p.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("open('PWNED', 'w')")
    assert case.data["actions"] == ["initialize", "didOpen", "turn"]
    async with served(Scripted([say("fine")]), folder) as server:
        server.editor.open(uri_of(plugin), plugin.read_text())
        await server.turn(await server.open(), "go")
    for name in case.data["expect"]["absent"]:
        assert not [*folder.rglob(name)]
        assert not (Path.cwd() / name).exists()


async def places(case: Case, folder: Path) -> None:
    """Which files are asked about, whatever a rule allows."""
    reads, writes = case.data.get("allow_read", []), case.data.get("allow_write", [])
    rules = rules_of(reads=reads, writes=writes)
    wrong = []
    for number, (name, expected) in enumerate(case.data["rows"]):
        place = folder / str(number)
        path = place / "work" / name
        path.parent.mkdir(parents=True)
        call: tuple[str, Json] = ("write_file", {"path": name, "content": "x"})
        if reads:
            path.write_text("x")
            call = ("read_file", {"path": name})
        came = "ask" if asked(await play(place, call, rules=rules)) else "allow"
        if came != expected:
            wrong.append((name, expected, came))
    assert not wrong, wrong


async def invisible(case: Case, _: Path) -> None:
    """What nobody can see."""
    for text, shown in case.data["rows"]:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16")
        assert seen(whole).text == shown.encode("utf-16", "surrogatepass").decode("utf-16")
        assert bool(seen(whole).count) is (text != shown)


async def inside(case: Case, _: Path) -> None:
    """What lies in a folder, and what only begins like it."""
    root = Path(case.data["root"])
    roots = Roots(cwd=root, folders=(root,))
    for path, expected in case.data["rows"]:
        assert roots.resolve(path).inside is expected, path


async def swapped(_: Case, folder: Path) -> None:
    """A folder becomes a link between the look and the write."""
    found = importlib.import_module("workspace.test_files")
    name = "test_a_folder_swapped_for_a_link_while_files_are_written_leads_nowhere"
    if any(mark.args[0] for mark in getattr(getattr(found, name), "pytestmark", ())):
        pytest.skip("the system has no links that anybody may make")
    (folder / "work").mkdir()
    await getattr(found, name)(folder / "work")


RUN: dict[str, Run] = {
    "H01": linked,
    "H03": settings,
    "H04": cloned,
    "H06": elsewhere("tests/secrets/test_canaries.py"),
    "H08": places,
    "H10": invisible,
    "H12": places,
    "H13": inside,
    "H14": swapped,
}
