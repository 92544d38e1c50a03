"""The demo model fixes the example, reacts to what really happened, and pretends to be no more."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from turnbuckle.model.demo import WHO, Demo, answer
from turnbuckle.model.port import CallConfig, Delta, Reply, Request, ToolSpec
from turnbuckle.model.script import CONNECT, RUN_TESTS
from turnbuckle.session.events import (
    AssistantMessage,
    ContextSummary,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.parts import Call, JsonObject

EXAMPLE = Path(__file__).parents[2] / "examples" / "workspace"
TOOLS = ("list_files", "read_file", "search", "edit_file", "run_command", "todo_write")

Fake = Callable[[JsonObject], str]


class Refused(Exception):
    """The tool gave an error result."""


class Session:
    """Drives the demo model over a folder, with tools that do the least that works."""

    def __init__(self, folder: Path, tools: tuple[str, ...] = TOOLS) -> None:
        self.folder = folder
        self.messages: list[Message] = []
        self.said: list[str] = []
        self.called: list[list[str]] = []
        self.replies: list[Reply] = []
        self.instead: dict[str, Fake] = {}
        self._tools = tuple(
            ToolSpec(name=name, description=name, parameters={"type": "object"}) for name in tools
        )
        self._turn = 0

    def ask(self, prompt: str) -> str:
        """One whole turn; what was said at its end."""
        self._turn += 1
        self.messages.append(UserMessage(turn=self._turn, step=1, content=prompt))
        for step in range(1, 20):
            reply = answer(self.request())
            self.replies.append(reply)
            self.said.append(reply.content)
            self.called.append([call.name for call in reply.tool_calls])
            self.messages.append(
                AssistantMessage(
                    turn=self._turn,
                    step=step,
                    content=reply.content,
                    tool_calls=reply.tool_calls,
                    finish=reply.finish,
                    usage=reply.usage,
                )
            )
            if not reply.tool_calls:
                return reply.content
            self.messages += [self._run(call, step) for call in reply.tool_calls]
        raise AssertionError("the turn does not end")

    def request(self) -> Request:
        config = CallConfig(model="demo")
        return Request(config=config, system="s", tools=self._tools, messages=tuple(self.messages))

    def _run(self, call: Call, step: int) -> ToolResult:
        result = ToolResult(
            turn=self._turn, step=step, call_id=call.call_id, content="", is_error=False
        )
        run = self.instead.get(call.name) or getattr(self, f"_{call.name}")
        try:
            return replace(result, content=run(json.loads(call.arguments)))
        except Refused as error:
            return replace(result, content=f"<tool error: {error}>", is_error=True, code="DENIED")

    def _list_files(self, arguments: JsonObject) -> str:
        found = sorted(self.folder.rglob("*")) if not arguments else []
        paths = (path.relative_to(self.folder).as_posix() + "/" * path.is_dir() for path in found)
        return "\n".join(["files:", *paths])

    def _read_file(self, arguments: JsonObject) -> str:
        text = (self.folder / arguments["path"]).read_text(encoding="utf-8")
        return f"{arguments['path']} lines 1-{text.count(chr(10))}\n{text}"

    def _edit_file(self, arguments: JsonObject) -> str:
        path = self.folder / arguments["path"]
        text = path.read_text(encoding="utf-8")
        for edit in arguments["edits"]:
            assert text.count(edit["old"]) == 1
            text = text.replace(edit["old"], edit["new"])
        path.write_text(text, encoding="utf-8")
        return "applied"

    def _run_command(self, arguments: JsonObject) -> str:
        assert arguments["command"] == RUN_TESTS
        run = subprocess.run(
            [sys.executable, "-B", "-m", "unittest"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return f"{run.stdout}{run.stderr}exit code {run.returncode}"

    def _todo_write(self, arguments: JsonObject) -> str:
        return "\n".join(f"{item['state']} {item['text']}" for item in arguments["items"])


def refuse(why: str) -> Fake:
    def tool(_: JsonObject) -> str:
        raise Refused(why)

    return tool


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "copy"))


def passes(folder: Path) -> bool:
    run = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=folder, capture_output=True, check=False
    )
    return run.returncode == 0


def test_the_example_has_exactly_one_failing_test() -> None:
    run = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "FAILED (failures=1)" in run.stderr


def test_it_fixes_the_failing_test_when_asked_to(example: Path) -> None:
    session = Session(example)
    last = session.ask("Fix the failing test")
    assert session.called == [
        ["list_files"],
        ["todo_write", *["read_file"] * 4],
        ["todo_write", "run_command"],
        ["todo_write", "edit_file"],
        ["todo_write", "run_command"],
        ["todo_write"],
        [],
    ]
    assert passes(example)
    assert "`test_ten_pieces_get_the_discount` fails" in session.said[3]
    assert last.startswith("Done.")
    assert "all tests pass (6 tests)" in last


def test_only_one_line_of_the_example_is_changed(example: Path) -> None:
    Session(example).ask("fix it")
    changed = [
        path.relative_to(EXAMPLE).as_posix()
        for path in EXAMPLE.rglob("*.*")
        if "__pycache__" not in path.parts
        and path.read_bytes() != (example / path.relative_to(EXAMPLE)).read_bytes()
    ]
    assert changed == ["pricing/discounts.py"]


def test_it_says_what_it_is_first_and_only_once(example: Path) -> None:
    session = Session(example)
    session.ask("Fix the failing test")
    session.ask("Thanks. What else?")
    assert session.said[0].startswith(f"{WHO}\n")
    assert not any(WHO in said for said in session.said[1:])


def test_asked_again_it_sees_that_nothing_is_left_to_fix(example: Path) -> None:
    session = Session(example)
    session.ask("Fix the failing test")
    last = session.ask("Fix the failing test")
    assert last == "All tests pass (6 tests). There is nothing to fix, so I changed nothing."
    assert session.called[-4:] == [["list_files"], ["read_file"] * 4, ["run_command"], []]


def test_a_rejected_edit_is_told_and_nothing_more_is_tried(example: Path) -> None:
    session = Session(example)
    session.instead["edit_file"] = refuse("DENIED: the person rejected the change")
    last = session.ask("Fix the failing test")
    assert last.startswith("The change was not made: <tool error: DENIED: the person rejected")
    assert session.called[-2:] == [["todo_write", "edit_file"], []]
    assert not passes(example)


def test_an_edit_that_did_not_help_is_told(example: Path) -> None:
    session = Session(example)
    session.instead["edit_file"] = lambda _: "0 of 1 hunks applied"
    last = session.ask("Fix the failing test")
    assert last.startswith("The tests still do not pass")


def test_a_denied_command_is_told(example: Path) -> None:
    session = Session(example)
    session.instead["run_command"] = refuse("DENIED: no")
    last = session.ask("Fix the failing test")
    assert last == (
        "I could not run the tests: <tool error: DENIED: no>\n\nI stop here: I changed nothing."
    )


def test_a_command_that_is_denied_after_the_edit_leaves_the_change_untested(
    example: Path,
) -> None:
    session = Session(example)
    run = session._run_command

    def once(arguments: JsonObject) -> str:
        session.instead["run_command"] = refuse("DENIED: no")
        return run(arguments)

    session.instead["run_command"] = once
    last = session.ask("Fix the failing test")
    assert last.endswith("I stop here: my change stands, but it is not tested.")
    assert passes(example)


def test_a_machine_without_the_interpreter_is_told(example: Path) -> None:
    session = Session(example)
    session.instead["run_command"] = lambda _: "sh: python3: not found\nexit code 127"
    last = session.ask("Fix the failing test")
    assert last.startswith(f"`{RUN_TESTS}` did not run any tests: sh: python3: not found")


def test_another_failure_than_the_one_it_knows_is_left_alone(example: Path) -> None:
    path = example / "pricing" / "discounts.py"
    path.write_text(path.read_text(encoding="utf-8").replace("quantity >", "quantity >= 1 +"))
    session = Session(example)
    last = session.ask("Fix the failing test")
    assert "not because of the one bug that I know" in last
    assert "edit_file" not in [name for called in session.called for name in called]


def test_a_file_that_could_not_be_read_is_told(example: Path) -> None:
    session = Session(example)
    session.instead["read_file"] = refuse("DENIED: no")
    last = session.ask("Fix the failing test")
    assert "I could not read `pricing/discounts.py`. I changed nothing." in last


def test_asked_anything_else_it_shows_its_tools_and_how_to_connect_a_model(example: Path) -> None:
    session = Session(example)
    last = session.ask("Who are you?")
    assert session.called == [["list_files"], ["read_file"], []]
    assert session.said[1] == "I read the beginning of `README.md`."
    assert "Ask me to fix the failing test" in last
    assert last.endswith(CONNECT)
    for name in ("TURNBUCKLE_BASE_URL", "TURNBUCKLE_API_KEY", "TURNBUCKLE_MODEL"):
        assert name in CONNECT


def test_a_second_question_is_not_answered_by_the_same_tour(example: Path) -> None:
    session = Session(example)
    session.ask("Who are you?")
    last = session.ask("And what is this?")
    assert session.called[-1] == []
    assert last.startswith("I am still the demo model")


def test_after_a_tour_it_can_still_fix_the_test(example: Path) -> None:
    session = Session(example)
    session.ask("Who are you?")
    assert session.ask("Please fix the test").startswith("Done.")


def test_in_another_folder_it_claims_no_fix(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "src").mkdir()
    session = Session(tmp_path)
    last = session.ask("Fix the failing test")
    assert session.called == [["list_files"], ["read_file"], []]
    assert session.said[1] == "I read the beginning of `notes.txt`."
    assert "Answering for real is beyond a script." in last


def test_an_empty_folder_is_no_trouble(tmp_path: Path) -> None:
    assert Session(tmp_path).ask("hello").endswith(CONNECT)


def test_a_tool_that_fails_on_the_tour_is_told(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.instead["list_files"] = refuse("OUTSIDE: there is no folder")
    assert "`list_files` on your files: it failed." in session.ask("hello")


@pytest.mark.parametrize("tools", [(), ("list_files",), ("read_file", "run_command"), TOOLS[:4]])
def test_it_calls_only_tools_that_are_offered(example: Path, tools: tuple[str, ...]) -> None:
    for prompt in ("Fix the failing test", "hello"):
        session = Session(example, tools)
        session.ask(prompt)
        assert {name for called in session.called for name in called} <= set(tools)


def test_without_a_todo_list_it_fixes_the_test_just_the_same(example: Path) -> None:
    session = Session(example, TOOLS[:-1])
    assert session.ask("Fix the failing test").startswith("Done.")
    assert passes(example)


@pytest.mark.parametrize("tools", [TOOLS, TOOLS[:-1]])
def test_call_ids_are_unique_in_a_session(example: Path, tools: tuple[str, ...]) -> None:
    session = Session(example, tools)
    session.ask("Who are you?")
    session.ask("Fix the failing test")
    ids = [call.call_id for reply in session.replies for call in reply.tool_calls]
    assert len(ids) == len(set(ids))


def test_context_that_is_not_the_persons_wish_is_not_taken_for_one(example: Path) -> None:
    session = Session(example)
    session.messages.append(UserMessage(turn=1, step=1, content="a test fails", source="context"))
    session.ask("hello")
    assert "edit_file" not in [name for called in session.called for name in called]


def test_it_gets_on_with_the_history_of_another_model(tmp_path: Path) -> None:
    call = Call(call_id="x", name="read_file", arguments='{"path": ')
    messages: tuple[Message, ...] = (
        ContextSummary(covers=(1, 9), text="earlier"),
        UserMessage(turn=1, step=1, content="look"),
        AssistantMessage(turn=1, step=1, content="", tool_calls=(call,), finish="tool_calls"),
        ToolResult(turn=1, step=1, call_id="x", content="bad", is_error=True, code="INVALID_ARGS"),
    )
    assert answer(replace(Session(tmp_path).request(), messages=messages)).finish == "tool_calls"
    assert answer(replace(Session(tmp_path).request(), messages=())).content.startswith(WHO)


def test_usage_grows_with_what_is_sent(example: Path) -> None:
    session = Session(example)
    session.ask("Fix the failing test")
    usages = [reply.usage for reply in session.replies if reply.usage]
    inputs = [usage.input for usage in usages]
    assert len(usages) == len(session.replies)
    assert inputs == sorted(inputs)
    assert all(usage.total == usage.input + usage.output > 0 for usage in usages)


async def test_it_streams_what_it_says_word_by_word(example: Path) -> None:
    session = Session(example)
    session.messages.append(UserMessage(turn=1, step=1, content="Fix the failing test"))
    deltas: list[Delta] = []
    reply = await Demo(delay=0)(session.request(), deltas.append)
    assert reply == answer(session.request())
    assert "".join(delta.text or "" for delta in deltas) == reply.content
    assert max(len(delta.text or "") for delta in deltas) < 20
    pieces = [call for delta in deltas for call in delta.tool_calls]
    assert [call.name for call in pieces if call.name] == ["list_files"]
    assert "".join(call.arguments or "" for call in pieces) == reply.tool_calls[0].arguments
