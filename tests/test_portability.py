"""Nothing that one system does not have is reached on it; files are text in one encoding."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from turnbuckle.lsp.clientfacts import read_client
from turnbuckle.workspace import disk
from turnbuckle.workspace.folders import Folder
from turnbuckle.workspace.paths import canonical, pure_path_of, uri_of

SOURCE = Path(__file__).parent.parent / "server" / "turnbuckle"
MODULES = sorted(SOURCE.rglob("*.py"))

OWN_BRANCHES = (
    "workspace/process/", "workspace/concealing.py", "testing/witness.py",
    "lsp/rpc/descriptors.py", "lsp/rpc/parent.py", "lsp/rpc/streams.py",
)  # fmt: skip
"""Where systems differ by nature; these are only looked at for imports."""

POSIX_ONLY = ("testing/terminal.py",)
"""A pseudo-terminal for tests: there is none on Windows."""

POSIX_MODULES = {
    "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty",
}  # fmt: skip
WINDOWS_MODULES = {"_winapi", "msvcrt", "winreg", "winsound"}
POSIX_NAMES = {
    "os": {
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "WNOHANG", "chown",
        "chroot", "fchmod", "fchown", "fdatasync", "fork", "forkpty", "getegid", "geteuid",
        "getgid", "getgroups", "getpgid", "getpgrp", "getsid", "getuid", "killpg", "lchown",
        "mkfifo", "mknod", "nice", "openpty", "pread", "pwrite", "set_blocking", "setpgid",
        "setsid", "statvfs", "sync", "sysconf", "tcgetpgrp", "tcsetpgrp", "ttyname", "uname",
        "wait", "wait3", "wait4", "waitid",
    },
    "signal": {
        "SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP",
        "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGUSR1", "SIGUSR2", "SIGWINCH", "alarm", "pause",
        "pthread_kill", "pthread_sigmask", "setitimer", "sigwait",
    },
    "select": {"epoll", "kqueue", "poll"},
    "socket": {"AF_UNIX", "SO_REUSEPORT", "socketpair"},
    "loop": {"add_signal_handler", "remove_signal_handler"},
    "anyio": {"open_signal_receiver"},
}  # fmt: skip
WINDOWS_NAMES = {
    "os": {"O_BINARY", "startfile"},
    "signal": {"CTRL_BREAK_EVENT", "CTRL_C_EVENT", "SIGBREAK"},
    "subprocess": {"CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW", "STARTUPINFO"},
}
IN_PATCHES = "/dev/null"
"""What a patch calls a file that is not there, on every system."""
PLACES = ("/bin/", "/dev/", "/etc/", "/proc", "/tmp", "/usr/", "/var/")


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


# -- what a module reaches on a system -----------------------------------------------------------


def reached(nodes: Iterable[ast.AST], system: str) -> Iterator[ast.AST]:
    """Every node that may run on this system, as far as tests of the platform tell."""
    for node in nodes:
        if isinstance(node, ast.If | ast.IfExp):
            yield from _branches(node, system)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            yield from _while_true(node.values, system)
        else:
            yield node
            for _, value in ast.iter_fields(node):
                children = value if isinstance(value, list) else [value]
                yield from reached(
                    _until_end([c for c in children if isinstance(c, ast.AST)], system), system
                )


def _branches(node: ast.If | ast.IfExp, system: str) -> Iterator[ast.AST]:
    body = node.body if isinstance(node.body, list) else [node.body]
    orelse = node.orelse if isinstance(node.orelse, list) else [node.orelse]
    yield from reached([node.test], system)
    match holds(node.test, system):
        case True:
            yield from reached(_until_end(body, system), system)
        case False:
            yield from reached(_until_end(orelse, system), system)
        case None:
            yield from reached(_until_end(body, system), system)
            yield from reached(_until_end(orelse, system), system)


def _while_true(values: list[ast.expr], system: str) -> Iterator[ast.AST]:
    for value in values:
        yield from reached([value], system)
        if holds(value, system) is False:
            return


def _until_end(nodes: Sequence[ast.AST], system: str) -> Sequence[ast.AST]:
    """Statements up to one after which this system is elsewhere."""
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Assert) and holds(node.test, system) is False:
            return nodes[:index]
        if isinstance(node, ast.If) and holds(node.test, system) is True:
            last = node.body[-1]
            if isinstance(last, ast.Return | ast.Raise | ast.Continue):
                return nodes[: index + 1]
    return nodes


def holds(test: ast.expr, system: str) -> bool | None:
    """Whether a test of the platform holds on a system; None for any other test."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        known = [holds(value, system) for value in test.values]
        return False if False in known else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right = ast.unparse(test.left), test.comparators[0]
    if left not in ("sys.platform", "os.name") or not isinstance(right, ast.Constant):
        return None
    here = {"win32": "nt", "linux": "posix"}[system] if left == "os.name" else system
    same = here == right.value
    return same if isinstance(test.ops[0], ast.Eq) else not same


def foreign(source: str, system: str) -> list[str]:
    """What a module reaches on a system that is not there."""
    windows = system == "win32"
    modules = POSIX_MODULES if windows else WINDOWS_MODULES
    names = POSIX_NAMES if windows else WINDOWS_NAMES
    found: list[str] = []
    for node in reached([ast.parse(source)], system):
        match node:
            case ast.Import(names=imported):
                found += [one.name for one in imported if one.name in modules]
            case ast.ImportFrom(module=str(module), names=imported):
                found += [module] if module in modules else []
                found += [
                    f"{module}.{one.name}" for one in imported if one.name in names.get(module, ())
                ]
            case ast.Attribute(value=ast.Name(id=owner), attr=attr) if attr in names.get(owner, ()):
                found.append(f"{owner}.{attr}")
            case ast.keyword(arg="preexec_fn" | "pass_fds" as argument) if windows:
                found.append(argument)
            case _:
                pass
    return found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
@pytest.mark.parametrize("system", ["win32", "linux"])
def test_a_module_reaches_nothing_that_a_system_does_not_have(path: Path, system: str) -> None:
    if system == "win32" and name_of(path) in POSIX_ONLY:
        return
    found = foreign(path.read_text(encoding="utf-8"), system)
    if name_of(path).startswith(OWN_BRANCHES):
        found = [name for name in found if "." not in name]
    assert found == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import termios", ["termios"]),
        ("from fcntl import flock", ["fcntl"]),
        ("from signal import SIGKILL", ["signal.SIGKILL"]),
        ("import os\nos.fork()", ["os.fork"]),
        ("if sys.platform != 'win32':\n    os.fork()", []),
        ("if sys.platform == 'win32':\n    pass\nelse:\n    os.fork()", []),
        ("if sys.platform == 'win32':\n    os.fork()", ["os.fork"]),
        ("if os.name == 'posix':\n    os.fork()", []),
        ("if sys.platform != 'win32' and os.getuid():\n    os.fork()", []),
        ("if x and os.getuid():\n    pass", ["os.getuid"]),
        ("x = 0 if sys.platform == 'win32' else os.getuid()", []),
        ("def f():\n    if sys.platform == 'win32':\n        return\n    os.fork()", []),
        ("def f():\n    if sys.platform == 'win32':\n        g()\n    os.fork()", ["os.fork"]),
        ("assert sys.platform != 'win32'\nimport pty", []),
        ("getattr(os, 'O_PATH', 0)", []),
        ("subprocess.run(x, preexec_fn=f)", ["preexec_fn"]),
    ],
)
def test_the_scan_finds_what_it_should(source: str, found: list[str]) -> None:
    assert foreign(source, "win32") == found


# -- files and places ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_text_files_are_opened_with_their_encoding(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and opens_text(node):
            assert "encoding" in {one.arg for one in node.keywords}, ast.unparse(node)


def opens_text(call: ast.Call) -> bool:
    """Whether a call reads or writes text by the encoding of the machine, unless it is named."""
    match call.func:
        case ast.Attribute(attr="read_text"):
            return not call.args
        case ast.Attribute(attr="write_text"):
            return len(call.args) < 2
        case ast.Name(id="open"):
            mode = call.args[1:2]
        case ast.Attribute(attr="open", value=ast.Name(id="path" | "file")):
            mode = call.args[:1]
        case _:
            return False
    mode += [one.value for one in call.keywords if one.arg == "mode"]
    return not any(isinstance(one, ast.Constant) and "b" in str(one.value) for one in mode)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_place_of_one_system_is_written_into_the_code(path: Path) -> None:
    if name_of(path).startswith(OWN_BRANCHES):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert node.value == IN_PATCHES or not node.value.startswith(PLACES), node.value


# -- paths in the spelling of each system --------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (r"\\?\UNC\Server\share\a b.py", "file://server/share/a%20b.py"),
        (r"\\?\D:\deep\x", "file:///d%3A/deep/x"),
        ("C:\\", "file:///c%3A/"),
        ("C:/w/ü.py", "file:///c%3A/w/%C3%BC.py"),
    ],
)
def test_paths_of_windows_have_uris(path: str, uri: str) -> None:
    assert uri_of(PureWindowsPath(path)) == uri


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A", "c:\\"),
        ("file:///C:", "C:\\"),
        ("file:///c%3A/", "c:\\"),
        ("file://wsl%24/Ubuntu/home", None),
        ("file://wsl.localhost/Ubuntu/home", r"\\wsl.localhost\Ubuntu\home"),
    ],
)
def test_a_drive_is_its_root_folder_and_never_the_current_one(uri: str, path: str | None) -> None:
    found = pure_path_of(uri, PureWindowsPath)
    if path is not None:
        assert found == PureWindowsPath(path)
    assert found is None or found.is_absolute()


@pytest.mark.parametrize(
    "path", [r"C:\w\A.py", r"c:\W\a.PY", r"\\server\share\x", r"\\Server\Share\X"]
)
def test_windows_tells_no_case_apart(path: str) -> None:
    assert PureWindowsPath(path) == pure_path_of(uri_of(PureWindowsPath(path)), PureWindowsPath)


def test_the_spellings_of_one_drive_are_one_uri() -> None:
    spelled = (
        "file:///C:/w/a.py",
        "file:///c:/w/a.py",
        "file:///C%3A/w/a.py",
        "file:///c%3a/w/a.py",
    )
    assert len({canonical(uri) for uri in spelled}) == 1


@pytest.mark.parametrize(
    ("params", "folder"),
    [
        ({"rootPath": "C:\\w"}, "file:///c%3A/w"),
        ({"rootPath": "\\\\server\\share"}, "file://server/share/"),
        ({"rootPath": "/Users/me/w"}, "file:///Users/me/w"),
        ({"rootUri": "file:///C:/w"}, "file:///C:/w"),
    ],
)
def test_the_folder_of_an_editor_is_read_in_any_spelling(
    params: dict[str, str], folder: str
) -> None:
    assert read_client(params).folders == (folder,)


def test_a_name_of_a_mac_keeps_its_own_form() -> None:
    decomposed = PurePosixPath("/Users/me/cafe\N{COMBINING ACUTE ACCENT}.py")
    assert pure_path_of(uri_of(decomposed), PurePosixPath) == decomposed


# -- where a folder cannot be held open ----------------------------------------------------------


def test_a_file_is_made_read_replaced_and_kept_without_holding_its_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path, None)
    disk.create(folder, "a.txt", b"one")
    with pytest.raises(FileExistsError):
        disk.create(folder, "a.txt", b"two")
    found = disk.read(folder, "a.txt", 100)
    assert (found.data, found.read_only) == (b"one", False)
    disk.replace(folder, "a.txt", b"two", found)
    assert (tmp_path / "a.txt").read_bytes() == b"two"
    with pytest.raises(disk.Changed):
        disk.replace(folder, "a.txt", b"three", found)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
