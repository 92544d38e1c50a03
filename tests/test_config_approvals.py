"""What the person allows and forbids, as it stands in the configuration."""

from pathlib import Path

import pytest

from turnbuckle import config
from turnbuckle.config import ConfigError, Settings


def read(folder: Path, text: str, options: object = None) -> Settings:
    file = folder / "config.toml"
    file.write_text(text)
    return config.read({"TURNBUCKLE_CONFIG": str(file)}, options).settings


def test_rules_are_lists_of_text(tmp_path: Path) -> None:
    approvals = read(
        tmp_path,
        """
        [approvals.commands]
        allow = ["git status", "npm test"]
        deny = ["rm"]
        [approvals.reads]
        allow = ["~/notes"]
        [approvals.writes]
        allow = ["src", "*.md"]
        """,
    ).approvals
    assert approvals.commands.allow == ("git status", "npm test")
    assert approvals.commands.deny == ("rm",)
    assert (approvals.reads.allow, approvals.writes.allow) == (("~/notes",), ("src", "*.md"))


def test_without_rules_nothing_is_allowed_and_nothing_forbidden(tmp_path: Path) -> None:
    assert read(tmp_path, "").approvals.model_dump() == {
        "commands": {"allow": (), "deny": ()}, "reads": {"allow": ()}, "writes": {"allow": ()},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[approvals.commands]\nallow = ['']", "approvals.commands.allow.0: must be a list of how"),
        (
            "[approvals.commands]\nallow = ['ls', \"'\"]",
            "approvals.commands.allow.1: must be a list",
        ),
        ("[approvals.commands]\nallow = 'ls'", "approvals.commands.allow: must be a list of how"),
        ("[approvals.commands]\ndeny = [3]", "approvals.commands.deny.0: must be a list of how"),
        (
            "[approvals.reads]\nallow = ['a/../..']",
            "approvals.reads.allow.0: must be a list of folders",
        ),
        ("[approvals.writes]\ndeny = ['a']", "approvals.writes.deny: there is no such setting"),
        ("[approvals]\ncommand = 1", "did you mean"),
    ],
)
def test_what_is_no_rule_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_what_is_forbidden_in_one_place_stays_forbidden(tmp_path: Path) -> None:
    options = {"settings": {"approvals": {"commands": {"deny": ["curl"], "allow": ["ls"]}}}}
    text = "[approvals.commands]\ndeny = ['rm']\nallow = ['make']"
    commands = read(tmp_path, text, options).approvals.commands
    assert commands.deny == ("rm", "curl")
    assert commands.allow == ("ls",)
