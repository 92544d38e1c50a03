"""What went wrong in other agents, case by case, comes out right in this one."""

from pathlib import Path

import pytest

from cases import (
    approving,
    files,
    histories,
    panel,
    shells,
    stopping,
    streams,
    trust,
    wire,
)
from cases.case import DATA, Case, Run, load

SCRIPTED = {
    "B08": "two windows write the same session",
    "B16": "finished tool shown as lost after resume",
    "C24": "undo and restore",
    "D10": "time-out told to the model as a refusal",
    "D11": "answer after the time limit",
    "D13": "stop while a question is open",
    "D15": "'allow for this session' and the calls already waiting",
    "D18": "'do not ask again' ends the turn",
    "E03": "state stays 'running' after a stop",
    "E04": "stop, then send at once",
    "E10": "stop treated as a crash",
    "F04": "editor dies",
    "F13": "queue behind a blocking handler",
    "G13": "stopped before the process has started, or in the middle of the spawn",
    "H14": "folder swapped for a link between check and write",
    "I07": "draft lost",
    "I08": "draft of another chat",
    "I09": "view jumps while reading",
    "I11": "prompt stays after the answer",
}
"""Cases without data: their script stands in what runs them."""

ROOMS: tuple[dict[str, Run], ...] = (
    streams.RUN,
    histories.RUN,
    files.RUN,
    approving.RUN,
    stopping.RUN,
    wire.RUN,
    shells.RUN,
    trust.RUN,
    panel.RUN,
)
RUN = {name: run for room in ROOMS for name, run in room.items()}

DATA_CASES = {name: load(name) for name in sorted(path.stem for path in DATA.glob("*.json"))}
CASES: list[Case] = [
    *(Case(name, title, {}) for name, title in SCRIPTED.items()),
    *(Case(name, data["title"], data) for name, data in DATA_CASES.items()),
]


def test_there_are_111_cases_and_each_is_run_once() -> None:
    assert len(CASES) == len({case.id for case in CASES}) == 111
    assert sorted(RUN) == sorted(case.id for case in CASES)
    assert sum(len(room) for room in ROOMS) == len(RUN)


def name_of(case: Case) -> str:
    return case.id


IN_ORDER = sorted(CASES, key=name_of)


@pytest.mark.parametrize("case", IN_ORDER, ids=name_of)
async def test_case(case: Case, tmp_path: Path) -> None:
    await RUN[case.id](case, tmp_path)
