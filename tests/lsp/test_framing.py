"""Frames are cut right however the bytes arrive, and a broken stream is noticed at once."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.rpc.body import decode, encode
from turnbuckle.lsp.rpc.framing import MAX_HEADER, BadFrame, Frames, frame


def cut(*pieces: bytes, max_body: int = 1000) -> list[bytes]:
    frames = Frames(max_body)
    return [body for piece in pieces for body in frames.feed(piece)]


def no_plain(value: object) -> object:
    raise TypeError(type(value).__name__)


@given(st.lists(st.binary(max_size=40)), st.data())
def test_any_split_of_the_bytes_gives_the_same_bodies(
    bodies: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(map(frame, bodies))
    borders = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [
        stream[start:end] for start, end in zip([0, *borders], [*borders, len(stream)], strict=True)
    ]
    assert cut(*pieces) == bodies


@given(st.binary(max_size=300), st.integers(1, 7))
def test_no_bytes_do_more_than_end_the_stream(stream: bytes, size: int) -> None:
    with suppress(BadFrame):
        cut(*(stream[at : at + size] for at in range(0, len(stream), size)))


def test_byte_by_byte_is_a_split_like_any_other() -> None:
    stream = frame(b'{"a":1}') + frame("„é😀”".encode())
    assert cut(*(bytes([byte]) for byte in stream)) == [b'{"a":1}', "„é😀”".encode()]


def test_the_length_is_in_bytes_and_not_in_characters() -> None:
    body = "測試😀é".encode()
    assert frame(body) == b"Content-Length: 12\r\n\r\n" + body
    assert cut(frame(body) * 2) == [body, body]


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length:   2  \r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nX-Anything: a: b\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        b"\r\n\nContent-Length: 002\r\n\r\n",
    ],
)
def test_headers_in_other_spellings_are_read(header: bytes) -> None:
    assert cut(header + b"{}" + frame(b"[]")) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: +1\r\n\r\n",
        b"Content-Length: 1_0\r\n\r\n",
        b"Content-Length: 0x10\r\n\r\n",
        b"Content-Length: ten\r\n\r\n",
        b"Content-Length: \xd9\xa1\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"hello from a print\r\n\r\n",
        b"x" * (MAX_HEADER + 1),
        b"A: b\r\n" * MAX_HEADER + b"\r\n",
    ],
)
def test_a_header_that_cannot_be_trusted_ends_the_stream(header: bytes) -> None:
    with pytest.raises(BadFrame) as caught:
        cut(frame(b"{}"), header + b"{}")
    assert caught.value.code in (-32700, -32600)


def test_a_body_over_the_limit_is_refused_before_it_arrives() -> None:
    with pytest.raises(BadFrame, match="1000 bytes") as caught:
        cut(b"Content-Length: 1001\r\n\r\n")
    assert caught.value.code == -32600
    assert cut(frame(b"x" * 1000)) == [b"x" * 1000]


def test_bodies_before_a_broken_header_are_still_given() -> None:
    got: list[bytes] = []
    with pytest.raises(BadFrame):
        got.extend(Frames().feed(frame(b"1") + frame(b"2") + b"nonsense\n\n"))
    assert got == [b"1", b"2"]


def test_many_small_frames_at_once_cost_no_more_than_their_bytes() -> None:
    stream = frame(b"{}") * 20_000
    assert len(cut(stream)) == 20_000


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"a\udfffb"', "a\ufffdb"),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (rb'"\ud83d\\ude00"', "\ufffd\\ude00"),
        (rb'"\\ud800 \ud800"', "\\ud800 \ufffd"),
        (rb'"\\\ud800"', "\\\ufffd"),
        (rb'{"\uD800":1}', {"\ufffd": 1}),
    ],
)
def test_half_a_character_is_replaced_and_kills_nothing(body: bytes, value: object) -> None:
    assert decode(body) == value


@given(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010) | st.sampled_from('\\u"')))
def test_surrogate_escapes_decode_as_a_replacing_utf_16_decoder_would(text: str) -> None:
    escaped = "".join(
        f"\\u{ord(char):04x}" if char not in '\\u"' else {"\\": "\\\\", '"': '\\"', "u": "u"}[char]
        for char in text
    )
    right = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert decode(f'"{escaped}"'.encode()) == right


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nul",
        b"NaN",
        b"1e999",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\\u12"',
        b'"\\',
        b"[" * 100_000,
        b"[" * 5000 + b'"\\ud800"' + b"]" * 5000,
    ],
)
def test_what_is_not_json_in_utf_8_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(body)


def test_an_outgoing_lone_surrogate_is_replaced() -> None:
    assert decode(encode({"name": "a\udcffb", "big": 2**70}, no_plain)) == {
        "name": "a\ufffdb",
        "big": float(2**70),
    }


@pytest.mark.parametrize("value", [object(), {"a": {1, 2}}, {"\udcff": object()}, b"bytes"])
def test_what_is_no_json_is_not_sent(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(value, no_plain)
