"""A chat as a person has it: on a terminal, with the real server and a model that is played."""

import asyncio
import os
import re
import signal
import stat
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

from cli.watched import chatting
from turnbuckle.testing.completions import DONE, answer, chunk
from turnbuckle.testing.modelserver import Received, Response

PASTED = "\x1b[200~{}\x1b[201~"
CTRL_C, CTRL_D, CTRL_S, UP = "\x03", "\x04", "\x13", "\x1b[A"


def held(gate: asyncio.Event, begins: str, ends: str) -> Response:
    """An answer whose end comes when the gate opens."""
    first, last = chunk({"content": begins}), chunk({"content": ends})
    return Response(chunks=(first, gate, last, chunk(finish="stop"), DONE))


def said(request: Received) -> list[str]:
    """What the person said, as the model sees it."""
    return [m["content"] for m in request.json["messages"] if m["role"] == "user"]


async def test_markdown_is_shown_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    text = (
        "# Plan\n\nUse `make` and **wait**, see [it](http://a/b) <b>\n\n```\nx = 1\n```\n\n- one\n"
    )
    async with chatting(tmp_path, [answer(text)]) as (chat, _):
        await chat.ready()
        chat.send("hello\r")
        await chat.until("1 step, 15 tokens")
        shown = [row for row in chat.all.split("\n") if row]
        end = next(number for number, row in enumerate(shown) if row.startswith("1 step"))
        assert shown[1:end] == [
            "› hello",
            "Plan",
            "Use make and wait, see it (http://a/b) <b>",
            "  x = 1",
            " • one",
        ]
        await chat.leave()


async def test_what_is_said_shows_while_it_is_said(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with chatting(tmp_path, [held(gate, "Half a **sent", "ence**.")]) as (chat, _):
        await chat.ready()
        chat.send("hello\r")
        await chat.until("Half a **sent")
        gate.set()
        await chat.until("Half a sentence.")
        await chat.leave()


async def test_prompts_of_earlier_chats_come_back(tmp_path: Path) -> None:
    async with chatting(tmp_path, [answer("one"), answer("two")]) as (chat, _):
        await chat.ready()
        chat.send("first prompt\r")
        await chat.until("1 step")
        await chat.leave()
    kept = tmp_path / "state" / "history"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    async with chatting(tmp_path, [answer("again")]) as (chat, model):
        await chat.ready()
        chat.send(UP)
        await chat.until("› /exit", last=1)
        chat.send(UP)
        await chat.until("› first prompt", last=1)
        chat.send(" once more\r")
        await chat.until("again")
        assert said(await model.received(1)) == ["first prompt once more"]
        await chat.leave()


async def test_a_message_can_have_many_lines(tmp_path: Path) -> None:
    async with chatting(tmp_path, [answer("yes")]) as (chat, model):
        await chat.ready()
        chat.send("one\\\r")
        chat.send("two\x1b\r")
        await chat.until("› one\n  two")
        chat.send(PASTED.format("three\rfour\r\nfive"))
        await chat.until("  five")
        chat.send("\r")
        await chat.until("1 step")
        assert said(await model.received(1)) == ["one\ntwo\nthree\nfour\nfive"]
        await chat.leave()


async def test_more_can_be_sent_while_a_turn_runs_and_waits_its_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [held(gate, "work", "ed"), answer("second"), answer("third")]
    async with chatting(tmp_path, script) as (chat, model):
        await chat.ready()
        chat.send("first\r")
        await chat.until("work")
        chat.send("next\r")
        await chat.until("1 waits  next")
        chat.send("last\r")
        await chat.until("2 waits  last")
        gate.set()
        await chat.until("third")
        await chat.gone("waits")
        assert said(await model.received(2)) == ["first", "next"]
        assert said(await model.received(3)) == ["first", "next", "last"]
        await chat.leave()


async def test_what_waits_can_be_changed_and_dropped(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with chatting(tmp_path, [held(gate, "work", "ed"), answer("done")]) as (chat, model):
        await chat.ready()
        chat.send("first\r")
        await chat.until("work")
        chat.send("wrong\r")
        await chat.until("1 waits  wrong")
        chat.send("useless\r")
        await chat.until("2 waits  useless")
        chat.send("/drop 2\r")
        await chat.gone("2 waits")
        chat.send("/edit 1\r")
        await chat.until("Change the message:")
        chat.send("\x15right\r")
        await chat.until("1 waits  right")
        gate.set()
        await chat.until("done")
        assert said(await model.received(2)) == ["first", "right"]
        await chat.leave()


async def test_a_message_can_steer_the_turn_that_runs(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [held(gate, "work", "ed"), answer("steered")]
    async with chatting(tmp_path, script) as (chat, model):
        await chat.ready()
        chat.send("first\r")
        await chat.until("work")
        chat.send("this way" + CTRL_S)
        await chat.until("1 steers  this way")
        chat.send("/steer and fast\r")
        await chat.until("2 steers  and fast")
        gate.set()
        await chat.until("2 steps")
        assert said(await model.received(2)) == ["first", "this way\n\nand fast"]
        await chat.leave()


async def test_ctrl_c_cancels_and_keeps_what_is_being_typed(tmp_path: Path) -> None:
    script = [Response(chunks=(chunk({"content": "work"}),), end="hang"), answer("better")]
    async with chatting(tmp_path, script) as (chat, model):
        await chat.ready()
        chat.send("first\r")
        await chat.until("work")
        chat.send("try aga")
        await chat.until("› try aga", last=1)
        chat.send(CTRL_C)
        await chat.until("cancelled")
        await chat.until("› try aga", last=1)
        chat.send("in\r")
        await chat.until("better")
        assert said(await model.received(2))[-1] == "try again"
        await chat.leave()


async def test_cancelling_by_command_can_keep_what_waits(tmp_path: Path) -> None:
    script = [
        Response(chunks=(chunk({"content": "work"}),), end="hang"),
        answer("ok"),
        answer("fine"),
    ]
    async with chatting(tmp_path, script) as (chat, model):
        await chat.ready()
        chat.send("first\r")
        await chat.until("work")
        chat.send("kept\r")
        await chat.until("1 waits  kept")
        chat.send("/cancel keep\r")
        await chat.until("they go in with your next message")
        chat.send("go\r")
        await model.received(3)
        await chat.until("fine")
        await chat.leave()


async def test_ctrl_c_clears_the_prompt_and_twice_leaves(tmp_path: Path) -> None:
    async with chatting(tmp_path, []) as (chat, _):
        await chat.ready()
        chat.send("half a thought")
        await chat.until("half a thought")
        chat.send(CTRL_C)
        await chat.gone("half a thought")
        chat.send(CTRL_C)
        await chat.until("Ctrl-C again leaves")
        chat.send(CTRL_C)
        assert await chat.end() == 130


async def test_the_terminal_is_as_it_was_afterwards(tmp_path: Path) -> None:
    async with chatting(tmp_path, []) as (chat, _):
        await chat.ready()
        assert not chat.terminal.echoes()
        await chat.leave()
        assert chat.terminal.raw.count(b"\x1b[?2004h") <= chat.terminal.raw.count(b"\x1b[?2004l")
        assert b"\x1b[6n" not in chat.terminal.raw  # a question that some terminals never answer


@pytest.mark.parametrize("leaving", [CTRL_D, "/exit\r"])
async def test_leaving_while_a_turn_runs_is_asked_again(tmp_path: Path, leaving: str) -> None:
    script = [Response(chunks=(chunk({"content": "work"}),), end="hang")]
    async with chatting(tmp_path, script) as (chat, model):
        await chat.ready()
        chat.send("first\r")
        await chat.until("work")
        chat.send(leaving)
        await chat.until("once more cancels it and leaves")
        chat.send(leaving)
        assert await chat.end() == 0
        await model.requests[0].closed.wait()


def call(command: str) -> Response:
    return answer("I run it.", ("c", "run_command", {"command": command}))


async def test_keys_in_flight_do_not_answer_a_question(tmp_path: Path) -> None:
    gate = asyncio.Event()
    slow = Response(chunks=(chunk({"content": "I"}), gate, *call("echo ran").chunks))
    async with chatting(tmp_path, [slow, answer("done")]) as (chat, _):
        await chat.ready()
        chat.send("run\r")
        await chat.until("Enter queues")
        chat.send("a long mess")
        await chat.until("› a long mess", last=1)
        gate.set()
        await chat.until("$ echo ran")
        chat.send("age of mine y")
        await chat.until("Allow once?")
        await chat.gone("mine y")
        chat.send("y\r")
        await chat.until("done")
        await chat.until("› a long message of mine y", last=1)
        chat.send("\x15")
        await chat.leave()


async def test_a_rejection_carries_its_note(tmp_path: Path) -> None:
    async with chatting(tmp_path, [call("rm x"), answer("as you wish")]) as (chat, model):
        await chat.ready()
        chat.send("run\r")
        await chat.until("Allow once?")
        chat.send("r\r")
        await chat.until("Note for the agent:")
        chat.send("never do that\r")
        await chat.until("as you wish")
        assert "never do that" in (await model.received(2)).body.decode()
        assert "rejected: never do that" in chat.all
        await chat.leave()


async def test_what_is_allowed_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    script = [call("echo ran"), answer("It ran."), call("echo ran"), answer("It ran anew.")]
    async with chatting(tmp_path, script) as (chat, _):
        await chat.ready()
        chat.send("run\r")
        await chat.until("[s]ession")
        chat.send("s\r")
        await chat.until("2 steps")
        chat.send("run again\r")
        await chat.until("It ran anew.")
        chat.send("/grants\r")
        await chat.until("1 run echo ran")
        chat.send("/grants revoke 1\r")
        await chat.until("it is asked about again")
        await chat.leave()


async def test_output_of_a_command_shows_while_it_runs(tmp_path: Path) -> None:
    command = "echo alpha; echo beta; while ! test -e go; do read -t 0.1 <>/dev/zero; done"
    async with chatting(tmp_path, [call(f"bash -c '{command}'"), answer("It went well.")]) as (
        chat,
        _,
    ):
        await chat.ready()
        chat.send("run\r")
        await chat.until("Allow once?")
        chat.send("y\r")
        await chat.until(re.compile("running run_command.*\n  alpha\n  beta"))
        (chat.work / "go").touch()
        await chat.until("It went well.")
        await chat.until("2 steps")
        await chat.leave()


async def test_hunks_can_be_taken_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    file = tmp_path / "work" / "a.txt"
    file.write_text("".join(f"line {number}\n" for number in range(20)))
    edits = [{"old": "line 1\n", "new": "LINE 1\n"}, {"old": "line 15\n", "new": "LINE 15\n"}]
    script = [
        answer("", ("r", "read_file", {"path": "a.txt"})),
        answer("", ("e", "edit_file", {"path": "a.txt", "edits": edits})),
        answer("done"),
    ]
    async with chatting(tmp_path, script) as (chat, _):
        await chat.ready()
        chat.send("edit\r")
        await chat.until("[h]unk by hunk")
        chat.send("h\r")
        await chat.until("1 of 2")
        chat.send("n\r")
        await chat.until("2 of 2")
        chat.send("y\r")
        await chat.until("done")
        assert "LINE 15" in file.read_text()
        assert "LINE 1\n" not in file.read_text()
        await chat.leave()


async def test_a_session_is_found_and_gone_on_with(tmp_path: Path) -> None:
    async with chatting(tmp_path, [answer("The needle is here.")]) as (chat, _):
        await chat.ready()
        chat.send("where is it\r")
        await chat.until("1 step")
        await chat.leave()
    async with chatting(tmp_path, [answer("Other talk."), answer("Still here.")]) as (chat, model):
        await chat.ready()
        chat.send("something else\r")
        await chat.until("1 step")
        chat.send("/sessions needle\r")
        await chat.until(re.compile("1  .*where is it"))
        chat.send("1\r")
        await chat.until(re.compile("session .*where is it"))
        chat.send("and now\r")
        await chat.until("Still here.")
        assert said(await model.received(2)) == ["where is it", "and now"]
        assert "The needle is here." in chat.all
        await chat.leave()


async def test_a_fork_goes_on_from_an_earlier_turn_and_a_rewind_back(tmp_path: Path) -> None:
    script = [answer(word) for word in ("one", "two", "three", "four")]
    async with chatting(tmp_path, script) as (chat, model):
        await chat.ready()
        for prompt, reply in (("a", "one"), ("b", "two")):
            chat.send(prompt + "\r")
            await chat.until(reply)
        await chat.until("in all 30 tokens")
        chat.send("/fork 1\r")
        await chat.until(re.compile("two.*\n(.*\n)*session "))
        chat.send("c\r")
        await chat.until("three")
        assert said(await model.received(3)) == ["a", "c"]
        chat.send("/rewind\r")
        await chat.until("went back to an earlier point")
        chat.send("d\r")
        await chat.until("four")
        assert said(await model.received(4)) == ["a", "d"]
        await chat.leave()


async def test_the_model_the_file_and_the_help_are_a_command_away(tmp_path: Path) -> None:
    async with chatting(tmp_path, [answer("one")]) as (chat, _):
        await chat.ready()
        chat.send("hello\r")
        await chat.until("1 step")
        chat.send("/mo\t\r")
        await chat.until("● played")
        chat.send("/model demo\r")
        await chat.until("demo answers from now on")
        target = tmp_path / "out.md"
        chat.send(f"/export {target}\r")
        await chat.until("written:")
        assert "hello" in target.read_text()
        chat.send(f"/export {target}\r")
        await chat.until("not written:")
        chat.send("/compact\r")
        await chat.until("nothing was changed")
        chat.send("/nonsense\r")
        await chat.until("there is no command /nonsense")
        await chat.until("› /nonsense", last=1)
        chat.send("\x15/help\r")
        await chat.until("Alt-Enter")
        await chat.leave()


async def test_a_path_at_the_beginning_is_no_command(tmp_path: Path) -> None:
    async with chatting(tmp_path, [answer("seen")]) as (chat, model):
        await chat.ready()
        chat.send("/etc/hosts is odd\r")
        await chat.until("seen")
        assert said(await model.received(1)) == ["/etc/hosts is odd"]
        await chat.leave()


async def test_a_terminal_that_changes_its_size_is_drawn_anew(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with chatting(tmp_path, [held(gate, "word " * 30, "end")]) as (chat, _):
        await chat.ready()
        chat.send("hello\r")
        await chat.until("word word")
        chat.resize(40)
        await chat.until(re.compile(r"\n(word ){7}word\n(word ){7}word\n"))
        chat.send("x" * 60)
        await chat.until("x" * 21 + "\n", last=2)
        gate.set()
        await chat.until("end")
        chat.send("\x15")
        await chat.leave()


async def test_a_server_that_dies_ends_the_chat_with_its_session(tmp_path: Path) -> None:
    command = "kill -9 $(ps -o ppid= -p $(ps -o ppid= -p $$))"
    async with chatting(tmp_path, [call("true")]) as (chat, _):
        await chat.ready()
        chat.send("run\r")
        await chat.until("Allow once?")
        children = Path(f"/proc/{chat.terminal.pid}/task/{chat.terminal.pid}/children")
        if not children.exists():
            pytest.skip(f"cannot find the server here: {command}")
        for pid in children.read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        await chat.until("the server died")
        assert await chat.end() == 4
