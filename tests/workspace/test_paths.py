"""Places: what lies inside, what looks secret, and how URIs spell it."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.workspace.errors import NoFolder, WorkspaceError
from turnbuckle.workspace.paths import (
    Roots,
    canonical,
    lies_in,
    path_of,
    pure_path_of,
    refuse_device,
    uri_of,
)
from turnbuckle.workspace.secretive import looks_secret


@pytest.fixture
def proj(tmp_path: Path) -> Path:
    """`proj` beside a folder whose name begins with the same letters."""
    for folder in ("proj/sub", "proj-secret"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path / "proj"


def roots(*folders: Path) -> Roots:
    return Roots(cwd=folders[0], folders=folders)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a", True),
        (".", True),
        ("./a/../b", True),
        ("sub/../sub/x", True),
        ("..", False),
        ("../proj-secret/a", False),
        ("sub/../../proj-secret/a", False),
        ("/", False),
    ],
)
def test_inside_is_told_by_folders_not_by_letters(proj: Path, path: str, inside: bool) -> None:
    assert roots(proj).resolve(path).inside is inside
    assert roots(proj).resolve(str(proj / path)).inside is inside


def test_links_are_followed_before_it_is_told(proj: Path) -> None:
    (proj / "out").symlink_to(proj.parent / "proj-secret")
    (proj / "gone").symlink_to(proj.parent / "nothing" / "there.txt")
    (proj / "near").symlink_to(proj / "sub")
    assert not roots(proj).resolve("out/new.txt").inside
    assert not roots(proj).resolve("gone").inside
    near = roots(proj).resolve("near/new.txt")
    assert near.inside
    assert near.path == Path(os.path.realpath(proj)) / "sub" / "new.txt"
    assert near.uri == uri_of(proj / "near" / "new.txt")
    assert near.shown == "near/new.txt"


def test_behind_a_link_two_dots_lead_where_the_link_leads(proj: Path) -> None:
    (proj / "out").symlink_to(proj.parent / "proj-secret" / "deep")
    (proj.parent / "proj-secret" / "deep").mkdir()
    place = roots(proj).resolve("out/../x")
    assert not place.inside
    assert place.uri == uri_of(place.path)


def test_a_link_that_leads_to_itself_lies_somewhere_and_reads_nothing(proj: Path) -> None:
    (proj / "loop").symlink_to("loop")
    assert roots(proj).resolve("loop/x").shown


def test_a_workspace_behind_a_link_is_inside(proj: Path) -> None:
    (proj.parent / "link").symlink_to(proj)
    place = roots(proj.parent / "link").resolve("a.py")
    assert (place.inside, place.shown) == (True, "a.py")
    assert place.uri == uri_of(proj.parent / "link" / "a.py")


def test_each_of_many_folders_is_inside(proj: Path) -> None:
    many = roots(proj / "sub", proj.parent / "proj-secret")
    assert many.resolve(str(proj.parent / "proj-secret" / "a")).inside
    assert not many.resolve("../a").inside


def test_places_are_shown_from_the_working_folder(proj: Path) -> None:
    assert roots(proj).resolve(str(proj / "sub" / "a")).shown == "sub/a"
    assert roots(proj).resolve(".").shown == "."
    outside = roots(proj).resolve("../x")
    assert outside.shown == outside.path.as_posix()


def test_file_uris_are_paths(proj: Path) -> None:
    place = roots(proj).resolve(uri_of(proj / "a b.py"))
    assert place.shown == "a b.py"
    with pytest.raises(WorkspaceError) as caught:
        roots(proj).resolve("https://example.org/a")
    assert caught.value.code == "INVALID_ARGS"


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_what_names_no_place_is_refused(proj: Path, path: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        roots(proj).resolve(path)
    assert caught.value.code == "INVALID_ARGS"


def test_a_tilde_is_a_name_like_any_other(proj: Path) -> None:
    assert roots(proj).resolve("~/x").path == Path(os.path.realpath(proj)) / "~" / "x"


def test_a_very_long_name_is_resolved_all_the_same(proj: Path) -> None:
    assert roots(proj).resolve("x" * 5000).inside


def test_without_a_folder_there_are_no_places(proj: Path) -> None:
    for path in ("a", str(proj / "a")):
        with pytest.raises(NoFolder) as caught:
            Roots(cwd=None, folders=()).resolve(path)
        assert caught.value.code == "OUTSIDE"


def test_without_folders_the_working_folder_is_the_workspace(proj: Path) -> None:
    assert Roots(cwd=proj, folders=()).resolve("a").inside


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        (".env", True),
        ("a/.env.local", True),
        (".envrc", True),
        ("id_rsa", True),
        ("k.pem", True),
        (".npmrc", True),
        (".netrc", True),
        ("K.PEM", True),
        ("home/.aws/anything", True),
        (".docker/config.json", True),
        ("credentials.json", True),
        ("config.json", False),
        (".env.example", False),
        ("id_ed25519.pub", False),
        (".ssh/id_rsa.pub", False),
        ("src/env.py", False),
        ("environment.py", False),
        ("keyboard.md", False),
    ],
)
def test_names_of_secrets_are_known(name: str, secret: bool) -> None:
    assert looks_secret(PurePosixPath("/w/proj") / name) is secret


def test_a_secret_behind_a_harmless_name_is_one(proj: Path) -> None:
    (proj / ".env").write_text("K=1")
    (proj / "notes.txt").symlink_to(".env")
    assert roots(proj).resolve("notes.txt").secret


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/w/a b.py"), "file:///w/a%20b.py"),
        (PurePosixPath("/w/é#?.py"), "file:///w/%C3%A9%23%3F.py"),
        (PureWindowsPath(r"C:\w\a b.py"), "file:///c%3A/w/a%20b.py"),
        (PureWindowsPath(r"\\Server\share\x"), "file://server/share/x"),
        (PureWindowsPath(r"\\?\C:\w\x"), "file:///c%3A/w/x"),
    ],
)
def test_paths_have_uris(path: PurePosixPath | PureWindowsPath, uri: str) -> None:
    assert uri_of(path) == uri


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/w/a.py", r"c:\w\a.py"),
        ("file:///C:/w/a.py", r"C:\w\a.py"),
        ("file://localhost/c:/w", r"c:\w"),
        ("file://server/share/x", r"\\server\share\x"),
        ("FILE:/c:/w/%C3%A9", r"c:\w\é"),
    ],
)
def test_uris_have_paths_on_windows(uri: str, path: str) -> None:
    assert pure_path_of(uri, PureWindowsPath) == PureWindowsPath(path)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/a%20b.py", "/w/a b.py"),
        ("file:///w/a b.py", "/w/a b.py"),
        ("file://LOCALHOST/w/a", "/w/a"),
        ("file:///c%3A/w/a.py", "/c:/w/a.py"),
        ("file://server/share", None),
        ("file:///w/%00", None),
        ("untitled:Untitled-1", None),
        ("git:/w/a.py?%7B%7D", None),
        ("vscode-notebook-cell:/w/n.ipynb#W0", None),
        ("output:tasks", None),
    ],
)
def test_uris_have_paths_elsewhere_or_none(uri: str, path: str | None) -> None:
    expected = None if path is None else PurePosixPath(path)
    assert pure_path_of(uri, PurePosixPath) == expected


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20))
def test_a_path_comes_back_from_its_uri(name: str) -> None:
    path = Path("/w") / name.strip("/")
    assert path_of(uri_of(path)) == path


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_name_that_is_no_utf_8_comes_back_too(proj: Path) -> None:
    path = proj / os.fsdecode(b"caf\xe9")
    assert path_of(uri_of(path)) == path
    roots(proj).resolve(str(path)).shown.encode()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("file:///c%3A/w/a.py", "file:///c:/w/a.py", True),
        ("file:///C:/w/a.py", "file:///c:/w/a.py", True),
        ("file:///w/a%20b.py", "file:///w/a b.py", True),
        ("file:///w/%C3%A9.py", "file:///w/é.py", True),
        ("file:///w/A.py", "file:///w/a.py", False),
        ("untitled:A", "untitled:a", False),
    ],
)
def test_one_file_has_one_canonical_uri(one: str, other: str, same: bool) -> None:
    assert (canonical(one) == canonical(other)) is same


@pytest.mark.parametrize("path", ["nul", r"a\CON.txt", r"C:\x\a.txt:stream", "lpt1 ."])
def test_devices_and_streams_of_windows_are_refused(path: str) -> None:
    with pytest.raises(WorkspaceError):
        refuse_device(PureWindowsPath(path))


def test_common_names_are_no_devices() -> None:
    refuse_device(PureWindowsPath(r"C:\console\null\com10.txt"))


def test_a_folder_lies_in_itself(proj: Path) -> None:
    assert lies_in(proj, proj)
    assert not lies_in(proj.parent, proj)
