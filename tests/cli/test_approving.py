"""What the person at the terminal types, and what it means."""

import io

import anyio
import pytest

from turnbuckle.cli.approving import Answer, Person, allow_in_demo, deny
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.source import Typist
from turnbuckle.session.events import ApprovalAsked
from turnbuckle.session.parts import JsonObject


class Keyboard:
    def __init__(self, *keys: str) -> None:
        self._keys = list(keys)

    async def read(self) -> str:
        return self._keys.pop(0)

    def forget(self) -> None:
        pass


COMMAND: JsonObject = {"kind": "command", "command": "make", "cwd": "file:///w", "timeout": 1}
QUESTION: JsonObject = {"kind": "question", "question": "Which?", "choices": ["red", "green\x1b"]}


def asked(subject: JsonObject, *choices: str) -> ApprovalAsked:
    return ApprovalAsked(
        approval_id="a",
        call_id="c",
        subject=subject,
        digest="d",
        choices=choices or ("allow", "reject"),
    )


def person_at(screen: Screen, *keys: str) -> Person:
    return Person(screen, Typist(screen, Keyboard(*keys)))


def typed(question: ApprovalAsked, *keys: str) -> tuple[Answer, str]:
    """The answer to a question, and what was shown."""
    out = io.StringIO()
    person = person_at(Screen(out, io.StringIO(), list), *keys)
    return anyio.run(person.decide, question), out.getvalue()


FOR_SESSION = asked(COMMAND, "allow", "allowForSession", "reject")


@pytest.mark.parametrize("keys", [("s\n",), ("Session\n",), ("x\n", "s\n")])
def test_an_answer_may_hold_for_the_session(keys: tuple[str, ...]) -> None:
    answer, shown = typed(FOR_SESSION, *keys)
    assert answer == Answer(allow=True, remember=True)
    assert "[s]ession" in shown


def test_where_it_cannot_the_word_means_nothing() -> None:
    answer, shown = typed(asked(COMMAND), "s\n", "n\n")
    assert answer == Answer(allow=False)
    assert "[s]ession" not in shown


def test_what_was_not_shown_whole_is_not_allowed_for_the_session() -> None:
    subject = {"kind": "change", "files": [{"uri": "u", "hunks": [{"truncated": True}]}]}
    answer, _ = typed(asked(subject, "allow", "allowForSession", "reject"), "s\n", "y\n", "yes\n")
    assert answer == Answer(allow=True)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ("1\n", "red"),
        ("2\n", "green\x1b"),
        ("3\n", "3"),
        ("0\n", "0"),
        (" blue \n", "blue"),
        ("\u00b2\n", "\u00b2"),
    ],
)
def test_a_question_is_answered_with_a_number_or_with_words(keys: str, answer: str) -> None:
    given, shown = typed(asked(QUESTION, "answer", "reject"), keys)
    assert given == Answer(allow=True, answer=answer)
    assert "1  red" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("keys", ["\n", "  \n", "\x04", ""])
def test_nothing_is_no_answer(keys: str) -> None:
    assert typed(asked(QUESTION, "answer", "reject"), keys)[0] == Answer(allow=False)


def test_nobody_answers_a_question_by_saying_yes() -> None:
    for nobody in (deny, allow_in_demo):
        answer = anyio.run(nobody, asked(QUESTION))
        assert (answer.allow, answer.asked, answer.answer) == (False, False, None)
