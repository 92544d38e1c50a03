"""One way to spawn: own group, no input, bounded output, ended on every path."""

from turnbuckle.workspace.process.environment import (
    Shell,
    child_environment,
    find_shell,
    inherited,
)
from turnbuckle.workspace.process.live import Show
from turnbuckle.workspace.process.output import Kept, Output
from turnbuckle.workspace.process.plain import plain_text
from turnbuckle.workspace.process.programs import find_program
from turnbuckle.workspace.process.run import Finished, NotStarted, run, run_argv

__all__ = [
    "Finished",
    "Kept",
    "NotStarted",
    "Output",
    "Shell",
    "Show",
    "child_environment",
    "find_program",
    "find_shell",
    "inherited",
    "plain_text",
    "run",
    "run_argv",
]
