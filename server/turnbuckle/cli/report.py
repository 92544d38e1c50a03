"""What the doctor found, as lines for people and as JSON for scripts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from turnbuckle.cli.checkup import Checkup, Plugin
from turnbuckle.cli.lines import Line, Span, Style, line, seconds
from turnbuckle.cli.places import short
from turnbuckle.cli.visible import harmless
from turnbuckle.config import KNOWN
from turnbuckle.lsp.choosing import ModelEntry, ModelsResult
from turnbuckle.lsp.wire import Wire
from turnbuckle.session.parts import JsonObject

_SOURCES = {
    "configured": "configured",
    "key": "its key is there",
    "machine": "runs on this machine",
    "built-in": "offline and scripted",
    "listed": "offered",
}
_NAMES = 12  # names of models in a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one small request: seconds to the first text and to the end, or the problem.

    `kind` is that of the failure.
    """

    first: float | None = None
    total: float | None = None
    problem: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that is known; `models` is None where the server could not be asked, for `trouble`.

    `answer` is None where nothing was asked, `offered` what the provider of the model says that it
    has, where that may help.
    """

    checkup: Checkup
    models: ModelsResult | None = None
    answer: Answer | None = None
    offered: tuple[str, ...] = ()
    trouble: str | None = None

    @property
    def todo(self) -> tuple[str, ...]:
        """What is to be done, the first thing first."""
        return tuple(_todo(self))

    @property
    def current(self) -> ModelEntry | None:
        """The model that answers."""
        entries = self.models.models if self.models else ()
        return next((entry for entry in entries if entry.current), None)

    @property
    def ok(self) -> bool:
        """Whether nothing has to be done."""
        return not self.todo


def _todo(report: Report) -> Iterator[str]:
    checkup = report.checkup
    yield from checkup.faults
    if checkup.state_problem:
        yield checkup.state_problem
    yield from (f"Plugin {one.said}: {one.problem}" for one in checkup.plugins if one.problem)
    if report.trouble:
        yield report.trouble
    if checkup.faults:
        return
    if report.answer is not None and report.answer.problem is not None:
        yield report.answer.problem
        if report.offered:
            yield f"Its provider offers {_offered(report)}."
    elif report.current is not None and report.current.unavailable is not None:
        yield report.current.unavailable
    current = report.current
    if current is not None and current.source == "built-in" and not checkup.is_set("model.name"):
        variables = ", ".join(known.variable for known in KNOWN)
        yield (
            f"No real model is connected. Set the key of a provider ({variables}), or start "
            "Ollama, LM Studio or llama.cpp on this machine, or set TURNBUCKLE_BASE_URL and "
            "TURNBUCKLE_MODEL."
        )


def _offered(report: Report) -> str:
    name = report.current.name if report.current else ""
    close = get_close_matches(name, report.offered, n=3, cutoff=0.5)
    names = list(dict.fromkeys((*close, *report.offered)))
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(map(harmless, names[:_NAMES])) + more


# -- for people ----------------------------------------------------------------------------------


def checkup_lines(checkup: Checkup) -> Iterator[Line]:
    """What is configured, and where from."""
    yield line(f"turnbuckle {checkup.version}, Python {checkup.python}, {checkup.system}", "dim")
    yield from _head("configuration")
    there = "" if checkup.config_exists else " (not there; nothing has to be)"
    yield line(f"  {short(checkup.config_file)}{there}")
    set_here = [one for one in checkup.settings if one.source]
    width = max((len(one.name) for one in set_here), default=0)
    for one in set_here:
        row = f"  {one.name:<{width}} = {harmless(one.value)}"
        yield ((row, ""), (f"  from {one.source}", "dim"))
    for fault in checkup.faults:
        yield line(f"  ✗ {harmless(fault)}", "bad")
    for warning in checkup.warnings:
        yield line(f"  ! {harmless(warning)}", "warn")
    yield line("  what an editor sets in its initializationOptions is not seen here", "dim")
    yield from _plugins(checkup.plugins)
    yield from _head("keys")
    present = [one for one in checkup.keys if one.present]
    for variable in present:
        yield line(f"  {variable.name} is set, for {variable.title}; it is not shown")
    if not present:
        yield line("  none in the environment", "dim")
    yield from _head("state")
    if checkup.state_problem:
        yield line(f"  ✗ {harmless(checkup.state_problem)}", "bad")
    else:
        yield line(f"  {short(checkup.state)}")


def _plugins(plugins: Iterable[Plugin]) -> Iterator[Line]:
    for number, plugin in enumerate(plugins):
        if not number:
            yield from _head("plugins")
        mark: Span = ("  ✗", "bad") if plugin.problem else ("  ✓", "good")
        yield (mark, (f" {harmless(plugin.said)}", ""))


def models_lines(models: ModelsResult) -> Iterator[Line]:
    """Which models there are, and which one answers."""
    yield from _head("models")
    for entry in models.models[:_NAMES]:
        mark = "▸" if entry.current else " "
        where = "" if entry.source == "built-in" else f" at {harmless(entry.provider)}"
        how = entry.unavailable or _SOURCES[entry.source]
        style: Style = "bad" if entry.unavailable else "dim"
        yield ((f"  {mark} {harmless(entry.name)}{where}  ", ""), (harmless(how), style))
    if len(models.models) > _NAMES:
        yield line(f"    and {len(models.models) - _NAMES} more", "dim")
    for provider in models.providers:
        if provider.unavailable:
            yield line(f"    {provider.title}: {harmless(provider.unavailable)}", "dim")


def answer_lines(report: Report) -> Iterator[Line]:
    """How the model answered, and what is to be done."""
    if report.answer is not None:
        yield from _head("answer")
        yield _answered(report, report.answer)
    if report.trouble:
        yield line(f"  ✗ {harmless(report.trouble)}", "bad")
    yield line("")
    if report.ok:
        yield line("Nothing has to be done.", "good")
        return
    yield line("What to do", "strong")
    for number, what in enumerate(report.todo, 1):
        yield line(f"  {number}. {harmless(what)}")


def _answered(report: Report, answer: Answer) -> Line:
    name = harmless(report.current.name) if report.current else "the model"
    if answer.problem is not None:
        return line(f"  ✗ {name} did not answer", "bad")
    first = f"began to answer after {seconds(answer.first)}, " if answer.first is not None else ""
    return line(f"  ✓ {name} {first}was done after {seconds(answer.total or 0)}", "good")


def _head(text: str) -> tuple[Line, Line]:
    return line(""), line(text, "strong")


# -- for scripts ---------------------------------------------------------------------------------


def as_json(report: Report) -> JsonObject:
    """The whole report."""
    checkup, answer, models = report.checkup, report.answer, report.models
    return {
        "ok": report.ok,
        "version": checkup.version,
        "python": checkup.python,
        "system": checkup.system,
        "config": {
            "file": str(checkup.config_file),
            "exists": checkup.config_exists,
            "settings": [
                _bare(name=one.name, value=one.value, source=one.source) for one in checkup.settings
            ],
            "faults": list(checkup.faults),
            "warnings": list(checkup.warnings),
        },
        "plugins": [_bare(plugin=one.said, problem=one.problem) for one in checkup.plugins],
        "keys": [{"variable": one.name, "set": one.present} for one in checkup.keys],
        "state": _bare(folder=str(checkup.state), problem=checkup.state_problem),
        "models": _dumped(models.models if models else ()),
        "providers": _dumped(models.providers if models else ()),
        "answer": answer
        and _bare(
            firstText=answer.first, total=answer.total, problem=answer.problem, kind=answer.kind
        ),
        "todo": list(report.todo),
    }


def _bare(**values: object) -> JsonObject:
    return {name: value for name, value in values.items() if value is not None}


def _dumped(entries: Iterable[Wire]) -> list[JsonObject]:
    return [entry.model_dump(mode="json", by_alias=True, exclude_none=True) for entry in entries]
