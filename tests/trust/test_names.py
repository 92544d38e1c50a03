"""However a name is spelled: what is secret, protected, ours or outside stays so."""

import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.testing.strategies import soak
from turnbuckle.tools.caution import Caution
from turnbuckle.tools.subject import Change
from turnbuckle.workspace.changes import make_change
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.paths import (
    Roots,
    canonical,
    pure_path_of,
    refuse_device,
    refuse_share,
    uri_of,
)
from turnbuckle.workspace.protected import protection
from turnbuckle.workspace.secretive import looks_secret
from turnbuckle.workspace.spelling import folded

posix = pytest.mark.skipif(os.name == "nt", reason="links that anybody may make")

SECRET = (".env", "id_rsa", "k.pem", ".npmrc", ".ssh/config", "sub/.aws/keys", "credentials.json")
PROTECTED = (
    ".git/hooks/pre-commit", ".vscode/settings.json", "AGENTS.md", ".github/workflows/xx.yml",
    ".envrc", "sub/.git/config", ".agents/skills/xx/run.py", "xx/HEAD",
)  # fmt: skip

WAYS: tuple[Callable[[str], str], ...] = (
    str.upper,
    str.title,
    lambda part: f"{part}.",
    lambda part: f"{part} ",
    lambda part: f"{part}. .",
    lambda part: f"{part}::$DATA",
    lambda part: f"{part}:stream",
    lambda part: f"{part[:2]}\u200d{part[2:]}",
    lambda part: f"{part[:1]}\u200b{part[1:]}",
    lambda part: f"{part}\ufeff",
    lambda part: unicodedata.normalize("NFD", part),
    lambda part: "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalpha() else c for c in part),
    lambda part: part.replace("k", "\u212a"),
    lambda part: part.replace("s", "\u017f"),
)
"""How some file system writes a name that is the same to it."""


@settings(max_examples=soak(300), deadline=None)
@given(
    st.sampled_from(SECRET),
    st.lists(st.sampled_from(WAYS), max_size=3),
    st.sampled_from([PurePosixPath, PureWindowsPath]),
)
def test_a_secret_is_one_however_it_is_spelled(
    name: str, ways: list[Callable[[str], str]], flavour: type[PurePath]
) -> None:
    parts = name.split("/")
    for way in ways:
        parts = [way(part) for part in parts]
    assert looks_secret(flavour("/w", *parts)), parts


@settings(max_examples=soak(300), deadline=None)
@given(
    st.sampled_from(PROTECTED),
    st.lists(st.sampled_from(WAYS), max_size=3),
    st.sampled_from(
        [(PurePosixPath, "/w"), (PureWindowsPath, "C:\\w"), (PureWindowsPath, "\\\\?\\C:\\w")]
    ),
)
def test_what_others_obey_is_asked_about_however_it_is_spelled(
    name: str, ways: list[Callable[[str], str]], where: tuple[type[PurePath], str]
) -> None:
    flavour, home = where
    parts = name.split("/")
    for way in ways:
        parts = [way(part) for part in parts]
    assert protection(flavour(home, *parts), [flavour(home)]) is not None, parts


def test_an_accent_is_one_in_either_form() -> None:
    one, other = unicodedata.normalize("NFC", "é.md"), unicodedata.normalize("NFD", "é.md")
    assert one != other
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    "name", [".env.example", "src/env.py", "key.py", "identity.py", "head.html"]
)
def test_common_names_are_neither(name: str) -> None:
    assert not looks_secret(PurePosixPath("/w", name))
    assert protection(PurePosixPath("/w", name), [PurePosixPath("/w")]) is None


@settings(max_examples=soak(200), deadline=None)
@given(st.text(max_size=12))
def test_folding_is_done_once_for_all(name: str) -> None:
    once = folded(name)
    assert once == once.casefold() or once  # never raises, and compares without case
    assert folded(once.upper()) == folded(once)


# Our own files.


@pytest.mark.parametrize(
    "spelled",
    [
        "{home}/config.toml", "{upper}/config.toml", "{home}/plugins/x.py", "{home}./config.toml",
        "{home}::$INDEX_ALLOCATION/config.toml", "{home}", "{home}/CONFIG.TOML",
    ],
)  # fmt: skip
def test_our_own_files_are_asked_about_however_they_are_spelled(
    tmp_path: Path, spelled: str
) -> None:
    home = tmp_path / "Settings"
    caution = Caution(folders=(tmp_path,), own=(home,))
    path = Path(spelled.format(home=home, upper=tmp_path / "SETTINGS"))
    assert caution.of_path(path) is not None
    assert caution.of_path(tmp_path / "Settings2" / "x") is None
    assert caution.of_path(tmp_path / "src" / "x.py") is None


@posix
@pytest.mark.parametrize("link", ["a", "deep/er/a"])
def test_a_link_to_our_own_files_is_asked_about(tmp_path: Path, link: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("x")
    name = tmp_path / "work" / link
    name.parent.mkdir(parents=True)
    name.symlink_to(home / "config.toml")
    change = make_change(uri_of(name), "x", "y", "edit")
    caution = Caution(folders=(tmp_path / "work",), own=(home,))
    assert caution.reason(Change(files=(change,))) is not None


# What lies outside.


@pytest.mark.skipif(sys.platform != "linux", reason="where the system has /proc")
@pytest.mark.parametrize("way", ["/proc/self/root", "/proc/thread-self/root"])
def test_the_systems_own_doors_lead_where_they_lead(tmp_path: Path, way: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "out").write_text("x")
    roots = Roots(cwd=work, folders=(work,))
    assert roots.resolve(f"{way}{work}/a").inside
    assert roots.resolve(f"{way}{work}/a").path == work.resolve() / "a"
    assert not roots.resolve(f"{way}{tmp_path}/out").inside
    (work / "door").symlink_to(way)
    assert not roots.resolve(f"door{tmp_path}/out").inside
    assert not roots.resolve("door/etc/passwd").inside
    assert not roots.resolve("/proc/self/environ").inside
    assert roots.resolve("/proc/self/environ").secret


@posix
@pytest.mark.parametrize(
    "path",
    [
        "../out", "./../out", "a/../../out", "a//..//..//out", "door/../out", "door/x", "deep/x",
        "door", "/{out}", "//{out}", "file://{out}", "FILE://{out}", "file://localhost{out}",
        "file:{out}", "loop/x", "loop2/x",
    ],
)  # fmt: skip
def test_no_spelling_leads_out(tmp_path: Path, path: str) -> None:
    work, out = tmp_path / "work", tmp_path / "out"
    for folder in (work / "a", out):
        folder.mkdir(parents=True)
    (work / "door").symlink_to(out)
    (work / "deep").symlink_to("door")
    (work / "loop").symlink_to("loop2")
    (work / "loop2").symlink_to("../out")
    roots = Roots(cwd=work, folders=(work,))
    place = roots.resolve(path.format(out=out))
    assert not place.inside
    assert place.path.is_relative_to(out.resolve()) or place.path == out.resolve()


@pytest.mark.parametrize(
    "path",
    [
        "CON", "con.txt", "a\\NUL", "COM1", "lpt9.log", "aux ", "prn.", "file.txt:stream",
        "file.txt::$DATA", ".git::$INDEX_ALLOCATION\\config", "a\\b:c", "C:a:b", "CONIN$",
    ],
)  # fmt: skip
def test_devices_and_streams_are_no_files_on_windows(path: str) -> None:
    with pytest.raises(WorkspaceError):
        refuse_device(PureWindowsPath(path))


SHARES = [
    "\\\\evil\\share\\x", "//evil/share/x", "\\\\?\\UNC\\evil\\share\\x", "\\\\.\\pipe\\x",
    "\\\\.\\PhysicalDrive0", "\\\\?\\GLOBALROOT\\Device\\x", "\\\\?\\Volume{0}\\x", "\\\\evil@80\\dav\\x",
]  # fmt: skip


@pytest.mark.parametrize("path", SHARES)
@pytest.mark.parametrize("folder", ["C:\\w", "\\\\?\\C:\\w", "\\\\host\\share\\w"])
def test_no_other_machine_is_asked_on_windows_to_know_where_a_path_leads(
    path: str, folder: str
) -> None:
    with pytest.raises(WorkspaceError):
        refuse_share(PureWindowsPath(path), [PureWindowsPath(folder)])


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("a\\b", "C:\\w"), ("C:\\w\\a", "C:\\w"), ("D:\\x", "C:\\w"), ("\\\\?\\c:\\w\\a", "C:\\w"),
        ("\\\\HOST\\Share\\w\\a", "//host/share/w"), ("\\\\?\\UNC\\host\\share\\w", "\\\\host\\share\\w"),
        ("\\\\wsl$\\Ubuntu\\home", "\\\\wsl$\\Ubuntu\\home\\me"), ("\\x", "\\\\host\\share\\w"),
    ],
)  # fmt: skip
def test_a_workspace_may_lie_on_another_machine(path: str, folder: str) -> None:
    refuse_share(PureWindowsPath(path), [PureWindowsPath(folder)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///C:/w/a", "file:///c:/w/a"), ("file:///c%3A/w/a", "file:///C:/w/a"),
        ("file:///c:/w/%61", "file:///c:/w/a"), ("file://LOCALHOST/c:/w", "file:///c:/w"),
        ("FILE:///c:/w", "file:///c:/w"),
    ],
)  # fmt: skip
def test_spellings_of_a_place_on_windows_are_one(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    paths = {pure_path_of(uri, PureWindowsPath) for uri in (one, other)}
    assert len(paths) == 1


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("\\\\?\\C:\\w\\a", "file:///c%3A/w/a"), ("C:\\w\\a", "file:///c%3A/w/a"),
        ("\\\\?\\UNC\\host\\share\\a", "file://host/share/a"), ("\\\\HOST\\share\\a", "file://host/share/a"),
    ],
)  # fmt: skip
def test_long_spellings_of_windows_are_the_short_ones(path: str, uri: str) -> None:
    assert uri_of(PureWindowsPath(path)) == uri
