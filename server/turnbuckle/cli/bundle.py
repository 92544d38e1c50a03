"""What a report of a fault needs, in one file: what the doctor found, and no key."""

import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path

from anyio import to_thread

from turnbuckle import config
from turnbuckle.cli.doctor import LIMIT, doctor
from turnbuckle.cli.evidence import shapes, stored_text, system
from turnbuckle.cli.exits import NOT_RUN
from turnbuckle.cli.lines import Line, line
from turnbuckle.cli.places import short
from turnbuckle.cli.report import Report, as_json
from turnbuckle.cli.stage import Stage
from turnbuckle.cli.stored import the_file
from turnbuckle.cli.talk import Server
from turnbuckle.config import ConfigError
from turnbuckle.session.reading import Unreadable
from turnbuckle.session.redacting import redacted
from turnbuckle.workspace.variables import holds_secret

TAIL = 256 * 1024
"""How much of the server's log is in it, in bytes."""

_ABOUT = """\
A report of `turnbuckle doctor --bundle`. Look at it before you hand it on; it is a plain zip file.

{members}

Keys, tokens and passwords are replaced by [redacted: …], and your home folder by ~.
Of sessions there are only numbers and the names of kinds of facts, unless you asked for one whole.
Nothing else is in it: no file of a workspace, no prompt, no answer, and of variables only settings.
"""


class NotWritten(Exception):
    """There is no bundle; the message says why."""


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    purpose: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Where a bundle goes, and the session that is to be in it with all that was said."""

    file: Path
    env: Mapping[str, str]
    session_id: str | None = None

    def require_room(self) -> None:
        """Find out first what would stop it at the end.

        Raises:
            NotWritten: something stands there already, or there is no such session.
        """
        if os.path.lexists(self.file):
            raise NotWritten(f"{self.file} is there already; name another file")
        if not self.file.absolute().parent.is_dir():
            raise NotWritten(f"there is no folder {self.file.absolute().parent}")
        if self.session_id is not None:
            try:
                the_file(config.state_dir(self.env), self.session_id)
            except Unreadable as error:
                raise NotWritten(str(error)) from error

    def write(self, report: Report, log: str) -> list[Line]:
        """Write it, and say what is in it; `log` is what the server wrote to standard error.

        Raises:
            NotWritten: it cannot be; nothing is left of it then.
        """
        clean = _Clean(self.env)
        members = [
            _Member(one.name, one.purpose, clean(one.text)) for one in self._members(report, log)
        ]
        listing = "\n".join(f"  {one.name:<14} {one.purpose}" for one in members)
        members.insert(0, _Member("about.txt", "this list", _ABOUT.format(members=listing)))
        _write(self.file, members)
        said = [line(f"{short(self.file.absolute())} was written; look at it before you send it:")]
        return said + [
            line(f"  {one.name:<14} {len(one.text.encode()):>9,} bytes  {one.purpose}")
            for one in members
        ]

    def _members(self, report: Report, log: str) -> Iterator[_Member]:
        what = "what the doctor found: settings, where each came from, models, what to do"
        yield _Member("report.json", what, _json(as_json(report)))
        yield _Member(
            "system.json", "versions, and which variables are set", _json(system(self.env))
        )
        yield _Member("server.log", "the end of the server's log during this check", log)
        state = config.state_dir(self.env)
        yield _Member("sessions.json", "sizes, counts and ends of sessions", _json(shapes(state)))
        if self.session_id is not None:
            path = the_file(state, self.session_id)
            yield _Member(f"{path.stem}.jsonl", "the session that you asked for", stored_text(path))


async def doctor_with_bundle(
    stage: Stage,
    server: Server,
    *,
    env: Mapping[str, str],
    bundle: Bundle,
    limit: float = LIMIT,
    request: bool = True,
    json: bool = False,
) -> int:
    """Run the doctor, and write a bundle of what it found; gives the doctor's exit code.

    Where there can be no bundle, nothing is run, and the code says so.
    """
    tell = stage.screen.complain if json else stage.screen.show
    found: list[Report] = []
    try:
        bundle.require_room()
        with tempfile.TemporaryFile() as log:
            code = await doctor(
                stage,
                replace(server, stderr=log.fileno()),
                env={**env, "TURNBUCKLE_LOG": "debug"},
                limit=limit,
                request=request,
                json=json,
                found=found.append,
            )
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL))
            said = log.read().decode("utf-8", "replace")
        tell(await to_thread.run_sync(bundle.write, found[-1], said))
    except NotWritten as error:
        stage.screen.complain([line(str(error), "bad")])
        return NOT_RUN
    return code


class _Clean:
    """Takes out what is secret, and says `~` for the home folder."""

    def __init__(self, env: Mapping[str, str]) -> None:
        # Imported late: it brings the HTTP client.
        from turnbuckle.model.endpoint import proxy_secrets, secrets_in

        known = [value for name, value in env.items() if holds_secret(name, value)]
        # What is wrong with the settings is in the report, without its values.
        with suppress(ConfigError):
            known += secrets_in(config.load(env).model.base_url or "")
        known += secrets_in(*known)
        known += proxy_secrets()
        self._held = sorted({one.strip() for one in known}, key=len, reverse=True)
        self._home = {str(Path.home()), _escaped(str(Path.home())), Path.home().as_posix()}

    def __call__(self, text: str) -> str:
        text = redacted(text, self._held)
        for home in self._home:
            text = text.replace(home, "~") if len(home) > 1 else text
        return text


def _escaped(text: str) -> str:
    return dumps(text)[1:-1]


def _json(value: object) -> str:
    return dumps(value, indent=1, ensure_ascii=False)


def _write(file: Path, members: list[_Member]) -> None:
    try:
        # For this person alone, and never over what is there.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise NotWritten(f"{file} cannot be written: {error.strerror}") from error
    try:
        with (
            os.fdopen(descriptor, "wb") as raw,
            zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for one in members:
                archive.writestr(one.name, one.text)
    except OSError as error:
        file.unlink(missing_ok=True)
        raise NotWritten(f"{file} cannot be written: {error.strerror}") from error
