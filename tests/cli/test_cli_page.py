"""The page on the terminal client knows all that can be typed."""

from pathlib import Path

from turnbuckle.cli.commands import app
from turnbuckle.cli.slash import COMMANDS, KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_every_command_of_a_chat_is_on_the_page_as_help_shows_it() -> None:
    for name, command in COMMANDS.items():
        usage = f"/{name} {command.words}".rstrip().replace("|", "\\|")
        assert f"| `{usage}` |" in PAGE
    for key, _ in KEYS:
        assert key.partition(",")[0] in PAGE


def test_every_command_of_the_shell_is_on_the_page() -> None:
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    names = [
        f"{command.callback.__name__}" for command in app.registered_commands if command.callback
    ]
    for group, inner in groups.items():
        assert inner is not None
        for command in inner.registered_commands:
            assert command.callback is not None
            names.append(f"{group} {command.name or command.callback.__name__}")
    assert len(names) > 8
    for name in names:
        assert f"`turnbuckle {name}" in PAGE, name
