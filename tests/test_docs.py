"""The generated pages are what the code says, and what people read is true."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_generated_pages_are_up_to_date() -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"]()
    assert len(pages) == 5
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run `make docs`"


def test_the_architecture_page_keeps_its_budget_and_names_what_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    for test in re.findall(r"`(tests/[\w/]+\.py)`", text):
        assert (ROOT / test).exists(), test
    for test in re.findall(r"`(test_\w+)`", text):
        found = any(
            f"def {test}(" in path.read_text(encoding="utf-8")
            for path in (ROOT / "tests").rglob("*.py")
        )
        assert found, test
    for module in re.findall(r"`(turnbuckle/[\w/]+\.py)`", text):
        assert (ROOT / "server" / module).exists(), module
