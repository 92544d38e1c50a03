"""What can be typed in a chat beside messages: commands, each a word after a slash."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from turnbuckle.cli import choosing, queueing, sessioning
from turnbuckle.cli.lines import Line
from turnbuckle.cli.sitting import Sitting
from turnbuckle.cli.source import Typed

_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """A command, what may follow its name, and what it is for."""

    run: Callable[[Sitting, str], Awaitable[None]]
    words: str
    purpose: str


async def _help(sitting: Sitting, _: str) -> None:
    sitting.stage.screen.aside(help_lines())


COMMANDS = {
    "help": Command(_help, "", "this"),
    "queue": Command(queueing.queue, "", "the messages that wait, with their numbers"),
    "edit": Command(queueing.edit, "NUMBER [TEXT]", "change a message that waits"),
    "drop": Command(queueing.drop, "NUMBER", "take out a message that waits"),
    "steer": Command(queueing.steer, "TEXT", "tell the agent something in the turn that runs"),
    "cancel": Command(
        queueing.cancel, "[keep]", "cancel the turn that runs; what waits too, unless keep"
    ),
    "continue": Command(queueing.go_on, "", "go on with a turn that was cut off"),
    "sessions": Command(sessioning.sessions, "[WORDS]", "find a session and go on in it"),
    "resume": Command(sessioning.resume, "[ID]", "go on in another session"),
    "new": Command(sessioning.new, "", "begin a new session"),
    "fork": Command(sessioning.fork, "[TURN]", "go on after that turn in a session of its own"),
    "rewind": Command(
        sessioning.rewind, "[TURN] [files] | undo", "go back to before that turn, with its files"
    ),
    "compact": Command(sessioning.compact, "", "sum up the older part for the model"),
    "model": Command(choosing.model, "[NAME]", "show the models, or choose one"),
    "grants": Command(
        choosing.grants, "[revoke NUMBER]", "what is allowed for the session without a question"
    ),
    "export": Command(sessioning.export, "[FILE]", "write the session to a file, .md or .json"),
    "exit": Command(queueing.leave, "", "leave; Ctrl-D does too"),
}
"""Every command by its name."""

KEYS = (
    ("Enter", "sends; while a turn runs the message waits for its end"),
    ("Ctrl-S", "sends it into the turn that runs, as /steer does"),
    ("Alt-Enter, or \\ Enter", "begins another line"),
    ("Up, Down", "what was typed before"),
    ("Ctrl-C", "cancels the turn, or clears the prompt; twice leaves"),
)
"""What the keys do, for people."""


async def heed(sitting: Sitting, typed: Typed) -> None:
    """Do what was typed: a command, or else a message for the agent."""
    text = typed.text.strip()
    if not text:
        return
    if (found := _COMMAND.fullmatch(text)) is None:
        await sitting.send(typed.text, "steer" if typed.steer else "queue")
        return
    name = "exit" if found[1] == "quit" else found[1]
    if (command := COMMANDS.get(name)) is None:
        sitting.say(f"there is no command /{name}; /help lists them", "warn")
        sitting.source.put_back(typed.text)
        return
    await command.run(sitting, (found[2] or "").strip())


def completed(text: str) -> str:
    """What may follow the beginning of a command, as far as there is no choice."""
    if not text.startswith("/"):
        return ""
    names = [name for name in COMMANDS if name.startswith(text[1:])]
    if not names:
        return ""
    common = names[0]
    while not all(name.startswith(common) for name in names):
        common = common[:-1]
    return common[len(text) - 1 :] + (" " if len(names) == 1 else "")


def help_lines() -> list[Line]:
    """The commands and the keys."""
    rows: list[Line] = []
    for name, command in COMMANDS.items():
        usage = f"/{name} {command.words}".rstrip()
        rows.append(((f"  {usage:<32}", "you"), (command.purpose, "dim")))
    rows += [((f"  {key:<32}", "strong"), (what, "dim")) for key, what in KEYS]
    return rows
