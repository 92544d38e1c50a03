"""One report of what went wrong in an agent: its data, and what runs it here."""

import importlib
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent
DATA = TESTS / "data" / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    """A report; `data` is its file, empty where its script stands in the test."""

    id: str
    title: str
    data: dict[str, Any]  # Any: each kind of case has its own shape


Run = Callable[[Case, Path], Awaitable[None]]
"""What plays a case in an empty folder, and fails where the outcome is not the right one."""


def load(name: str) -> dict[str, Any]:
    """The data of a case."""
    loaded: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return loaded


def elsewhere(place: str) -> Run:
    """A case that another test plays: a file from the project's root, which names the case."""

    async def run(case: Case, _: Path) -> None:
        text = (TESTS.parent / place).read_text("utf-8")
        assert f"{case.id} " in text, f"{place} does not play {case.id}"

    return run


def same_as(module: str, *tests: str | tuple[str, Mapping[str, object]]) -> Run:
    """A case that tests of a feature play: they are run once more, under the case's name.

    A test with parameters is named with their values.
    """

    async def run(_: Case, folder: Path) -> None:
        found = importlib.import_module(module)
        for number, test in enumerate(tests):
            name, values = (test, {}) if isinstance(test, str) else test
            place = folder / str(number)
            place.mkdir()
            play = getattr(found, name)
            if "tmp_path" in inspect.signature(play).parameters:
                values = {"tmp_path": place, **values}
            played = play(**values)
            if inspect.isawaitable(played):
                await played

    return run
