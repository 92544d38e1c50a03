"""What the editor shows unsaved counts as the file's text; a command cannot see it, and is told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.testing.buffers import MemoryBuffers, write
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.noticing import NAMED
from turnbuckle.tools.builtin.overlay import merged
from turnbuckle.tools.builtin.read_file import ReadFile, read_file
from turnbuckle.tools.builtin.run_command import RunCommand, run_command
from turnbuckle.tools.builtin.search import Search, search
from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.unsaved import alike


@dataclass
class Office:
    """A desk beside an editor."""

    desk: Desk
    editor: MemoryBuffers = field(default_factory=MemoryBuffers)

    @property
    def workspace(self) -> Workspace:
        known = self.desk.digests.keys
        return replace(self.desk.workspace, buffers=self.editor, known=known)

    def path(self, name: str) -> Path:
        return (self.desk.folder / name).resolve()

    def file(self, name: str, text: str, shown: str | None = None) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        if shown is not None:
            self.editor.texts[path] = shown
        return path

    async def found(self, pattern: str, path: str = ".", **more: object) -> str:
        arguments = Search.model_validate({"pattern": pattern, "path": path, **more})
        prepared = await search().prepare(arguments, self.workspace)
        return (await self.desk.perform(prepared)).content

    async def read(self, name: str) -> None:
        await self.desk.perform(await read_file().prepare(ReadFile(path=name), self.workspace))

    async def run(self, command: str, timeout: float = 30) -> str:
        arguments = RunCommand(command=command, timeout=timeout)
        prepared = await run_command().prepare(arguments, self.workspace)
        return (await self.desk.perform(prepared)).content


@pytest.fixture
def office(tmp_path: Path) -> Office:
    (tmp_path / "work").mkdir()
    return Office(Desk(tmp_path / "work"))


async def test_a_search_finds_what_is_unsaved_and_not_what_is_under_it(office: Office) -> None:
    office.file("a.py", "old word\n")
    office.file("b/c.py", "old word\n", "one\nnew word\n")
    office.file("d.py", "old word\n", "old word\n")
    assert await office.found("word") == "\n".join((
        "a.py", "1:old word", "",
        "b/c.py", "2:new word", "",
        "d.py", "1:old word",
    ))  # fmt: skip
    assert await office.found("word", "b/c.py") == "b/c.py\n2:new word"
    assert await office.found("old", "b") == "no matches"


async def test_a_file_that_is_only_in_the_editor_is_searched(office: Office) -> None:
    office.editor.texts[office.path("sub/new.py")] = "hello\n"
    assert await office.found("hello") == "sub/new.py\n1:hello"
    assert await office.found("hello", "sub/new.py") == "sub/new.py\n1:hello"


async def test_unsaved_files_are_passed_over_for_the_same_reasons_as_others(
    office: Office,
) -> None:
    office.file(".gitignore", "build/\n*.log\n")
    office.file("sub/.gitignore", "x.txt\n")
    for name in ("build/a", "b.log", "sub/x.txt", "sub/y.txt", ".env", "deep/er/z.txt"):
        office.file(name, "", "hello\n")
    assert await office.found("hello") == "deep/er/z.txt\n1:hello\n\nsub/y.txt\n1:hello"
    assert await office.found("hello", "sub") == "sub/y.txt\n1:hello"
    assert await office.found("hello", glob="deep/**") == "deep/er/z.txt\n1:hello"
    assert await office.found("hello", ".env") == ".env\n1:hello"


async def test_the_rules_of_folders_above_and_of_the_repository_hold_for_unsaved_files(
    office: Office,
) -> None:
    office.file(".git/info/exclude", "secret.txt\n")
    office.file(".gitignore", "b.txt\n")
    for name in ("sub/a.txt", "sub/b.txt", "sub/secret.txt"):
        office.file(name, "", "hello\n")
    assert await office.found("hello", "sub") == "sub/a.txt\n1:hello"


@pytest.mark.parametrize("name", ["a[1].py", "{a,b}.py", "!x.py", "a b .py", "*.py", "ä😀.py"])
async def test_names_that_look_like_patterns_are_names(office: Office, name: str) -> None:
    office.file("1.py", "old\n")
    office.file(name, "old\n", "new\n")
    content = await office.found("old|new")
    assert sorted(content.split("\n\n")) == sorted(["1.py\n1:old", f"{name}\n1:new"])


async def test_a_search_with_unsaved_texts_keeps_its_limit(office: Office) -> None:
    office.file("a", "hello world\n" * 4000)
    office.file("b", "", "hello world\n" * 4000)
    office.file("c", "hello world\n" * 4000)
    content = await office.found("hello")
    assert len(content.encode()) < 66_000
    assert content.splitlines()[-1].startswith("[there are more matches")
    assert "\nb\n" in content
    assert "\nc\n" not in content


async def test_a_text_that_is_not_known_for_sure_is_not_searched_and_that_is_said(
    office: Office,
) -> None:
    office.file("a.py", "stored\n", "shown\n")
    office.editor.doubt = "it told of a version twice"
    content = await office.found("stored|shown")
    assert content.startswith("a.py\n1:stored\n[files that are not saved in the editor")


async def test_a_wrong_pattern_is_refused_also_with_unsaved_texts(office: Office) -> None:
    office.file("a.py", "a", "b")
    with pytest.raises(ToolError, match="unclosed group") as caught:
        await office.found("(")
    assert caught.value.code == "INVALID_ARGS"


BLOCKS = st.dictionaries(st.sampled_from(["a", "a/b", "a.b", "b", "a/b/c", "ä"]), st.integers(1, 3))


@given(BLOCKS, BLOCKS)
def test_findings_are_merged_in_the_order_of_paths(
    one: dict[str, int], other: dict[str, int]
) -> None:
    def written(found: dict[str, int]) -> bytes:
        names = sorted(found, key=lambda name: [part.encode() for part in name.split("/")])
        return "\n\n".join(
            "\n".join([f"./{name}", *["1:x"] * found[name]]) for name in names
        ).encode()

    rest = {name: count for name, count in other.items() if name not in one}
    assert merged([written(one), written(rest)], 10_000) == (written(one | rest), False)


async def test_unsaved_files_are_saved_before_a_command(office: Office) -> None:
    office.file("a.txt", "old\n", "new\n")
    office.file("clean.txt", "same\n", "same\n")
    office.editor.saving = write
    assert await office.run("cat a.txt") == "new\nexit code 0"
    assert office.editor.asked == [office.path("a.txt")]


async def test_what_was_changed_by_saving_is_not_unsaved(office: Office) -> None:
    path = office.file("a.txt", "old\n", "new\n")

    def formatted(_: object) -> None:
        path.write_text("NEW\n")
        office.editor.texts[path] = "NEW\n"

    office.editor.saving = formatted
    assert await office.run("cat a.txt") == "NEW\nexit code 0"


async def test_files_that_stay_unsaved_are_told_whatever_the_editor_said(office: Office) -> None:
    office.file("a.txt", "old\n", "new\n")
    office.editor.texts[office.path("new.txt")] = "x\n"
    office.editor.texts[office.desk.folder.parent / "outside.txt"] = "x\n"
    assert await office.run("cat a.txt") == (
        "old\n[not saved in the editor, so not seen by the command: a.txt, new.txt]\nexit code 0"
    )


async def test_many_unsaved_files_are_told_in_one_line(office: Office) -> None:
    for number in range(NAMED + 5):
        office.editor.texts[office.path(f"{number:02}")] = "x"
    (line,) = [
        line for line in (await office.run("true")).splitlines() if "unsaved" in line or "[" in line
    ]
    assert line.endswith(f"{NAMED - 1:02} and 5 more]")


Act = Callable[[Office, Path], None]


@pytest.mark.parametrize(
    ("shown", "command", "said"),
    [
        (None, "echo new > a.txt", "changed on disk; read again before changing it"),
        (None, "rm a.txt", "deleted on disk"),
        (None, "touch a.txt", None),
        (None, "printf 'old\n' > a.txt", None),
        (None, r"printf '\000' > a.txt", "changed on disk; read again before changing it"),
        ("old\n", "echo new > a.txt", "changed on disk, and the editor still shows"),
        ("old\n", "rm a.txt", "changed on disk, and the editor still shows"),
        ("mine\n", "echo new > a.txt", "in conflict: changed on disk, and changed in the editor"),
        ("new\n", "echo new > a.txt", "changed on disk; read again before changing it"),
        ("mine\n", "true", None),
    ],
)
async def test_what_a_command_changed_of_known_files_is_told_by_how_the_editor_has_them(
    office: Office, shown: str | None, command: str, said: str | None
) -> None:
    office.file("a.txt", "old\n")
    office.file("unknown.txt", "old\n")
    await office.read("a.txt")
    if shown is not None:
        office.editor.texts[office.path("a.txt")] = shown
    content = await office.run(f"{command}; echo x > unknown.txt")
    lines = [
        line for line in content.splitlines() if line.startswith("[") and "not saved" not in line
    ]
    assert len(lines) == (said is not None)
    if said is not None:
        assert said in lines[0]
        assert lines[0].endswith(": a.txt]")
    assert content.endswith("exit code 0")


async def test_a_command_out_of_time_tells_what_it_changed(office: Office) -> None:
    office.file("a.txt", "old\n")
    await office.read("a.txt")
    with pytest.raises(ToolError, match=r"changed on disk; .*: a\.txt") as caught:
        await office.run("echo new > a.txt; sleep 100", timeout=1)
    assert caught.value.code == "TIMEOUT"


@pytest.mark.parametrize(
    ("shown", "stored", "same"),
    [
        ("a\nb\n", "a\r\nb\r\n", True),
        ("\ufeffa\n", "a\n", True),
        ("a\n", "a", True),
        ("a\n\n", "a", False),
        ("a", "b", False),
        (" a\n", "a\n", False),
    ],
)
def test_what_editors_show_otherwise_is_not_unsaved(shown: str, stored: str, same: bool) -> None:
    assert alike(shown, stored) is same
