"""Events come out of bytes the same way, however the bytes were cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.model.limits import TooLarge
from turnbuckle.model.sse import SseEvent, SseParser


def parse(*pieces: bytes) -> list[SseEvent]:
    parser = SseParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.close()


def messages(*texts: str) -> list[SseEvent]:
    return [SseEvent("message", text) for text in texts]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lf_crlf_and_cr_end_a_line(end: bytes) -> None:
    body = end.join([b"data: a", b"data: b", b"", b"data: c", b"", b""])
    assert parse(body) == messages("a\nb", "c")


def test_a_crlf_may_be_cut_in_two() -> None:
    assert parse(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == messages("a\nb")


def test_an_empty_piece_in_the_middle_of_a_crlf_changes_nothing() -> None:
    assert parse(b"data: a\r", b"", b"\ndata: b\r\n\r\n") == messages("a\nb")


def test_a_lone_cr_dispatches_at_once_without_waiting_for_a_line_feed() -> None:
    assert SseParser().feed(b"data: a\r\r") == messages("a")


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_nothing_else_ends_a_line(character: str) -> None:
    text = f"a{character}b"
    assert parse(f"data: {text}\n\n".encode()) == messages(text)


def test_one_space_after_the_colon_is_dropped_and_may_be_missing() -> None:
    assert parse(b"data:a\n\ndata: b\n\ndata:  c\n\n") == messages("a", "b", " c")


def test_comments_and_unknown_fields_are_skipped() -> None:
    assert parse(b": hello\nid: 1\nretry: 5\nfoo: x\nbar\ndata: a\n\n:\n\n") == messages("a")


def test_an_event_without_data_is_none() -> None:
    assert parse(b"event: ping\n\ndata\n\ndata: \n\ndata: a\n\n") == messages("a")


def test_the_name_of_an_event_holds_for_that_event_only() -> None:
    assert parse(b"event: error\ndata: a\n\ndata: b\n\n") == [
        SseEvent("error", "a"),
        SseEvent("message", "b"),
    ]


def test_a_field_error_is_an_error() -> None:
    assert parse(b'error: {"code":500}\n\n') == [SseEvent("error", '{"code":500}')]


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    mark = b"\xef\xbb\xbf"
    assert parse(mark[:1], mark[1:] + b"data: a\n\n", b"data: \xef\xbb\xbfb\n\n") == messages(
        "a", "\ufeffb"
    )


def test_the_last_event_needs_no_line_end() -> None:
    assert parse(b"data: a\n\ndata: b") == messages("a", "b")
    assert parse(b"data: a\n\ndata: b\n") == messages("a", "b")
    assert parse(b"data: a\n\n") == messages("a")
    assert parse() == []


def test_only_bytes_that_are_no_utf_8_become_replacement_characters() -> None:
    assert parse(b"data: \xf0\x9f", b"\x98\x80 \xff!\n\n") == messages("😀 \ufffd!")


def feed_often(piece: bytes, times: int) -> None:
    parser = SseParser(limit=100)
    for _ in range(times):
        parser.feed(piece)


def test_an_event_over_the_limit_is_refused_before_it_is_whole() -> None:
    with pytest.raises(TooLarge, match="larger than 100 bytes"):
        feed_often(b"x", 101)


def test_many_lines_of_data_count_together() -> None:
    with pytest.raises(TooLarge):
        feed_often(b"data:\n", 101)


def test_the_limit_is_for_one_event_and_not_for_the_stream() -> None:
    parser = SseParser(limit=100)
    for _ in range(100):
        assert parser.feed(b"data: " + b"x" * 50 + b"\n\n") == messages("x" * 50)


lines = st.sampled_from(
    [b"data: one", b"data:two \xe6\x9d\xad", b"data", b": no", b"event: error", b"", b"", b"id: 3"]
)
line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(lines, line_ends)), st.data())
def test_any_cut_of_the_bytes_gives_the_same_events(
    script: list[tuple[bytes, bytes]], data: st.DataObject
) -> None:
    body = b"".join(line + end for line, end in script)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert parse(*pieces) == parse(body)
    assert parse(*(bytes([byte]) for byte in body)) == parse(body)


@given(st.lists(st.text().map(lambda text: text.replace("\r", "").strip()), max_size=5))
def test_what_was_written_as_events_is_read_back(texts: list[str]) -> None:
    body = "".join("".join(f"data: {line}\n" for line in text.split("\n")) + "\n" for text in texts)
    assert parse(body.encode()) == messages(*(text for text in texts if text))
