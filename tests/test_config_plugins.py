"""Which plugins a configuration names, who may name them, and how their code is loaded."""

import importlib.metadata
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from turnbuckle import config
from turnbuckle.agent.plugin import PluginFailed
from turnbuckle.config.plugins import GROUP, Source, Wanted, load_plugin, wanted_plugins

GOOD = "def install(ctx):\n    pass\n"


class Person:
    """Someone with a configuration file, and a folder beside it for plugins."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "config.toml"
        self.folder = folder

    def wants(self, text: str = "", options: object = None) -> tuple[Wanted, ...]:
        self.file.write_text(text)
        loaded = config.read({"TURNBUCKLE_CONFIG": str(self.file)}, options)
        return wanted_plugins(loaded, self.file, ["retry"])

    def writes(self, name: str, text: str = GOOD) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@pytest.fixture(autouse=True)
def _nothing_of_a_plugin_stays() -> Iterator[None]:
    modules, finders = set(sys.modules), list(sys.meta_path)
    yield
    assert not [name for name in set(sys.modules) - modules if name.startswith("turnbuckle_plugin")]
    assert sys.meta_path == finders


def load(path: Path, patience: float = 10.0) -> Source:
    return load_plugin(Wanted(str(path), path.stem, path), patience)


def said(source: Source) -> object:
    """What an `install` gives that gives something, which none has to."""
    return cast("Callable[[object], object]", source.install)(None)


def refused(path: Path, patience: float = 10.0) -> str:
    with pytest.raises(PluginFailed) as caught:
        load(path, patience)
    return str(caught.value)


# -- which ---------------------------------------------------------------------------------------


def test_no_plugin_has_to_be_named(person: Person) -> None:
    assert person.wants() == ()


def test_a_path_may_be_absolute_at_home_or_relative_to_the_configuration_file(
    person: Person, tmp_path: Path
) -> None:
    where = (tmp_path / "there" / "a.py").as_posix()
    wanted = person.wants(f"plugins = ['{where}', '~/b.py', 'mine/c.py', 'd.py', './folder']")
    assert [one.path for one in wanted] == [
        tmp_path / "there" / "a.py",
        Path("~/b.py").expanduser(),
        tmp_path / "mine" / "c.py",
        tmp_path / "d.py",
        tmp_path / "folder",
    ]
    assert [one.name for one in wanted] == ["a", "b", "c", "d", "folder"]
    assert [one.problem for one in wanted] == [None] * 5


def test_what_looks_like_no_path_is_the_name_of_an_entry_point(person: Person) -> None:
    assert person.wants("plugins = ['cost-guard']") == (Wanted("cost-guard", "cost-guard"),)


def test_an_editor_may_name_plugins_but_not_relative_to_wherever_it_stands(
    person: Person, tmp_path: Path
) -> None:
    where = str(tmp_path / "a.py")
    options = {"settings": {"plugins": [where, "mine/b.py", ".", "./c.py", "d.py", "~/e.py"]}}
    wanted = person.wants("", options)
    assert [one.problem is None for one in wanted] == [True, False, True, False, False, True]
    said = "a relative path can only stand in the configuration file; give it in full"
    assert wanted[1].problem == said
    assert wanted[2].path is None  # a name, which no package can have


def test_a_path_of_the_file_that_the_editor_replaced_is_not_relative_to_the_file(
    person: Person,
) -> None:
    (one,) = person.wants("plugins = ['a.py']", {"settings": {"plugins": ["b.py"]}})
    assert one.said == "b.py"
    assert one.problem is not None


def test_nothing_in_the_workspace_names_a_plugin(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / ".turnbuckle").mkdir(parents=True)
    for name in ("turnbuckle.toml", "config.toml", ".turnbuckle/config.toml", "pyproject.toml"):
        (work / name).write_text("plugins = ['./evil.py']\n[tool.turnbuckle]\nplugins = ['e.py']")
    (work / "evil.py").write_text("raise SystemExit")
    monkeypatch.chdir(work)
    assert person.wants() == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plugins = ['a.py', 'b/a.py']", "there is another plugin named a; give this one"),
        ("plugins = ['retry.py']", "there is another plugin named retry; give this one"),
        ("plugins = ['my plugin.py']", "its name must be of letters, digits, _, - and dots"),
        ("plugins = ['../..']", "its name must be of letters, digits, _, - and dots"),
        ("plugins = ['~nobody-has-this-name/a.py']", "there is no such home folder"),
    ],
)
def test_what_cannot_be_one_is_named(person: Person, text: str, said: str) -> None:
    problem = person.wants(text)[-1].problem
    assert problem is not None
    assert problem.startswith(said)


@pytest.mark.parametrize(
    "value", ["'a.py'", "3", "{a = 'b'}", "['a.py', 3]", "['']", "[['a.py']]", "true"]
)
def test_a_setting_that_is_no_list_of_texts_says_what_would_be_right(
    person: Person, value: str
) -> None:
    with pytest.raises(config.ConfigError, match="must be a list of paths and names, each in quot"):
        person.wants(f"plugins = {value}")


# -- how it is loaded ----------------------------------------------------------------------------


def test_a_file_is_a_plugin(person: Person) -> None:
    source = load(person.writes("a.py", "seen = []\ndef install(ctx):\n    seen.append(ctx)\n"))
    assert source.module is not None
    assert sys.modules[source.module].seen == []
    source.forget()


def test_what_a_file_defines_may_be_used_as_in_any_module(person: Person) -> None:
    """Some of the standard library looks for the module of what it is given."""
    source = load(
        person.writes(
            "a.py",
            """\
            from __future__ import annotations
            import typing
            from dataclasses import dataclass, field

            @dataclass
            class Counter:
                counts: dict[str, int] = field(default_factory=dict)

            HINTS = typing.get_type_hints(Counter)

            def install(ctx):
                pass
            """,
        )
    )
    source.forget()


def test_a_folder_is_a_plugin_with_modules_of_its_own(person: Person) -> None:
    person.writes("mine/__init__.py", "from .inner.deep import word\ndef install(ctx): return word")
    person.writes("mine/inner/__init__.py", "")
    person.writes("mine/inner/deep.py", "from ..word import word")
    word = person.writes("mine/word.py", "word = 'one'")
    first = load(person.folder / "mine")
    word.write_text("word = 'two'")
    second = load(person.folder / "mine")
    assert [said(one) for one in (first, second)] == ["one", "two"]
    first.forget()
    second.forget()


def test_a_changed_file_is_loaded_as_it_is_now_even_within_the_same_second(person: Person) -> None:
    path = person.folder / "a.py"
    found = []
    for word in ("one", "two", "six"):  # as long, and as old
        path.write_text(f"def install(ctx): return '{word}'")
        os.utime(path, (1_700_000_000, 1_700_000_000))
        source = load(path)
        found.append(said(source))
        source.forget()
    assert found == ["one", "two", "six"]


def test_nothing_is_written_beside_a_plugin(person: Person) -> None:
    person.writes("mine/__init__.py", "from .word import word\n" + GOOD)
    person.writes("mine/word.py", "word = 1")
    load(person.folder / "mine").forget()
    load(person.writes("a.py")).forget()
    assert not [*person.folder.rglob("__pycache__")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it has no `install(ctx)`"),
        ("install = 3", "it has no `install(ctx)`"),
        ("def install(): pass", "`install` must take one argument, the context"),
        ("async def install(ctx): pass", "`install` must be a plain function, not an async one"),
        ("def install(ctx)\n  pass", "SyntaxError: expected ':' (a.py, line 1)"),
        ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
        ("import nothing_like_this", "(a.py, line 1)"),
        ("\n\n1 / 0", "ZeroDivisionError: division by zero (a.py, line 3)"),
        ("import json\njson.loads('{')", "(a.py, line 2)"),
        ("raise SystemExit(1)", "SystemExit: 1 (a.py, line 1)"),
        ("x = '\0'", "null bytes"),
        ("x = '\udcff'", "SyntaxError: (unicode error)"),
        ("x = " + "(" * 5000, "a.py"),
    ],
)
def test_what_is_wrong_with_the_code_is_named(person: Person, text: str, said: str) -> None:
    path = person.folder / "a.py"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert said in refused(path)


def test_what_is_not_there_or_no_plugin_is_named(person: Person) -> None:
    assert refused(person.folder / "none.py").startswith("there is no such file")
    (person.folder / "empty").mkdir()
    assert refused(person.folder / "empty").startswith("the folder has no __init__.py")
    huge = person.folder / "huge.py"
    with huge.open("wb") as file:
        file.truncate(5 * 1024 * 1024)
    assert "is larger than 4,194,304 bytes" in refused(huge)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_is_no_file_is_not_waited_for(person: Person) -> None:
    pipe = person.folder / "pipe.py"
    os.mkfifo(pipe)
    assert "is neither a file nor a folder" in refused(pipe)


def test_code_that_never_ends_is_given_up(person: Person) -> None:
    stop = person.folder / "stop"
    path = person.writes(
        "a.py",
        f"""\
        import pathlib, time
        while not pathlib.Path({str(stop)!r}).exists():
            time.sleep(0.01)
        """,
    )
    assert refused(path, patience=0.05) == "its code was not loaded within 0.05 s"
    stop.touch()


# -- entry points --------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Pretends that a package is installed: what a package manager would have written."""
    site = tmp_path / "site"

    def install(package: str, entry_points: str) -> None:
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry_points}\n")
        (site / f"{package}.py").write_text(GOOD)

    monkeypatch.syspath_prepend(str(site))
    return install


def test_an_installed_package_offers_a_plugin_by_an_entry_point(
    installed: Callable[[str, str], None],
) -> None:
    installed("tb_one", "one = tb_one:install\nalso-one = tb_one")
    for name in ("one", "also-one"):
        source = load_plugin(Wanted(name, name))
        assert source.install.__module__ == "tb_one"
        source.forget()
    assert "tb_one" in sys.modules


def test_an_installed_package_offers_nothing_that_is_not_named(
    person: Person, installed: Callable[[str, str], None]
) -> None:
    installed("tb_two", "two = tb_two:install")
    assert [e.name for e in importlib.metadata.entry_points(group=GROUP)] == ["two"]
    assert person.wants() == ()
    assert "tb_two" not in sys.modules


def test_a_name_that_nothing_offers_says_what_there_is(
    installed: Callable[[str, str], None],
) -> None:
    installed("tb_three", "three = tb_three:install\nfour = tb_three:nothing")
    with pytest.raises(
        PluginFailed, match=r"offers a plugin named thre \(there are: four, three\)"
    ):
        load_plugin(Wanted("thre", "thre"))
    with pytest.raises(PluginFailed, match="AttributeError"):
        load_plugin(Wanted("four", "four"))


def test_a_name_that_two_packages_offer_is_not_guessed(
    installed: Callable[[str, str], None],
) -> None:
    installed("tb_five", "five = tb_five:install")
    installed("tb_six", "five = tb_six:install")
    with pytest.raises(PluginFailed, match="several installed packages offer a plugin named five"):
        load_plugin(Wanted("five", "five"))
