"""What is not asked about any more, as the person sets it."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from turnbuckle.config.table import Table
from turnbuckle.tools.commandrules import rule_of
from turnbuckle.workspace.placerules import place_rule


def _command_rule(text: str) -> str:
    rule_of(text)
    return text


def _place_rule(text: str) -> str:
    place_rule(text)
    return text


Commands: TypeAlias = tuple[Annotated[str, AfterValidator(_command_rule)], ...]
Places: TypeAlias = tuple[Annotated[str, AfterValidator(_place_rule)], ...]


class CommandRules(Table):
    """How commands begin that are never asked about: `git status` means `git status -s` too.

    A command line is taken apart as bash does it. Every part of it must be allowed, and lines with
    substitutions, redirections, variables or blocks are asked about. A program that can run
    anything (`python`, `npm`, `sudo`, `sh`) is allowed only by a rule that is all of the command.
    """

    allow: Commands = Field(
        default=(),
        strict=False,  # a list of the file or of JSON; what is in it stays strict
        json_schema_extra={"right": "a list of how commands begin, each in quotes"},
    )
    """What runs without a question."""
    deny: Commands = Field(
        default=(),
        strict=False,  # as above
        json_schema_extra={"right": "a list of how commands begin, each in quotes"},
    )
    """What never runs, wherever in a command line it stands; nobody is asked. It beats `allow`, and
    what several places set counts together."""


class PlaceRules(Table):
    """Places that are not asked about: folders with all that is in them, files, patterns.

    A relative one begins at each folder of the workspace, and a pattern without a slash, such as
    `*.md`, means names at any depth.
    """

    allow: Places = Field(
        default=(),
        strict=False,  # as above
        json_schema_extra={"right": "a list of folders, files and patterns, each in quotes"},
    )
    """The places."""


class ApprovalSettings(Table):
    """What is not asked about any more.

    Some things are asked about each time, whatever is allowed here: changes of files of version
    control, of editor settings, of what build servers run, of instructions for agents and of
    hooks, and whatever looks as if it held credentials.
    """

    commands: CommandRules = CommandRules()
    """Commands that run without a question, and commands that never run."""
    reads: PlaceRules = PlaceRules()
    """Places outside the workspace that may be read; inside, reading is not asked about."""
    writes: PlaceRules = PlaceRules()
    """Places in the workspace that may be changed."""


def joined(key: tuple[str, ...], below: object, value: object) -> object:
    """A setting over that of another place: what is forbidden in one stays forbidden."""
    match key, below, value:
        case ("approvals", "commands", "deny"), list(), list():
            return [*below, *value]
        case _:
            return value
