"""Carrying out a change: what is recorded, what lands, and what the model is told."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from turnbuckle.session.events import EditApplied, EditApplying
from turnbuckle.testing.workspace import Desk, MemoryTexts
from turnbuckle.tools.builtin.write_file import WriteFile, write_file
from turnbuckle.tools.tool import Change, Prepared, ToolError, Verdict
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.paths import uri_of
from turnbuckle.workspace.port import Applied, AppliedOutcome

OLD = "".join(f"{n}\n" for n in range(12))
NEW = OLD.replace("2\n", "two\n", 1).replace("8\n", "")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with a file that was read."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "f").write_text(OLD)
    return Desk(folder, digests={uri_of(folder / "f"): digest_of(OLD)})


async def proposed(desk: Desk, text: str = NEW, name: str = "f") -> tuple[Prepared, list[str]]:
    """A prepared change with the ids of its hunks."""
    prepared = await write_file().prepare(WriteFile(path=name, content=text), desk.workspace)
    assert isinstance(prepared.subject, Change)
    return prepared, list(prepared.subject.hunk_ids)


def text_of(desk: Desk) -> str:
    return (desk.folder / "f").read_text()


async def test_each_batch_is_on_record_before_and_after_it_is_applied(desk: Desk) -> None:
    prepared, (first, second) = await proposed(desk)
    outcome = await desk.perform(prepared, [[second], [first]])
    half, uri = OLD.replace("8\n", ""), uri_of(desk.folder / "f")
    assert desk.facts == [
        EditApplying(call_id="call-1", uri=uri, before=digest_of(OLD), hunks=(second,)),
        EditApplied(
            call_id="call-1", uri=uri, after=digest_of(half), hunks=(second,), outcome="applied"
        ),
        EditApplying(call_id="call-1", uri=uri, before=digest_of(half), hunks=(first,)),
        EditApplied(
            call_id="call-1", uri=uri, after=digest_of(NEW), hunks=(first,), outcome="applied"
        ),
    ]
    assert await desk.blobs.get(digest_of(OLD)) == OLD.encode()
    assert text_of(desk) == NEW
    assert outcome.content == "Changed f in 2 places (+1 −2)."
    assert outcome.meta == {
        "hunks": {"accepted": 2, "rejected": 0},
        "read": {"uri": uri, "digest": digest_of(NEW)},
    }


async def test_a_new_file_has_no_image_of_before(desk: Desk) -> None:
    prepared, _ = await proposed(desk, "", "new")
    outcome = await desk.perform(prepared)
    assert isinstance(desk.facts[0], EditApplying)
    assert desk.facts[0].before is None
    assert (desk.folder / "new").read_text() == ""
    assert outcome.content == "Created new (+0)."


async def test_rejected_parts_are_told_and_the_rest_is_a_success(desk: Desk) -> None:
    prepared, (first, second) = await proposed(desk)
    desk.verdict = Verdict(rejected=(second,), note="keep 8")
    outcome = await desk.perform(prepared, [[first]])
    assert outcome.code is None
    assert text_of(desk) == OLD.replace("2\n", "two\n", 1)
    assert "in 1 of 2 places" in outcome.content
    assert "line 9: '8\\n' → ''" in outcome.content
    assert outcome.content.endswith("The person's note: keep 8")
    assert outcome.meta is not None
    assert outcome.meta["hunks"] == {"accepted": 1, "rejected": 1}


async def test_where_all_is_rejected_nothing_happens(desk: Desk) -> None:
    prepared, hunks = await proposed(desk)
    desk.verdict = Verdict(rejected=tuple(hunks), note="no")
    with pytest.raises(ToolError, match="note: no") as caught:
        await desk.perform(prepared, [])
    assert caught.value.code == "DENIED"
    assert text_of(desk) == OLD
    assert desk.facts == []


async def test_a_text_that_changed_is_stale_and_shown_as_it_is_now(desk: Desk) -> None:
    prepared, _ = await proposed(desk)
    (desk.folder / "f").write_text(OLD.replace("3\n", "mine\n"))
    with pytest.raises(ToolError, match="mine\n") as caught:
        await desk.perform(prepared)
    assert caught.value.code == "STALE"
    assert caught.value.meta is not None
    assert caught.value.meta["read"]["digest"] == digest_of(text_of(desk))
    applied = desk.facts[-1]
    assert isinstance(applied, EditApplied)
    assert (applied.outcome, applied.after) == ("stale", None)


async def test_a_text_that_changed_between_two_batches_is_partly_done(desk: Desk) -> None:
    prepared, (first, second) = await proposed(desk)
    go = desk.go(prepared)

    async def accepted() -> AsyncIterator[tuple[str, ...]]:
        yield (first,)
        (desk.folder / "f").write_text("mine\n")
        yield (second,)

    outcome = await prepared.perform(replace(go, accepted=accepted))
    assert outcome.code == "PARTLY"
    assert outcome.content == (
        "<tool error: only a part stands. Changed f in 1 of 2 places (+1 −1). Of the rest: the file"
        " was changed since this edit was made; nothing of it was applied:\nline 9: '8\\n' → ''>"
    )
    assert outcome.meta is not None
    assert outcome.meta["hunks"] == {"accepted": 2, "rejected": 0, "applied": 1}
    assert text_of(desk) == "mine\n"


async def test_a_cancel_while_hunks_are_open_keeps_what_was_applied(desk: Desk) -> None:
    prepared, (first, second) = await proposed(desk)
    with anyio.CancelScope() as scope:

        async def accepted() -> AsyncIterator[tuple[str, ...]]:
            yield (first,)
            scope.cancel()
            await anyio.sleep_forever()
            yield (second,)

        outcome = await prepared.perform(replace(desk.go(prepared), accepted=accepted))
    assert outcome.code == "PARTLY"
    assert outcome.content.startswith("<tool error: only a part stands. Changed f in 1 of 2 places")
    assert outcome.meta is not None
    assert outcome.meta["read"]["digest"] == digest_of(text_of(desk))


async def test_a_cancel_before_anything_was_applied_is_a_cancel(desk: Desk) -> None:
    prepared, (first, _) = await proposed(desk)
    with anyio.CancelScope() as scope:

        async def accepted() -> AsyncIterator[tuple[str, ...]]:
            scope.cancel()
            await anyio.sleep_forever()
            yield (first,)

        await prepared.perform(replace(desk.go(prepared), accepted=accepted))
    assert scope.cancelled_caught
    assert text_of(desk) == OLD


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ("declined", "TOOL_FAILED"),
        ("unverified", "UNVERIFIED"),
        ("misplaced", "MISPLACED"),
        ("failed", "TOOL_FAILED"),
    ],
)
async def test_what_an_editor_answers_is_told(
    tmp_path: Path, outcome: AppliedOutcome, code: str
) -> None:
    uri = uri_of(tmp_path / "f")
    texts = MemoryTexts({uri: OLD})
    desk = Desk(tmp_path, texts=texts, digests={uri: digest_of(OLD)})
    texts.answers = [Applied(outcome=outcome, said="because of the editor")]
    prepared, _ = await proposed(desk)
    with pytest.raises(ToolError, match="because of the editor") as caught:
        await desk.perform(prepared)
    assert caught.value.code == code


async def test_a_code_that_says_more_is_the_code(tmp_path: Path) -> None:
    uri = uri_of(tmp_path / "f")
    texts = MemoryTexts({uri: OLD})
    desk = Desk(tmp_path, texts=texts, digests={uri: digest_of(OLD)})
    texts.answers = [Applied(outcome="failed", code="READ_ONLY", said="it is read-only")]
    prepared, _ = await proposed(desk)
    with pytest.raises(ToolError) as caught:
        await desk.perform(prepared)
    assert caught.value.code == "READ_ONLY"


async def test_without_an_image_of_before_nothing_is_written(desk: Desk) -> None:
    desk.folder.with_name("work.blobs").write_text("a file where the folder should be")
    prepared, _ = await proposed(desk)
    with pytest.raises(ToolError, match="could not be kept") as caught:
        await desk.perform(prepared)
    assert caught.value.code == "TOOL_FAILED"
    assert text_of(desk) == OLD
    assert desk.facts == []


async def test_a_long_text_is_told_shortly(desk: Desk) -> None:
    prepared, (first, second) = await proposed(desk, NEW.replace("two", "x" * 10_000))
    desk.verdict = Verdict(rejected=(first,))
    outcome = await desk.perform(prepared, [[second]])
    assert len(outcome.content) < 1000


async def test_a_whole_file_keeps_its_line_ends(desk: Desk) -> None:
    (desk.folder / "f").write_bytes(b"a\r\nb\r\n")
    desk.digests[uri_of(desk.folder / "f")] = digest_of("a\r\nb\r\n")
    await desk.perform((await proposed(desk, "a\nnew\nb\n"))[0])
    assert (desk.folder / "f").read_bytes() == b"a\r\nnew\r\nb\r\n"
    await desk.perform((await proposed(desk, "a\r\nnew\nb\n"))[0])
    assert (desk.folder / "f").read_bytes() == b"a\r\nnew\nb\n"


async def test_a_whole_file_is_not_written_over_what_was_not_read(desk: Desk) -> None:
    desk.digests.clear()
    with pytest.raises(ToolError) as caught:
        await proposed(desk)
    assert caught.value.code == "UNREAD"


async def test_a_whole_file_is_not_written_over_what_changed_since(desk: Desk) -> None:
    (desk.folder / "f").write_text("mine\n")
    with pytest.raises(ToolError, match="read it again") as caught:
        await proposed(desk)
    assert caught.value.code == "STALE"


async def test_a_whole_file_that_is_there_already_is_no_change(desk: Desk) -> None:
    with pytest.raises(ToolError) as caught:
        await proposed(desk, OLD)
    assert caught.value.code == "INVALID_ARGS"


@pytest.mark.parametrize(
    ("name", "code"), [("../x", "OUTSIDE"), ("f/x", "INVALID_ARGS"), (".", "NOT_FOUND")]
)
async def test_places_where_no_file_can_be_written_are_refused(
    desk: Desk, name: str, code: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await proposed(desk, "x", name)
    assert caught.value.code == code


async def test_what_the_person_made_of_a_change_is_applied_and_told_as_a_diff(desk: Desk) -> None:
    prepared, hunks = await proposed(desk)
    theirs = NEW.replace("two\n", "zwei\n").replace("11\n", "11\nmore\n")
    desk.verdict = Verdict(edits={uri_of(desk.folder / "f"): theirs}, note="better")
    outcome = await desk.perform(prepared, [hunks])
    assert text_of(desk) == theirs
    assert outcome.code is None
    assert "the person edited the change first" in outcome.content
    assert "-two\n+zwei\n" in outcome.content
    assert "+more\n" in outcome.content
    assert outcome.content.endswith("The person's note: better")
    assert isinstance(desk.facts[-1], EditApplied)
    assert desk.facts[-1].after == digest_of(theirs)


async def test_what_the_person_made_of_the_rest_goes_onto_what_was_applied_before(
    desk: Desk,
) -> None:
    prepared, (first, second) = await proposed(desk)
    go = desk.go(prepared)
    theirs = NEW + "end\n"

    async def accepted() -> AsyncIterator[tuple[str, ...]]:
        yield (first,)
        desk.verdict = Verdict(edits={uri_of(desk.folder / "f"): theirs})
        yield (second,)

    outcome = await prepared.perform(replace(go, accepted=accepted))
    assert text_of(desk) == theirs
    assert "+end\n" in outcome.content
    applying = desk.facts[2]
    assert isinstance(applying, EditApplying)
    assert applying.before == digest_of(OLD.replace("2\n", "two\n", 1))


async def test_a_person_who_takes_all_of_it_back_leaves_the_file_as_it_is(desk: Desk) -> None:
    prepared, hunks = await proposed(desk)
    desk.verdict = Verdict(edits={uri_of(desk.folder / "f"): OLD})
    outcome = await desk.perform(prepared, [hunks])
    assert text_of(desk) == OLD
    assert "-two\n+2\n" in outcome.content


async def test_a_new_file_is_made_as_the_person_wants_it(desk: Desk) -> None:
    prepared, hunks = await proposed(desk, "mine\n", "new")
    desk.verdict = Verdict(edits={uri_of(desk.folder / "new"): "theirs\n"})
    await desk.perform(prepared, [hunks])
    assert (desk.folder / "new").read_text() == "theirs\n"


async def test_the_persons_text_gets_the_line_ends_of_the_file(desk: Desk) -> None:
    path = desk.folder / "f"
    path.write_bytes(b"a\r\nb\r\n")
    desk.digests[uri_of(path)] = digest_of("a\r\nb\r\n")
    prepared, hunks = await proposed(desk, "a\nc\n")
    desk.verdict = Verdict(edits={uri_of(path): "a\nd\n"})
    await desk.perform(prepared, [hunks])
    assert path.read_bytes() == b"a\r\nd\r\n"


async def test_a_long_difference_is_told_in_part(desk: Desk) -> None:
    prepared, hunks = await proposed(desk)
    theirs = NEW + "".join(f"more {n}\n" for n in range(10_000))
    desk.verdict = Verdict(edits={uri_of(desk.folder / "f"): theirs})
    outcome = await desk.perform(prepared, [hunks])
    assert len(outcome.content) < 5_000
    assert "more was changed; read the file" in outcome.content
