"""The server's own log holds no secret, whoever writes to it and however."""

import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from turnbuckle import config
from turnbuckle.app.logs import Discreet
from turnbuckle.session.redacting import forms_of
from turnbuckle.testing.strategies import soak
from turnbuckle.workspace.concealing import conceal
from turnbuckle.workspace.process import Output, run_argv
from turnbuckle.workspace.process.environment import ALLOWED, inherited, may_inherit
from turnbuckle.workspace.variables import OURS, holds_secret, is_provider_key

KEY = "sk-CANARY-7f3a"
TOKEN = "ghp" + "_" + "Ab3dE5gH1jK2mN4pQ6rS7tU8vW9xY0zA1bC2"


class Shaped(BaseModel):
    """Something that says what it was given when that is wrong."""

    number: int


def line_of(message: str, *args: object, error: BaseException | None = None) -> str:
    """The line that a record becomes."""
    info = (type(error), error, error.__traceback__) if error is not None else None
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, message, args, info)
    return Discreet(lambda: [KEY]).format(record)


@pytest.mark.parametrize("args", [(KEY,), ({"authorization": f"Bearer {KEY}"},), ([TOKEN],)])
def test_a_secret_in_a_message_is_taken_out(args: tuple[object, ...]) -> None:
    line = line_of("sent %s", *args)
    assert "redacted" in line
    assert KEY not in line
    assert TOKEN not in line


keys = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40)


@settings(max_examples=soak(300))
@given(keys.filter(lambda key: len(set(key)) > 3), st.text(max_size=30), st.text(max_size=30))
def test_a_key_is_found_in_whatever_form_a_message_shows_it(
    key: str, before: str, after: str
) -> None:
    value = before + key + after
    shown = [
        value,
        repr({"key": value}),
        json.dumps([value]),
        json.dumps([value], ensure_ascii=False),
        f"http://host/?q={quote(value, safe='')}",
    ]
    for said in shown:
        record = logging.LogRecord("x", logging.DEBUG, __file__, 1, "%s", (said,), None)
        line = Discreet(lambda: [key]).format(record)
        assert not [form for form in forms_of(key) if form in line], line
        assert "[redacted: " in line


def test_an_exception_is_told_by_its_type_and_place_never_by_its_text() -> None:
    text, body = "-".join(["TEXT", "OF", "FILE"]), "-".join(["A", "BODY"])
    try:
        try:
            Shaped.model_validate({"number": text})
        except ValidationError as error:
            raise RuntimeError(KEY + body) from error
    except RuntimeError as error:
        line = line_of("it failed", error=error)
    assert "RuntimeError" in line
    assert "ValidationError" in line
    assert Path(__file__).name in line
    assert not [said for said in (KEY, text, body) if said in line]


@pytest.mark.parametrize(
    "message",
    [
        "Executing <Handle Source._arrived(b'a-body')> took 0.341 seconds",
        "Exception in callback Link.data_received(b'a-body')\nhandle: <Handle x(b'a-body')>",
        "Task exception was never retrieved\nfuture: <Task result=b'a-body'>",
    ],
)
def test_the_event_loop_shows_no_arguments(message: str) -> None:
    record = logging.LogRecord("asyncio", logging.ERROR, __file__, 1, message, (), None)
    line = Discreet(tuple).format(record)
    assert "a-body" not in line
    assert message[:9] in line
    assert record.getMessage() == message


def test_what_another_handler_cached_of_an_exception_is_not_used() -> None:
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it failed", (), None)
    record.exc_text = f"Traceback: {KEY}"
    assert KEY not in Discreet(tuple).format(record)


UNCAUGHT = """
import gc, sys, threading
from turnbuckle.app.logs import log_to_standard_error
log_to_standard_error({})

class Bad:
    def __del__(self):
        raise ValueError("TEXT-OF-IT")

def fail():
    raise ValueError("TEXT-OF-IT")

Bad()
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_what_nothing_catches_is_told_without_its_text() -> None:
    env = {"PYTHONPATH": ":".join(sys.path) if sys.platform != "win32" else ";".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", UNCAUGHT], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == 1
    for said in ("could not be raised", "a thread ended", "the server ends"):
        assert said in done.stderr
    assert "TEXT-OF-IT" not in done.stderr.replace('raise ValueError("TEXT-OF-IT")', "")
    assert threading.excepthook is not None


# -- variables ---------------------------------------------------------------------------------


def test_every_variable_that_a_key_is_read_from_is_known() -> None:
    names = {config.API_KEY, *(known.variable for known in config.KNOWN)}
    assert names | {"TURNBUCKLE_BASE_URL"} == OURS
    for name in names:
        assert is_provider_key(name)
        assert holds_secret(name, "x")
        assert not may_inherit(name)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GH_TOKEN", "x", True),
        ("DB_PASSWORD", "x", True),
        ("AWS_SECRET_ACCESS_KEY", "x", True),
        ("npm_config_authToken", "x", True),
        ("SENTRY_DSN", "x", True),
        ("DATABASE_URL", "postgres://me:pw@host/db", True),
        ("https_proxy", "me:pw@proxy:3128", True),
        ("https_proxy", "proxy:3128", False),
        ("SOME_URL", "https://host/path?sig=x", True),
        ("ANYTHING", TOKEN, True),
        ("GH_TOKEN", "", False),
        ("PATH", "/usr/bin:/bin", False),
        ("KEYBOARD", "us", False),
        ("PWD", "/home/me", False),
        ("MONKEY", "george", False),
        ("PLAIN_URL", "https://host/path", False),
        ("TURNBUCKLE_CALL", "0123456789abcdef", False),
        ("LC_ALL", "C.UTF-8", False),
    ],
)
def test_variables_that_hold_secrets_are_known(name: str, value: str, secret: bool) -> None:
    assert holds_secret(name, value) is secret


def test_nothing_that_commands_inherit_unasked_is_a_secret_by_its_name() -> None:
    assert not [name for name in ALLOWED if holds_secret(name, "x")]


@pytest.mark.parametrize(
    "name",
    [*sorted(OURS), "ANTHROPIC_API_KEY", "openai_api_key", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY",
     "TURNBUCKLE_STATE_DIR", "TURNBUCKLE_CALL", "", "A=B", "A\0B"],
    ids=ascii,
)  # fmt: skip
def test_what_no_command_may_inherit_is_not_handed_on_even_if_it_is_named(name: str) -> None:
    assert not may_inherit(name)
    assert inherited({name: "x"}, [name]) == {}


def test_what_the_person_names_is_handed_on() -> None:
    ours = {"GH_TOKEN": "a", "DATABASE_URL": "b", "MORE": "c"}
    named = ["GH_TOKEN", "DATABASE_URL", "ABSENT", "OPENAI_API_KEY"]
    assert inherited(ours, named) == {"GH_TOKEN": "a", "DATABASE_URL": "b"}


def test_a_name_that_may_not_be_inherited_is_a_fault_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('commands.environment = ["GH_TOKEN", "OPENAI_API_KEY"]\n')
    with pytest.raises(config.ConfigError, match=r"commands.environment.1: .*handed on to no"):
        config.read({"TURNBUCKLE_CONFIG": str(file)})


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX programs")
async def test_a_program_that_a_tool_runs_for_itself_sees_no_key_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "GH_TOKEN", "ANYTHING_ELSE"):
        monkeypatch.setenv(name, KEY)
    # Nor does it find one in whatever stands between it and the server.
    look = "env; cat /proc/$PPID/environ 2>/dev/null"
    finished = await run_argv(("sh", "-c", look), cwd=tmp_path, timeout=30, output=Output())
    assert "PATH=" in finished.output.text
    assert KEY not in finished.output.text


def test_concealing_takes_out_what_we_read_ourselves_and_leaves_the_rest() -> None:
    before = {
        "OPENAI_API_KEY": KEY,
        "GH_TOKEN": KEY,
        "TURNBUCKLE_BASE_URL": "http://h/v1",
        "A": "b",
    }
    environ = dict(before)
    assert conceal(environ, keep=False) == before
    assert environ == {name: before[name] for name in ("GH_TOKEN", "TURNBUCKLE_BASE_URL", "A")}
    environ = dict(before)
    assert conceal(environ, keep=True) == before
    assert environ == before
