"""What a child is told: a shell, and an environment of allowed names only."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from turnbuckle.workspace.process.programs import find_program, of_windows, only_absolute
from turnbuckle.workspace.variables import OURS, is_provider_key

MARK = "TURNBUCKLE_CALL"
"""Children inherit this name, by whose value those that left their group are found."""

ALLOWED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "SHELL",
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT",
    "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "USERNAME",
    "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
    "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
})  # fmt: skip
"""Names that a child inherits, beside those that start with `LC_`. None of them holds a key."""

# Nobody sits before a child: what would open an editor, a pager or a prompt goes on without.
_ALONE = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}


def may_inherit(name: str) -> bool:
    """Whether the person may have commands inherit a variable of this name."""
    if not name or "=" in name or "\0" in name or name.upper() in OURS | {MARK}:
        return False
    return not (is_provider_key(name) or name.upper().startswith("TURNBUCKLE_"))


def inherited(ours: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Those of our variables that the person wants commands to inherit; never a provider's key."""
    return {name: ours[name] for name in names if may_inherit(name) and name in ours}


def child_environment(
    ours: Mapping[str, str], cwd: Path, mark: str, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a child that runs in `cwd`; `extra` is what the person added to it."""
    inherited = {
        # What a rule allows by its name must not be found in the workspace first.
        name: only_absolute(value) if name.upper() == "PATH" else value
        for name, value in ours.items()
        if name.upper() in ALLOWED or name.startswith("LC_")
    }
    return inherited | _ALONE | {"PWD": str(cwd)} | dict(extra or {}) | {MARK: mark}


@dataclass(frozen=True, slots=True)
class Shell:
    """What reads a command line: its name for people and models, and how it is started."""

    name: str
    start: tuple[str, ...]

    def argv(self, command: str) -> tuple[str, ...]:
        """The arguments that run a command line."""
        return (*self.start, command)


def find_shell() -> Shell:
    """bash where there is one, `/bin/sh` elsewhere, and cmd on Windows."""
    if os.name == "nt":
        return Shell("cmd", (os.environ.get("COMSPEC") or of_windows("cmd.exe"), "/d", "/s", "/c"))
    bash = find_program("bash")
    return Shell("bash", (bash, "-c")) if bash else Shell("sh", ("/bin/sh", "-c"))
