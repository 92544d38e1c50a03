"""The configuration to copy is what the files hold, and names only what there is."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from turnbuckle.lsp.names import COMMAND_NAMES

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "editors"
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
FILES = sorted(path for path in EXAMPLES.glob("**/*") if path.is_file() and path.suffix != ".lock")
COMMAND = re.compile(r"\bturnbuckle\.(?!el\b|vsix\b|sublime|settings\b|ui\.)[a-z]\w*")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_file_is_on_the_page(path: Path) -> None:
    name = path.relative_to(EXAMPLES).parts[0]
    assert f"examples/editors/{name}" in PAGE


@pytest.mark.parametrize(
    "name", ["languages.toml", "kate.json", "LSP.sublime-settings", "zed/extension.toml"]
)
def test_what_is_copied_from_the_page_is_what_the_file_holds(name: str) -> None:
    assert (EXAMPLES / name).read_text(encoding="utf-8").rstrip() in PAGE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_commands_that_there_are_are_named(path: Path) -> None:
    named = set(COMMAND.findall(path.read_text(encoding="utf-8")))
    assert named <= set(COMMAND_NAMES)


def test_the_page_names_all_commands_and_no_others() -> None:
    assert set(COMMAND.findall(PAGE)) == set(COMMAND_NAMES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_data_can_be_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".toml":
            assert tomllib.loads(text)
        case ".json" | ".sublime-settings" | ".sublime-commands":
            bare = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
            assert json.loads(bare)
        case _:
            assert "turnbuckle" in text
