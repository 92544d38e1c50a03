"""What was changed since a text is told as long as it is known, and never told wrongly."""

from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.edits.trail import LIMIT, SIZE, Trail
from turnbuckle.workspace.text import Splice, smallest


def run(text: str, splices: tuple[Splice, ...] | None) -> str | None:
    if splices is None:
        return None
    for splice in splices:
        text = splice.on(text)
    return text


@given(st.data())
def test_a_text_that_was_held_leads_to_the_text_now(data: st.DataObject) -> None:
    trail = Trail()
    text = data.draw(st.text("ab\n", max_size=20))
    held: list[tuple[int, str]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        if data.draw(st.booleans()):
            trail.hold(digest=text)  # any name will do
            held.append((trail.end, text))
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 3)))
        splice = smallest(text, Splice(start, end, data.draw(st.text("ab\n", max_size=3))))
        trail.add(splice)
        text = splice.on(text)
    for number, before in held:
        assert run(before, trail.since(number)) == text
        assert run(before, trail.since_text(before)) == text


def test_words_that_are_typed_on_are_one_splice() -> None:
    trail = Trail()
    number = trail.hold()
    for offset, character in enumerate("hello"):
        trail.add(Splice(3 + offset, 3 + offset, character))
    assert trail.since(number) == (Splice(3, 3, "hello"),)


def test_typing_is_told_apart_where_somebody_holds_the_text_in_between() -> None:
    trail = Trail()
    trail.add(Splice(0, 0, "he"))
    number = trail.hold("he")
    trail.add(Splice(2, 2, "llo"))
    assert trail.since(number) == (Splice(2, 2, "llo"),)


def test_a_text_that_nobody_held_is_not_known() -> None:
    assert Trail().since_text("never") is None


def test_old_splices_are_forgotten_and_what_needs_them_is_not_known_any_more() -> None:
    trail = Trail()
    first = trail.hold("first")
    for _ in range(LIMIT + 1):
        trail.add(Splice(0, 1, "x"))
    assert trail.since(first) is None
    assert trail.since_text("first") is None
    last = trail.hold("last")
    trail.add(Splice(0, 1, "y"))
    assert trail.since_text("last") == trail.since(last) == (Splice(0, 1, "y"),)


def test_huge_splices_are_forgotten_sooner() -> None:
    trail = Trail()
    first = trail.hold("first")
    for _ in range(3):
        trail.add(Splice(0, 0, "x" * (SIZE // 2)))
    assert trail.since(first) is None


def test_retelling_keeps_what_is_known_at_both_ends() -> None:
    trail = Trail()
    number = trail.hold("before")
    trail.add(Splice(0, 9, "both at once"))
    trail.hold("after")
    trail.retell(number, (Splice(5, 9, "at once"), Splice(0, 4, "both ")))
    trail.add(Splice(1, 1, "!"))
    assert trail.since_text("after") == (Splice(1, 1, "!"),)
    told = trail.since_text("before")
    assert told == (Splice(5, 9, "at once"), Splice(0, 4, "both "), Splice(1, 1, "!"))
