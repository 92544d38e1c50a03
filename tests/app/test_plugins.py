"""The plugins of a running server: from the person's configuration, and loaded again in between."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

SAYS = """\
from dataclasses import replace

def install(ctx):
    async def layer(request, next):
        return await next(replace(request, system=request.system + " {word}"))
    ctx.hooks.request.use(layer)
"""


def configure(folder: Path, plugins: Sequence[str]) -> None:
    listed = ", ".join(f"'{one}'" for one in plugins)
    (folder / "config.toml").write_text(f"plugins = [{listed}]\n")


def writes(folder: Path, **words: str) -> None:
    for name, word in words.items():
        (folder / f"{name}.py").write_text(SAYS.replace("{word}", word))


def ends(model: Scripted) -> list[str]:
    """The words that plugins put at the end of each request's system prompt."""
    return [
        request.system.rpartition("\n")[2].partition(".")[2].strip() for request in model.requests
    ]


@pytest.fixture(autouse=True)
def _no_code_of_a_plugin_stays() -> Iterator[None]:
    finders = list(sys.meta_path)
    yield
    assert not [name for name in sys.modules if name.startswith("turnbuckle_plugin")]
    assert sys.meta_path == finders


async def reload(server: Served) -> Any:  # Any: JSON
    return await server.editor.execute(names.RELOAD_PLUGINS_COMMAND)


async def test_the_plugins_of_the_configuration_are_in_every_session(tmp_path: Path) -> None:
    writes(tmp_path, a="one", b="two")
    configure(tmp_path, ["a.py", str(tmp_path / "b.py")])
    model = Scripted([say("hi"), say("hi")])
    async with served(model, tmp_path) as server:
        for _ in range(2):
            await server.turn(await server.open(), "go")
        assert server.editor.screen.messages == []
    assert ends(model) == ["one two"] * 2


async def test_an_editor_can_name_plugins_in_its_settings(tmp_path: Path) -> None:
    writes(tmp_path, a="one")
    model = Scripted([say("hi")])
    options = {"turnbuckle": {"settings": {"plugins": [str(tmp_path / "a.py")]}}}
    async with served(model, tmp_path, options=options) as server:
        await server.turn(await server.open(), "go")
    assert ends(model) == ["one"]


async def test_plugins_that_cannot_be_loaded_are_named_and_the_rest_is_there(
    tmp_path: Path,
) -> None:
    writes(tmp_path, a="one", c="three")
    (tmp_path / "b.py").write_text("def install(ctx)\n")
    configure(tmp_path, ["a.py", "b.py", "c.py", "gone.py", "other/a.py", "nobody-offers-this"])
    model = Scripted([say("hi")])
    async with served(model, tmp_path) as server:
        await server.turn(await server.open(), "go")
        messages = [one.partition(": ")[2] for one in server.editor.screen.messages]
    assert ends(model) == ["one three"]
    assert [message.partition(": ")[0] for message in messages] == [
        "the plugin b is left out",
        "the plugin gone is left out",
        "the plugin other/a.py is left out",
        "the plugin nobody-offers-this is left out",
    ]
    assert "SyntaxError: expected ':' (b.py, line 1)" in messages[0]


async def test_an_install_that_fails_is_named_once_and_the_sessions_go_on(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def install(ctx):\n    ctx.tols\n")
    writes(tmp_path, good="good")
    configure(tmp_path, ["bad.py", "good.py"])
    model = Scripted([say("hi"), say("hi")])
    async with served(model, tmp_path) as server:
        for _ in range(2):
            result = await server.turn(await server.open(), "go")
            assert result.end["kind"] == "completed"
        messages = server.editor.screen.messages
    assert ends(model) == ["good", "good"]
    assert len(messages) == 1
    assert "the plugin bad is left out: AttributeError: " in messages[0]
    assert messages[0].endswith("(bad.py, line 2)")


async def test_a_changed_file_takes_effect_at_the_next_step_in_all_sessions(tmp_path: Path) -> None:
    writes(tmp_path, a="one", b="two")
    configure(tmp_path, ["a.py", "b.py"])
    reached, go_on = anyio.Event(), anyio.Event()

    async def hold(_arguments: JsonObject, _go: Go) -> str:
        reached.set()
        await go_on.wait()
        return "held"

    model = Scripted([say("hi"), say("", ("1", "hold", {})), say("done"), say("hi"), say("hi")])
    async with served(model, tmp_path, tools=[tool("hold", hold)]) as server:
        first, second = await server.open(), await server.open()
        await server.turn(first, "go")
        question = server.send(first, "go on")
        await reached.wait()
        writes(tmp_path, a="ONE")
        result = await reload(server)
        go_on.set()
        await server.answer(question)
        await server.turn(second, "go")
        await server.turn(await server.open(), "go")
        messages = server.editor.screen.messages
    assert result == {"outcome": "reloaded", "message": "plugins loaded again: a, b"}
    assert messages == ["Turnbuckle: plugins loaded again: a, b"]
    assert ends(model) == ["one two", "one two", "ONE two", "ONE two", "ONE two"]


async def test_a_file_that_is_wrong_now_stays_as_it_was_until_it_is_mended(tmp_path: Path) -> None:
    writes(tmp_path, a="one", b="two")
    configure(tmp_path, ["a.py", "b.py"])
    model = Scripted([say("hi")] * 3)
    async with served(model, tmp_path) as server:
        session = await server.open()
        (tmp_path / "a.py").write_text("def install(ctx):")
        writes(tmp_path, b="TWO")
        result = await reload(server)
        await server.turn(session, "go")
        writes(tmp_path, a="mended")
        again = await reload(server)
        await server.turn(session, "go")
        messages = server.editor.screen.messages
    assert result["outcome"] == "failed"
    assert result["message"] == "plugins loaded again: b; as before: a"
    assert "the plugin a stays as it was: IndentationError" in messages[0]
    assert again["outcome"] == "reloaded"
    assert ends(model) == ["one TWO", "mended TWO"]


async def test_the_list_itself_is_read_again(tmp_path: Path) -> None:
    writes(tmp_path, a="one", b="two", c="three")
    configure(tmp_path, ["a.py", "b.py"])
    model = Scripted([say("hi")] * 3)
    async with served(model, tmp_path) as server:
        session = await server.open()
        configure(tmp_path, ["c.py", "a.py"])
        await reload(server)
        await server.turn(session, "go")
        configure(tmp_path, [])
        result = await reload(server)
        await server.turn(session, "go")
    assert result["message"] == "the configuration names no plugins"
    assert ends(model) == ["three one", ""]


async def test_a_configuration_that_is_wrong_now_changes_nothing(tmp_path: Path) -> None:
    writes(tmp_path, a="one")
    configure(tmp_path, ["a.py"])
    model = Scripted([say("hi")])
    async with served(model, tmp_path) as server:
        session = await server.open()
        (tmp_path / "config.toml").write_text("plugins = [")
        result = await reload(server)
        await server.turn(session, "go")
    assert result["outcome"] == "failed"
    assert "the plugins stay as they are" in result["message"]
    assert ends(model) == ["one"]


async def test_an_install_that_throws_after_a_change_is_left_out_and_said(tmp_path: Path) -> None:
    writes(tmp_path, a="one", b="two")
    configure(tmp_path, ["a.py", "b.py"])
    model = Scripted([say("hi")])
    async with served(model, tmp_path) as server:
        session = await server.open()
        (tmp_path / "a.py").write_text("def install(ctx):\n    raise OSError('no')\n")
        result = await reload(server)
        await server.turn(session, "go")
    assert result == {
        "outcome": "failed",
        "message": "plugins loaded again: b; left out: a",
    }
    assert ends(model) == ["two"]


async def test_reloading_with_a_wrong_argument_says_so(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        with pytest.raises(Exception, match="give one object, or none"):
            await server.editor.execute(names.RELOAD_PLUGINS_COMMAND, {}, {})
