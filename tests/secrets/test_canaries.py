"""Keys stand nowhere but where they are used, whatever way they came and whatever fails.

A canary is a key that is looked for afterwards: on the wire, in the log at its most talkative, in
every file of the state folder, in exports, in what the system shows of the process, and in what
commands see.
"""

import json
import os
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cases.case import load
from turnbuckle import config
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.model.endpoint import secrets_in
from turnbuckle.model.failures import Failures
from turnbuckle.testing.completions import answer, chunk, event, failure
from turnbuckle.testing.modelserver import ModelServer, Play, Received, Response
from turnbuckle.testing.witness import Witness, witnessed
from turnbuckle.workspace.paths import uri_of

H06 = load("H06")  # Case H06 plays here: keys and bodies in logs
G09 = load("G09")  # Case G09 plays here: keys in the environment of children
KEY: str = H06["key"]
FILE_TEXT: str = H06["file_text"]
ABSENT: list[str] = H06["expect"]["log_absent"]
PAIR = b64encode(f"me:{KEY}".encode()).decode()

TALKATIVE = {"PYTHONASYNCIODEBUG": "1", "PYTHONFAULTHANDLER": "1", "PYTHONDEVMODE": "1"}

CONFIG = """\
plugins = ["unlucky.py"]
[approvals.commands]
allow = ["env", "cat"]
"""

UNLUCKY = """\
import logging
logger = logging.getLogger(__name__)

def install(ctx):
    async def around(execution, next):
        outcome = await next(execution)
        try:
            raise ValueError(outcome.content)
        except ValueError:
            logger.exception("a plugin has a bad day")
        return outcome
    ctx.hooks.execute.use(around)
"""
"""What a plugin of the person may do by mistake: log an exception that holds a file's text."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way in which a key comes to a server; `url` makes the endpoint of one that listens.

    `sent` says whether requests bear the key, and `given` whether it is handed over by message.
    """

    name: str
    env: dict[str, str] = field(default_factory=dict)
    url: Callable[[str], str] = str
    sent: bool = True
    given: bool = False
    proxied: bool = False


def _with_user(url: str) -> str:
    return url.replace("://", f"://me:{KEY}@")


WAYS = [
    Way("the key of the endpoint", {"TURNBUCKLE_API_KEY": KEY}),
    Way("handed over", given=True),
    Way("a password in the URL", url=_with_user),
    Way("a query of the URL", url=lambda url: f"{url}?sig={KEY}", sent=False),
    Way(
        "the variable of a provider, through a proxy",
        {"OPENAI_API_KEY": KEY},
        url=lambda _: "http://api.openai.com/v1",
        proxied=True,
    ),
    Way(
        "the password of a proxy",
        url=lambda _: "http://models.example/v1",
        sent=False,
        proxied=True,
    ),
    Way("unused", {"OPENAI_API_KEY": KEY, "GH_TOKEN": KEY, "MY_PASSWORD": KEY}, sent=False),
]


def echo(received: Received) -> str:
    """All that a request says of who sent it."""
    return f"no such key: {json.dumps(received.headers)} {received.path}"


def sent(received: Received) -> str:
    """What a request shows to be let in."""
    headers = received.headers
    return headers.get("authorization", headers.get("proxy-authorization", "nobody")).split()[-1]


def text(status: int, kind: str = "text/plain") -> Callable[[Received], Response]:
    """Answers with what it was sent."""

    def play(received: Received) -> Response:
        return Response(
            status=status, headers={"content-type": kind}, chunks=(echo(received).encode(),)
        )

    return play


def in_the_middle(received: Received) -> Response:
    """Begins to answer, and breaks off with an error object."""
    return Response(
        chunks=(chunk({"content": "half"}), event({"error": {"message": echo(received)}}))
    )


def refusal(received: Received) -> Response:
    """Says no, and to whom."""
    return failure(401, {"message": echo(received)})


FAILURES: dict[str, Play | tuple[Play, ...]] = {
    "401 in JSON": refusal,
    "403 in text": text(403),
    "a page": text(200, "text/html"),
    "a kind that holds it": lambda received: Response(
        headers={"content-type": f"image/{sent(received)}"}, chunks=(echo(received).encode(),)
    ),
    "407 of a proxy": text(407),
    "in the middle, and when it is tried again": (in_the_middle, refusal),
    "a header that is none": lambda received: Response(
        status=404,
        headers={"x-echo": sent(received), "content-type": "application/json"},
        chunks=(b"{",),
    ),
}


def canaries() -> list[str]:
    return [KEY, PAIR]


def variables(way: Way, server: ModelServer) -> dict[str, str]:
    """The environment of a server whose key comes this way."""
    root = server.url.removesuffix("/v1")
    proxy = {"HTTP_PROXY": root.replace("://", f"://me:{KEY}@"), "NO_PROXY": ""}
    return {
        "TURNBUCKLE_BASE_URL": way.url(server.url),
        "TURNBUCKLE_MODEL": "m",
        **TALKATIVE,
        **(proxy if way.proxied else {}),
        **way.env,
    }


async def hand_over(witness: Witness, server: ModelServer) -> None:
    """Give the key, after some ways of giving it that are refused."""
    provider = server.url.removeprefix("http://").removesuffix("/v1")
    wrong: list[Any] = [
        {"provider": provider, "key": f"{KEY}\n{KEY}"},
        {"provider": provider, "key": {"it": KEY}},
        {"provider": 5, "key": KEY},
        {"provider": provider, "key": f"{KEY}é"},
        {"provider": "nobody", "key": KEY},
        [KEY],
    ]
    for params in wrong:
        with pytest.raises(ServerRefused):
            await witness.client.request(names.CREDENTIALS, params)
    with pytest.raises(ServerRefused):
        await witness.client.request("turnbuckle/nothing", {"key": KEY})
    witness.client.notify("turnbuckle/nothing", {"key": KEY})
    await witness.client.request(names.CREDENTIALS, {"provider": provider, "key": KEY})


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_case_h06_a_key_stands_nowhere_however_it_came_and_whatever_fails(
    way: Way, tmp_path: Path
) -> None:
    """H06 is played here, with its key and its text of a file."""
    (tmp_path / "config.toml").write_text(CONFIG)
    (tmp_path / "unlucky.py").write_text(UNLUCKY)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "notes.txt").write_text(f"first\n{FILE_TEXT}\n")
    script: list[Play] = [
        *(
            one
            for plays in FAILURES.values()
            for one in (plays if isinstance(plays, tuple) else (plays,))
        ),
        answer(
            "",
            ("c1", "read_file", {"path": "notes.txt"}),
            ("c2", "run_command", {"command": "env"}),
        ),
        answer("Done."),
        answer("Noted."),
    ]
    async with (
        ModelServer(script) as server,
        witnessed(tmp_path, variables(way, server)) as witness,
    ):
        if way.given:
            await hand_over(witness, server)
        session_id = await witness.open()
        for kind in FAILURES:
            result = await witness.turn(session_id, f"try {kind}")
            assert result.end["kind"] == "error", kind
        assert (await witness.turn(session_id, "read the notes")).end["kind"] == "completed"
        await witness.turn(session_id, f"my key is {KEY}, is it not?")
        await witness.client.request(names.SESSION_LIST, {"query": "key"})
        await witness.client.request(names.MODELS, {})
        await witness.export(session_id)
        assert witness.found(canaries()) == []
        # The text of a file is the session's, but not the log's.
        logged = witness.traces()["the log"].decode()
        assert [text for text in ABSENT if text in logged] == []
        assert "a plugin has a bad day" in logged
        bodies = b"".join(request.body for request in server.requests).decode()
        assert FILE_TEXT in bodies
        assert KEY not in bodies
        bearing = [r for r in server.requests if KEY in r.headers.get("authorization", "")]
        pairs = [r for r in server.requests if PAIR in r.headers.get("authorization", "")]
        assert len(bearing + pairs) == (len(server.requests) if way.sent else 0)
    assert witness.found(canaries()) == []


async def test_a_key_does_not_follow_to_where_an_endpoint_points(tmp_path: Path) -> None:
    async with ModelServer() as other, ModelServer() as server:
        codes = (301, 302, 303, 307, 308)
        server.script = [
            Response(status=code, headers={"location": f"{other.url}/chat/completions?k={KEY}"})
            for code in codes
        ]
        env = variables(WAYS[0], server)
        async with witnessed(tmp_path, env) as witness:
            session_id = await witness.open()
            for _ in codes:
                assert (await witness.turn(session_id, "hello")).end["kind"] == "error"
            assert witness.found([KEY]) == []
        assert len(server.requests) == len(codes)
        assert other.requests == []


@pytest.mark.parametrize("odd", ["\n", "\r\nX-More: 1", "é", "\u200b", "\x1b[2J"], ids=ascii)
async def test_a_key_that_cannot_be_sent_is_not_shown_either(odd: str, tmp_path: Path) -> None:
    env = {"TURNBUCKLE_API_KEY": f"{KEY}{odd}{KEY}"}
    async with ModelServer() as server:
        async with witnessed(tmp_path, variables(WAYS[0], server) | env) as witness:
            session_id = await witness.open()
            result = await witness.turn(session_id, "hello")
            assert "cannot be sent" in result.end["failure"]["message"]
            assert witness.found([KEY]) == []
        assert server.requests == []


async def test_keys_in_settings_are_refused_without_being_repeated(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[model]\napi_key = "{KEY}"\n')
    options = {"turnbuckle": {"settings": {"model": {"apiKey": KEY}, "max_steps": KEY}}}
    env = {"TURNBUCKLE_MAX_STEPS": KEY, "TURNBUCKLE_BASE_URL": f"ftp://me:{KEY}@x/v1"}
    async with witnessed(tmp_path, env, options) as witness:
        session_id = await witness.open()
        result = await witness.turn(session_id, "hello")
        assert "keys are kept in no file" in result.end["failure"]["message"]
        assert witness.found([KEY]) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
async def test_a_crash_tells_where_it_was_and_no_values(tmp_path: Path) -> None:
    async with ModelServer([Response(chunks=(chunk({"content": "half"}),), end="hang")]) as server:
        env = variables(WAYS[0], server) | {"PYTHONFAULTHANDLER": "1"}
        async with witnessed(tmp_path, env) as witness:
            session_id = await witness.open()
            # All is imported once this is answered: a thread that is at work cannot be told of.
            uri = uri_of(tmp_path / "work" / "a.py")
            witness.editor.open(uri, "x = 1\n")
            await witness.editor.code_actions(uri, 0, 1)
            question = witness.send(session_id, f"hello, {KEY}")
            await server.received(1)
            os.kill(witness.pid, signal.SIGABRT)
            with pytest.raises(NoAnswer):
                await question.answer()
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Current thread" in (tmp_path / "log").read_bytes()
    assert KEY.encode() not in left


# -- what commands and the system see ----------------------------------------------------------


async def seen_by_a_command(folder: Path, env: dict[str, str]) -> tuple[dict[str, str], Witness]:
    """The variables that a command of the agent has, and the server's traces."""
    (folder / "config.toml").write_text(
        'approvals.commands.allow = ["env"]\ncommands.environment = ["MY_FLAG", "GH_PASSED_TOKEN"]\n'
    )
    script = [answer("", ("c1", "run_command", {"command": "env"})), answer("Done.")]
    async with ModelServer(script) as server:
        env = {"TURNBUCKLE_BASE_URL": server.url, "TURNBUCKLE_MODEL": "m"} | env
        async with witnessed(folder, env) as witness:
            await witness.turn(await witness.open(), "look around")
            assert witness.found(["CANARY"]) == []
        result = server.requests[1].json["messages"][-1]["content"]
    lines = [line.partition("=") for line in result.splitlines() if "=" in line]
    return {name: value for name, _, value in lines}, witness


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX variables")
async def test_case_g09_commands_see_allowed_names_only_and_never_a_key(tmp_path: Path) -> None:
    """G09 is played here: keys of the server's environment in that of a child."""
    given = dict(G09["server_env"])
    given["PATH"] = os.pathsep.join((given["PATH"], os.environ["PATH"]))
    keys = {f"{known.variable}": "k-9" for known in config.KNOWN}
    seen, _ = await seen_by_a_command(tmp_path, given | keys | {"MY_FLAG": "up", "OTHER": "down"})
    assert [name for name in (*G09["expect"]["absent"], *keys, "OTHER") if name in seen] == []
    assert [name for name in G09["expect"]["present"] if name not in seen] == []
    assert seen["MY_FLAG"] == "up"
    assert not [
        name for name in seen if name.startswith("TURNBUCKLE") and name != "TURNBUCKLE_CALL"
    ]
    assert not {"k-1", "k-2", "k-3", "k-9"} & set(seen.values())


def held_by(pid: int) -> Iterator[Path]:
    """What a process has open; what it closes meanwhile is left out."""
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            yield path.readlink()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_the_block_of_the_environment_keeps_no_secret_and_the_server_works(
    tmp_path: Path,
) -> None:
    secret = {name: f"{KEY}-{name}" for name in ("OPENAI_API_KEY", "GH_TOKEN", "MY_PASSWORD")}
    async with ModelServer([answer("Done.")]) as server:
        plain = {"LC_PLAIN": "plain", "TURNBUCKLE_BASE_URL": server.url, "TURNBUCKLE_MODEL": "m"}
        env = plain | secret | {"TURNBUCKLE_API_KEY": KEY}
        async with witnessed(tmp_path, env) as witness:
            block = Path(f"/proc/{witness.pid}/environ").read_bytes()
            assert KEY.encode() not in block
            assert {os.fsencode(f"{n}={v}") for n, v in plain.items()} <= set(block.split(b"\0"))
            assert not [place for place in held_by(witness.pid) if place.is_relative_to("/proc")]
            await witness.turn(await witness.open(), "hello")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_so_it_is_where_a_port_is_served_and_the_token_is_not_logged(tmp_path: Path) -> None:
    argv = [sys.executable, "-P", "-m", "turnbuckle", "serve", "--tcp", "127.0.0.1:0"]
    env = {"TURNBUCKLE_API_KEY": KEY, "TURNBUCKLE_LOG": "debug", "PATH": os.environ["PATH"]}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    with subprocess.Popen(
        argv, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        announced = json.loads(server.stdout.readline())
        shown = [Path(f"/proc/{server.pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
        server.terminate()
        _, logged = server.communicate(timeout=30)
    assert KEY.encode() not in b"".join((*shown, logged))
    assert announced["token"].encode() not in b"".join((*shown, logged))


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("http://me:pass1234@host/v1", ["pass1234", b64encode(b"me:pass1234").decode()]),
        ("http://token-9@host/v1", ["token-9", b64encode(b"token-9:").decode()]),
        ("http://host/v1?sig=a%2Bbc9&api-version=2024-05-01", ["a+bc9"]),
        ("me:pass1234@proxy:3128", ["pass1234", b64encode(b"me:pass1234").decode()]),
        ("http://host/v1", []),
        ("http://[half", []),
    ],
)
def test_what_in_a_url_opens_something_is_known(url: str, secrets: list[str]) -> None:
    assert sorted(secrets_in(url)) == sorted(secrets)
    said = Failures("P", others=secrets_in(url)).refused(401, f"no: {' '.join(secrets)} a%2Bbc9")
    assert not [one for one in secrets if one in str(said)]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_terminal_client_hides_its_keys_too_and_hands_them_on(tmp_path: Path) -> None:
    looks = """
import os, pathlib, subprocess, sys
from turnbuckle.__main__ import main
sys.argv = ["turnbuckle", "--version"]
try:
    main()
except SystemExit:
    print(os.environ["OPENAI_API_KEY"], pathlib.Path("/proc/self/environ").read_bytes())
    print(subprocess.check_output(["env"]))
"""
    env = {"OPENAI_API_KEY": KEY, "PATH": os.environ["PATH"]}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", looks],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    _, ours, theirs = done.stdout.splitlines()
    assert ours.startswith(f"{KEY} ")
    assert ours.count(KEY) == 1
    assert theirs.count(KEY) == 1
