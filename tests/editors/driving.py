"""Real editors as processes, driven by scenarios in their own language; and what they leave."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import orjson
import pytest

from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer, Play, Received

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples" / "editors"
LIMIT = 60
"""Seconds after which an editor that does not end is killed."""

NVIM = shutil.which("nvim", path=Path(sys.executable).parent) or shutil.which("nvim")
EMACS = shutil.which("emacs")


@dataclass(frozen=True, slots=True)
class Client:
    """An editor, or one of its language clients.

    `argv` begins a scenario of this name; `example` is the configuration that it loads.
    """

    name: str
    argv: Callable[[str], list[str]]
    example: str


def _neovim(scenario: str) -> list[str]:
    assert NVIM is not None, "Neovim is not installed: pip install -e '.[dev]'"
    script = HERE / "neovim" / f"{scenario}.lua"
    return [NVIM, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}"]


def _emacs(client: str) -> Callable[[str], list[str]]:
    def argv(scenario: str) -> list[str]:
        assert EMACS is not None, "Emacs is not installed: packages emacs-nox, elpa-*"
        own = HERE / "emacs"
        scripts = (
            own / "driver.el", own / "clients" / f"{client}.el", own / "scenarios" / f"{scenario}.el"
        )  # fmt: skip
        # Nothing is compiled behind the back of what is measured here.
        native = "(setq native-comp-deferred-compilation nil load-prefer-newer nil)"
        loads = [part for script in scripts for part in ("-l", str(script))]
        return [EMACS, "-Q", "--batch", "--eval", native, *loads]

    return argv


NEOVIM = Client("neovim", _neovim, "init.lua")
EGLOT = Client("eglot", _emacs("eglot"), "eglot.el")
LSP_MODE = Client("lsp-mode", _emacs("lsp-mode"), "lsp-mode.el")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a scenario left: what the model was asked, and the log of the sessions."""

    requests: Sequence[Received]
    log: Sequence[JsonObject]

    def facts(self, type_: str) -> list[JsonObject]:
        """The data of all facts of a type."""
        return [fact["data"] for fact in self.log if fact["type"] == type_]

    def told(self, request: int, message: int = -1) -> str:
        """What the model read in one of its requests; -1 is the last of either."""
        text = self.requests[request].json["messages"][message]["content"]
        assert isinstance(text, str)
        return text

    @property
    def edits(self) -> list[object]:
        """What came of each edit that was sent."""
        return [applied["outcome"] for applied in self.facts("edit/applied")]


async def drive(client: Client, scenario: str, work: Path, *script: Play) -> Ran:
    """Run a scenario against a scripted model; it must end by itself and with success."""
    async with ModelServer(script) as model:
        env = environment(work.parent, client) | {"TURNBUCKLE_BASE_URL": model.url}
        process = await anyio.open_process(
            client.argv(scenario), cwd=work, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        said = b""
        async with process:
            with anyio.move_on_after(LIMIT):
                assert process.stderr is not None
                said = b"".join([part async for part in process.stderr])
                await process.wait()
            if process.returncode is None:
                process.kill()
        if process.returncode != 0:
            pytest.fail(f"{scenario}: {process.returncode}\n{said.decode(errors='replace')}")
        return Ran(tuple(model.requests), stored(work))


def environment(home: Path, client: Client) -> dict[str, str]:
    """What an editor and its server may see; nothing of whoever runs the tests."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TURNBUCKLE_")}
    places = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME")
    folder = home / "editor"
    folder.mkdir(exist_ok=True)
    return own | {
        **{name: str(folder) for name in places},
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), own.get("PATH", ""))),
        "DRIVER": str(HERE / "neovim" / "driver.lua"),
        "EXAMPLE": str(EXAMPLES / client.example),
        "TURNBUCKLE_STATE_DIR": str(home / "state"),
        "TURNBUCKLE_CONFIG": str(home / "no-config.toml"),
        "TURNBUCKLE_API_KEY": "key-of-the-tests",
        "TURNBUCKLE_MODEL": "played",
    }


def workspace(home: Path, code: str) -> Path:
    """A folder for an editor to work in, with a file that it opens."""
    folder = home / "work"
    folder.mkdir()
    (folder / "code.py").write_text(code, newline="\n")
    return folder


def stored(work: Path) -> list[JsonObject]:
    """The facts of all sessions, as they stand on disk."""
    files = (work.parent / "state" / "sessions").glob("**/*.jsonl")
    return [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]


def edit(*edits: tuple[str, str], path: str = "code.py") -> Play:
    """The model edits a file, piece by piece."""
    pieces = [{"old": old, "new": new} for old, new in edits]
    return answer("", ("2", "edit_file", {"path": path, "edits": pieces}))


def read(path: str = "code.py") -> Play:
    """The model reads a file."""
    return answer("", ("1", "read_file", {"path": path}))


def run(command: str) -> Play:
    """The model runs a command."""
    return answer("", ("3", "run_command", {"command": command}))
