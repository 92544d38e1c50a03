"""Rules for commands: what the person always allows or never, by how a simple command begins."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from re import fullmatch

from turnbuckle.tools.commandline import (
    LONGEST,
    REACH,
    Words,
    every_command,
    loose_commands,
    simple_commands,
)
from turnbuckle.tools.options import does_more, values
from turnbuckle.tools.programs import (
    EVALUATORS,
    LAUNCHERS,
    LAUNCHES_AFTER,
    PLAIN_WRAPPERS,
    RUNS_ANYTHING,
    SHELLS,
    kind,
    program,
)
from turnbuckle.tools.words import Word

_DEEPEST, _MOST = 6, 500
"""How deep lines in lines are followed, and how many of them."""


class Unclear(Exception):
    """A line is too long or too nested to say what it runs."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a command begins: `git status`. `text` is the rule as the person wrote it."""

    text: str
    words: tuple[str, ...]


def rule_of(text: str) -> Rule:
    """Read a rule; quotes are taken away as in a shell.

    Raises:
        ValueError: it names no command.
    """
    words = tuple(shlex.split(text))
    if not words or not words[0]:
        raise ValueError("it names no command")
    return Rule(text, words)


def allowed_commands(line: str, rules: Sequence[Rule]) -> tuple[Words, ...] | None:
    """The simple commands of a line, if each of them is allowed by a rule; else None."""
    commands = simple_commands(line) if rules else None
    if commands and all(_is_allowed(words, rules) for words in commands):
        return commands
    return None


def _is_allowed(words: Words, rules: Sequence[Rule]) -> bool:
    """Whether a rule allows a command, or one its wrapper and others what that runs."""
    if any(_allows(rule, words) for rule in rules):
        return True
    inner = words[_wrapper(words) :]
    return len(inner) < len(words) and all(
        _is_allowed(part, rules) for part in (words[:1], inner) if part
    )


def _wrapper(words: Words) -> int:
    """How many words stand before what a wrapper runs; 0 where that is not plain to see."""
    wanted = PLAIN_WRAPPERS.get(words[0].text)
    if wanted is None or len(words) < len(wanted) + 2:
        return 0
    plain = zip(wanted, words[1:], strict=False)
    if not all(word.literal and fullmatch(pattern, word.text) for pattern, word in plain):
        return 0
    first = words[len(wanted) + 1]
    return len(wanted) + 1 if first.literal and not first.text.startswith("-") else 0


def _allows(rule: Rule, words: Words) -> bool:
    """Whether a command begins as the rule; one that may do anything has to be all of it."""
    head = words[: len(rule.words)]
    if tuple(word.text for word in head) != rule.words or not all(w.literal for w in head):
        return False
    name = kind(words[0].text)
    told_to_run = any(word.text in LAUNCHES_AFTER.get(name, ()) for word in words[1:])
    anything = name in RUNS_ANYTHING or told_to_run or does_more(name, words, len(rule.words))
    return len(words) == len(rule.words) or not anything


def forbidding(line: str, rules: Sequence[Rule], *, grammar: bool = True) -> Rule | None:
    """The first rule that forbids something in a line, wherever in it that stands.

    Without `grammar` the line is for a shell that is not like bash.

    Raises:
        Unclear: there is more in it than can be looked at.
    """
    if not rules:
        return None
    if len(line.encode("utf-8", "replace")) > LONGEST:
        raise Unclear("the command line is too long to be held against the rules that deny")
    if not grammar and (found := _first(rules, loose_commands(line))):
        return found
    return _first(rules, _reachable(line))


def _first(rules: Sequence[Rule], commands: Iterable[Words]) -> Rule | None:
    for words in commands:
        for rule in rules:
            if _forbids(rule, words):
                return rule
    return None


def _reachable(line: str) -> Iterator[Words]:
    """Every command of a line, and what those run that run others."""
    waiting, seen = [(line, 0)], {line}
    while waiting:
        text, depth = waiting.pop()
        if depth > _DEEPEST or len(seen) > _MOST:
            raise Unclear("the command line is too nested to be held against the rules that deny")
        found = every_command(text)
        # What a shell is given as its input is a line too, wherever it comes from.
        fed = any(_is_shell(words) for words in found.commands)
        inner = list(found.texts) if fed else []
        yield from found.loose
        for words in found.commands:
            yield words
            starts = _starts(words, fed=fed)
            yield from (words[start : start + REACH] for start in starts)
            inner += [words[start].text for start in starts]
            given = [*values(kind(words[0].text), words), *_indexes(words)]
            yield from (tuple(Word(one, literal=True) for one in text.split()) for text in given)
            inner += given
        for one in (*found.lines, *_lines_of(inner)):
            if one not in seen:
                seen.add(one)
                waiting.append((one, depth + 1))


def _is_shell(words: Words) -> bool:
    return any(kind(words[n].text) in SHELLS for n in (0, *_starts(words, fed=False)))


def _starts(words: Words, *, fed: bool) -> range:
    """Where in a command another one may begin."""
    name = kind(words[0].text)
    if fed or name in SHELLS or name in LAUNCHERS or not words[0].literal:
        return range(1, len(words))
    after = LAUNCHES_AFTER.get(name, ())
    first = next((n for n, word in enumerate(words[1:], 2) if word.text in after), len(words))
    return range(first, len(words))


def _indexes(words: Words) -> list[str]:
    """The names of variables in a command that takes them, where more than a name may stand."""
    if kind(words[0].text) not in EVALUATORS:
        return []
    return [word.text for word in words[1:] if "[" in word.text]


def _lines_of(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for part in (text, text.partition("=")[2]):
            if part and not part.isalnum():
                yield part


def _forbids(rule: Rule, words: Words) -> bool:
    """Whether a command is one that the rule means, with whatever options between its words."""
    if not _is_program(words, program(rule.words[0])):
        return False
    given = [word.text for word in words[1:]]
    options = [word for word in rule.words[1:] if _is_option(word)]
    return all(_has_option(given, option) for option in options) and _in_order(
        [word for word in rule.words[1:] if not _is_option(word)], given
    )


def _is_program(words: Words, name: str) -> bool:
    if words[0].literal:
        return program(words[0].text) == name
    pattern = program(words[0].text)
    return any(c.isalnum() for c in pattern) and fnmatchcase(name, pattern)


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _has_option(given: Sequence[str], option: str) -> bool:
    if option.startswith("--"):
        return any(word == option or word.startswith(f"{option}=") for word in given)
    short = {c for word in given if _is_option(word) and word[1] != "-" for c in word[1:]}
    return option in given or set(option[1:]) <= short


def _in_order(wanted: Sequence[str], given: Sequence[str]) -> bool:
    """Whether the words come first, with nothing but options and their values between them."""
    left, after_option = list(wanted), False
    for word in given:
        if not left:
            return True
        if word == left[0]:
            left.pop(0)
            after_option = False
        elif _is_option(word):
            after_option = "=" not in word
        elif not after_option:
            return False
        else:
            after_option = False
    return not left
