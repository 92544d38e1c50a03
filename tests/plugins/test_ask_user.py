"""The model asks the person, and reads what they said, or that they said nothing."""

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from turnbuckle.plugins import ask_user
from turnbuckle.session.events import ApprovalAsked, ToolResult
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.transcript import transcript

ASK: dict[str, Any] = {"question": "Which colour?", "choices": ["blue", "red", "blue"]}


def model(arguments: dict[str, Any] | None = None) -> Scripted:
    return Scripted([say("", ("1", "ask_user", arguments or ASK)), say("done")])


async def result_of(folder: Path, **decision: Any) -> ToolResult:  # Any: as `decide` takes it
    async with driven(model(), folder, plugins=[ask_user.install]) as session:
        session.send("go")
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        approvals = session.opened.agent.approvals
        approvals.decide(asked.approval_id, allow=True, by="test", **decision)
        result = await session.until(ToolResult)
    assert isinstance(result, ToolResult)
    return result


async def test_the_answer_is_the_result(tmp_path: Path) -> None:
    result = await result_of(tmp_path, answer="blue")
    assert (result.content, result.is_error) == ("The person answers: blue", False)


async def test_the_question_is_asked_with_its_choices_each_once(tmp_path: Path) -> None:
    async with driven(model(), tmp_path, plugins=[ask_user.install]) as session:
        session.send("go")
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
    assert asked.subject["kind"] == "question"
    assert asked.subject["question"] == "Which colour?"
    assert asked.subject["choices"] == ["blue", "red"]


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"answer": None}, "The person gave no answer."),
        ({"answer": "  "}, "The person gave no answer."),
        ({"answer": None, "note": "later"}, "The person gave no answer, but noted: later."),
    ],
)
async def test_a_yes_without_an_answer_says_so(
    tmp_path: Path, decision: dict[str, Any], said: str
) -> None:
    assert (await result_of(tmp_path, **decision)).content == said


async def test_a_question_that_is_declined_has_a_plain_result_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    async with driven(model(), tmp_path, plugins=[ask_user.install]) as session:
        session.answer_approvals(allow=False, note="you decide")
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 ask_user(question='Which colour?', choices=['blue', 'red', 'blue'])
  asked   1 question: it is a question
  decided rejected by test: you decide
  result  1 DENIED There is no answer: the person said no; the person's note: you decide. Go on with what you know and say what you assumed, or end here and say what you need.
assistant done
end       completed
""")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": ""},
        {"question": "q" * 5000},
        {"question": "?", "choices": [""]},
        {"question": "?", "choices": ["a"] * 11},
        {"question": "?", "options": ["a"]},
    ],
)
async def test_what_is_no_question_is_refused_and_nobody_is_asked(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    script = Scripted([say("", ("1", "ask_user", arguments)), say("done")])
    async with driven(script, tmp_path, plugins=[ask_user.install]) as session:
        await session.say("go")
    (result,) = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert result.code == "INVALID_ARGS"
    assert not any(isinstance(fact, ApprovalAsked) for fact in session.facts)


async def test_the_answer_comes_over_the_wire(tmp_path: Path) -> None:
    script = model()
    async with served(script, tmp_path, events=True) as server:
        id_ = await server.open()
        await server.watch(id_)
        turn = server.send(id_, "go")
        asked = await server.fact("approval/asked")
        assert await server.approve(asked["approvalId"], answer="mauve, with dots")
        await server.answer(turn)
        result = await server.fact("tool/result")
    assert result["content"] == "The person answers: mauve, with dots"


async def test_the_tool_leaves_with_the_plugin(tmp_path: Path) -> None:
    async with driven(model(), tmp_path, plugins=[ask_user.install]) as session:
        await session.plugins.exchange([])
        await session.say("go")
    (result,) = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert result.code == "UNKNOWN_TOOL"
