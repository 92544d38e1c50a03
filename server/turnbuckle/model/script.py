"""The script of the demo model: what it does next, from what really happened so far."""

import re
import sys
from dataclasses import dataclass

from turnbuckle.model.scene import Done, Scene
from turnbuckle.session.parts import JsonObject

CONNECT = (
    "To connect a real one, set TURNBUCKLE_BASE_URL (an OpenAI-compatible endpoint such as "
    "https://host/v1), TURNBUCKLE_API_KEY and TURNBUCKLE_MODEL, and start again."
)
RUN_TESTS = "python -m unittest" if sys.platform == "win32" else "python3 -m unittest"

_BROKEN_FILE = "pricing/discounts.py"
_TEST_FILE = "tests/test_pricing.py"
_BROKEN, _FIXED = "quantity > WHOLESALE_FROM", "quantity >= WHOLESALE_FROM"
_FIX = re.compile(r"\b(fix|repair|fail|bug|test)", re.IGNORECASE)
_SMALL = re.compile(
    r"readme|\.(md|txt|rst|toml|cfg|ini|py|js|ts|go|rs|c|h|java|rb)$", re.IGNORECASE
)
_LIST: tuple[str, JsonObject] = ("list_files", {})
_PLAN = ("Read the code", "See the test fail", "Fix the bug", "See the tests pass")


@dataclass(frozen=True, slots=True)
class Move:
    """One answer of the script: what it says, and the tools it calls with which arguments."""

    text: str
    calls: tuple[tuple[str, JsonObject], ...] = ()


def next_move(scene: Scene) -> Move:
    """What the script does next."""
    return _fix(scene) if _FIX.search(scene.wishes) else _tour(scene)


# -- fixing the failing test ---------------------------------------------------------------------


def _fix(scene: Scene) -> Move:
    """The next step of the fix: look, see it fail, fix it, see it pass."""
    if not scene.can("list_files", "read_file", "run_command", "edit_file"):
        return Move(f"I would need tools that are not offered to me here. {CONNECT}")
    if not scene.done("list_files"):
        again = "I look at the code as it is now." if scene.earlier else "Let me see what is here."
        return Move(again, (_LIST,))
    if not {_BROKEN_FILE, _TEST_FILE}.issubset(scene.files):
        return _tour(scene)
    if not scene.done("read_file"):
        reads = [("read_file", {"path": path}) for path in _interesting(scene.files)]
        return Move(
            "A small package with tests. I read the code and the tests together.",
            (*_plan(scene, 0), *reads),
        )
    runs = scene.done("run_command")
    if not runs:
        run = ("run_command", {"command": RUN_TESTS})
        return Move("Now I run the tests.", (*_plan(scene, 1), run))
    trouble = _trouble(runs[-1])
    if trouble:
        changed = any(edit.ok for edit in scene.done("edit_file"))
        stands = "my change stands, but it is not tested" if changed else "I changed nothing"
        return Move(f"{trouble}\n\nI stop here: {stands}.")
    return _after_edit(scene, runs) if scene.done("edit_file") else _after_first_run(scene, runs[0])


def _after_first_run(scene: Scene, run: Done) -> Move:
    if _passed(run):
        return Move(f"All tests pass ({_ran(run)}). There is nothing to fix, so I changed nothing.")
    name = re.search(r"^(?:FAIL|ERROR): (\w+)", run.result.content, re.MULTILINE)
    failing = f"`{name[1]}` fails" if name else "A test fails"
    code = scene.read(_BROKEN_FILE)
    if code is None:
        return Move(f"{failing}, and I could not read `{_BROKEN_FILE}`. I changed nothing.")
    if _BROKEN not in code:
        return Move(
            f"{failing}, but not because of the one bug that I know: my script ends here. "
            f"I changed nothing. {CONNECT}"
        )
    edit = {"old": f"if {_BROKEN}:", "new": f"if {_FIXED}:"}
    return Move(
        f"{failing}. The discount should begin *at* ten pieces, but `{_BROKEN}` leaves ten out. "
        f"I propose one change in `{_BROKEN_FILE}`.",
        (_todo(2), ("edit_file", {"path": _BROKEN_FILE, "edits": [edit]})),
    )


def _after_edit(scene: Scene, runs: list[Done]) -> Move:
    edit = scene.done("edit_file")[-1]
    if not edit.ok:
        return Move(
            f"The change was not made: {_head(edit)}\n\nSo the test still fails. I stop here."
        )
    if scene.all_done.index(runs[-1]) < scene.all_done.index(edit):
        text = "I run the tests again."
        return Move(text, (_todo(3), ("run_command", {"command": RUN_TESTS})))
    if not _passed(runs[-1]):
        return Move(
            "The tests still do not pass, so the change was not enough, or only a part of it was "
            f"made. My script ends here. {CONNECT}"
        )
    if scene.all_done[-1].name != "todo_write" and scene.can("todo_write"):
        return Move("They pass.", (_todo(4),))
    return Move(
        f"Done. `{_BROKEN_FILE}` compared with `>` where it should be `>=`, so ten pieces got no "
        f"discount. I changed that one line; now all tests pass ({_ran(runs[-1])})."
    )


def _interesting(files: list[str]) -> list[str]:
    """The files of the package and its tests, without those that say nothing."""
    found = [f for f in files if f.endswith(".py") and not f.endswith("__init__.py")]
    return sorted(found, key=lambda f: f not in (_BROKEN_FILE, _TEST_FILE))[:4]


def _plan(scene: Scene, active: int) -> tuple[tuple[str, JsonObject], ...]:
    """The list, but not where an earlier turn may have done it all."""
    return () if scene.earlier else (_todo(active),)


def _todo(active: int) -> tuple[str, JsonObject]:
    """The list, with what comes before `active` done."""
    states = ["done"] * active + ["active"] + ["open"] * len(_PLAN)
    items = [{"text": text, "state": state} for text, state in zip(_PLAN, states, strict=False)]
    return "todo_write", {"items": items}


def _trouble(run: Done) -> str | None:
    """Why a run of the tests tells nothing, if so."""
    if not run.ok:
        return f"I could not run the tests: {_head(run)}"
    if not _passed(run) and _ran(run) == "":
        return f"`{RUN_TESTS}` did not run any tests: {_head(run)}"
    return None


def _passed(run: Done) -> bool:
    codes = re.findall(r"exit code:? (-?\d+)", run.result.content)
    if codes:
        return bool(codes[-1] == "0")
    return re.search(r"^OK\b", run.result.content, re.MULTILINE) is not None


def _ran(run: Done) -> str:
    found = re.search(r"^Ran (\d+ tests?)", run.result.content, re.MULTILINE)
    return found[1] if found else ""


# -- anything else -------------------------------------------------------------------------------


def _tour(scene: Scene) -> Move:
    """Show the tools on the files that are there, once a session."""
    if scene.earlier and not scene.all_done:
        return Move(f"I am still the demo model, and my script has nothing for this. {CONNECT}")
    can_fix = {_BROKEN_FILE, _TEST_FILE}.issubset(scene.files)
    if not scene.done("list_files") and scene.can("list_files"):
        return Move("I can still show you the tools. These are your files.", (_LIST,))
    small = [f for f in scene.files if _SMALL.search(f) and not f.endswith("/")]
    small.sort(key=lambda f: (f.count("/"), "readme" not in f.lower(), f))
    if small and not scene.done("read_file") and scene.can("read_file"):
        return Move(
            f"I read the beginning of `{small[0]}`.",
            (("read_file", {"path": small[0], "limit": 20}),),
        )
    parts = [
        f"That was `{name}` on your files: {'fine' if ok else 'it failed'}."
        for name, ok in {done.name: done.ok for done in scene.all_done}.items()
        if name in ("list_files", "read_file")
    ]
    parts.append(
        "Ask me to fix the failing test, and I will show an edit too."
        if can_fix
        else "Answering for real is beyond a script."
    )
    return Move(" ".join([*parts, CONNECT]))


def _head(done: Done) -> str:
    """The first words of a result."""
    line = next((line for line in done.result.content.splitlines() if line.strip()), "(nothing)")
    return line if len(line) <= 200 else line[:199] + "…"
