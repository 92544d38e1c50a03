"""What is wrong does not type-check, and what people copy does: examples, and the page on plugins."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MISUSE = Path(__file__).with_name("misuse.py")
EXAMPLES = sorted((ROOT / "examples" / "plugins").glob("*.py"))
BLOCK = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, set[str]]]:
    """What the type checker says, by file and line: codes. It runs once, for all of it."""
    folder = tmp_path_factory.mktemp("typed")
    bare = MISUSE.read_text(encoding="utf-8").replace("# type: ignore[", "# E: [")
    (folder / "misuse.py").write_text(bare, encoding="utf-8")
    for name, code in BLOCK.findall((ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")):
        (folder / name).write_text(code, encoding="utf-8")
    files = [*folder.glob("*.py"), *EXAMPLES]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--no-pretty", *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    found: dict[str, dict[int, set[str]]] = {}
    for line in done.stdout.splitlines():
        if match := re.fullmatch(r"(.+?):(\d+): error: .*\[([\w-]+)\]", line):
            lines = found.setdefault(Path(match[1]).name, {})
            lines.setdefault(int(match[2]), set()).add(match[3])
        else:
            assert ": note: " in line, line
    return found


def test_each_misuse_is_an_error_where_and_as_it_is_marked(
    said: dict[str, dict[int, set[str]]],
) -> None:
    marked = {
        number: set(match[1].split(", "))
        for number, line in enumerate(MISUSE.read_text(encoding="utf-8").splitlines(), 1)
        if (match := re.search(r"# type: ignore\[([\w, -]+)\]", line))
    }
    assert said["misuse.py"] == marked
    assert len(marked) > 80


def test_what_people_copy_has_no_error(said: dict[str, dict[int, set[str]]]) -> None:
    assert set(said) == {"misuse.py"}
