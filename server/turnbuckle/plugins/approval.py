"""What is not asked about any more: what the person granted, and what the person's rules say."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from anyio import to_thread

from turnbuckle.agent.grants import Grants, covers
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.tools.caution import Caution, only_text, paths_of, real_path
from turnbuckle.tools.commandline import Words, simple_commands
from turnbuckle.tools.commandrules import Rule, Unclear, allowed_commands, forbidding, rule_of
from turnbuckle.tools.hooks import Allow, Ask, Deny, Execution, Guard, PreExecute
from turnbuckle.tools.judging import innermost
from turnbuckle.tools.straying import strays
from turnbuckle.tools.subject import Change, Command, Read, Subject
from turnbuckle.tools.sweeping import secret_in, swept
from turnbuckle.tools.words import Word
from turnbuckle.workspace.paths import path_of
from turnbuckle.workspace.placerules import PlaceRule, place_rule
from turnbuckle.workspace.process import find_shell
from turnbuckle.workspace.secretive import FOLDERS, NAMES

_SECRETS = tuple(name.replace("*", "x") for name in NAMES)
_EXAMPLES = (*_SECRETS, *(folder.split("/")[-1] for folder in FOLDERS), ".git")
"""What a pattern in a command must not reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The person's rules, read once.

    `allow` and `deny` say how commands begin, `reads` and `writes` are places.
    """

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    reads: tuple[PlaceRule, ...] = ()
    writes: tuple[PlaceRule, ...] = ()


def rules_of(
    *,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
) -> Rules:
    """Read rules as they stand in the configuration.

    Raises:
        ValueError: one says nothing that can be held against a subject.
    """
    return Rules(
        allow=tuple(map(rule_of, allow)),
        deny=tuple(map(rule_of, deny)),
        reads=tuple(map(place_rule, reads)),
        writes=tuple(map(place_rule, writes)),
    )


def install(
    ctx: PluginContext, *, rules: Rules | None = None, own: Sequence[Path] = (), shell: str = ""
) -> None:
    """Answer by grants and rules what would be asked, and ask about some things each time.

    `own` are our own files and folders. `shell` is the name of what reads command lines; where it
    is not like bash, no rule allows a command. What another layer asks about is always asked.
    """
    held = rules or Rules()
    like_bash = (shell or find_shell().name) in ("bash", "sh")
    grants = Grants()

    async def judge(execution: Execution, next_layer: Next[Execution, PreExecute]) -> PreExecute:
        decision = await next_layer(execution)
        subject, caution = execution.prepared.subject, Caution(ctx.workspace.folders, own)
        if isinstance(decision, Deny):
            return decision
        if reason := caution.reason(subject):
            return Ask(f"{reason}, which is asked about each time")
        if decision != await innermost(execution):
            return decision
        if covers(grants.follow(ctx.session.facts), subject, caution):
            return Allow()
        if not _by_rule(subject, held, caution, like_bash=like_bash):
            return decision
        if isinstance(subject, Command) and (why := await to_thread.run_sync(_swept, subject)):
            return Ask(f"it reads a whole folder, and {why}, which is asked about each time")
        return Allow()

    ctx.hooks.pre_execute.use(judge)
    ctx.hooks.guard(_guard(held.deny, like_bash=like_bash))


def _guard(rules: Sequence[Rule], *, like_bash: bool) -> Guard:
    def forbid(execution: Execution) -> Deny | None:
        subject = execution.prepared.subject
        if not isinstance(subject, Command):
            return None
        try:
            found = forbidding(subject.command, rules, grammar=like_bash)
        except Unclear as error:
            return Deny(str(error))
        return Deny(f"the person's rule {found.text!r} forbids this command") if found else None

    return forbid


def _by_rule(subject: Subject, rules: Rules, caution: Caution, *, like_bash: bool) -> bool:
    """Whether a rule allows all of a subject."""
    match subject:
        case Command(command=command, cwd=cwd) if like_bash:
            commands = allowed_commands(command, rules.allow)
            return commands is not None and not _touches(commands, path_of(cwd), caution)
        case Read(places=places):
            return all(
                place.inside or _matches(rules.reads, place.path, caution) for place in places
            )
        case Change(files=files) if only_text(subject):
            paths = [path for file in files for path in paths_of(file)]
            real = [[*paths_of(file)][-1] for file in files]
            return None not in paths and all(
                _matches(rules.writes, path, caution) for path in real if path
            )
        case _:
            return False


def _matches(rules: Sequence[PlaceRule], path: Path, caution: Caution) -> bool:
    return any(rule.matches(path, caution.folders) for rule in rules)


def _swept(subject: Command) -> str | None:
    """Why a command that reads all files of a folder is asked about; looks at the disk."""
    cwd, commands = path_of(subject.cwd), simple_commands(subject.command)
    folders = swept(commands, cwd) if commands and cwd else {}
    found = (secret_in(folder, hidden=hidden) for folder, hidden in folders.items())
    return next(filter(None, found), None)


def _touches(commands: Sequence[Words], cwd: Path | None, caution: Caution) -> bool:
    """Whether a command names a file that is asked about each time, or obeys one there."""
    if cwd is None or strays(commands, cwd):
        return True
    return any(_is_touchy(word, cwd, caution) for words in commands for word in words[1:])


def _is_touchy(word: Word, cwd: Path, caution: Caution) -> bool:
    # The value of an option may follow its letter at once.
    behind = word.text[2:] if word.text.startswith("-") else ""
    for piece in (*re.split(r"[=:,@\s]+", word.text), behind):
        name = piece.rstrip("/").rpartition("/")[2].casefold()
        if not name:
            continue
        if not word.literal and any(fnmatchcase(example, name) for example in _EXAMPLES):
            return True
        path = Path(cwd, piece)
        # A harmless name may be a link to what is asked about.
        if any(caution.of_path(one) is not None for one in (path, real_path(path))):
            return True
    return False
