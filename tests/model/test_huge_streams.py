"""What is far too large is refused in time and memory that are bounded; what is large is read."""

import gzip
import tracemalloc
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.model import loose
from turnbuckle.model.answer import Answer
from turnbuckle.model.closing import Closing
from turnbuckle.model.endpoint import new_client
from turnbuckle.model.failures import Failures
from turnbuckle.model.inflating import Inflating
from turnbuckle.model.limits import ANSWER_LIMIT, BITE, CALLS_LIMIT, EVENT_LIMIT, TooLarge
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.pieces import Text
from turnbuckle.model.port import CallConfig, ModelFailed, ModelRefused, Reply, Request
from turnbuckle.model.providers import COMPATIBLE
from turnbuckle.model.sse import SseParser
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.completions import DONE, chunk
from turnbuckle.testing.modelserver import ModelServer, Response
from turnbuckle.testing.strategies import soak

MIB = 1024 * 1024
TOO_MUCH = (
    r"^P sent too much: .* Ask for less at once; where it happens again, try another model\.$"
)
STOP = chunk(finish="tool_calls")


def call(arguments: str, *, index: int = 0, id_: str = "w", name: str = "run") -> bytes:
    function = {"name": name, "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": id_, "function": function}]})


def read(pieces: Iterable[bytes]) -> Reply:
    answer = Answer(COMPATIBLE, Failures("P"), lambda _: None)
    for piece in pieces:
        answer.take(piece)
    answer.end()
    return answer.reply()


def refused(pieces: Iterable[bytes]) -> int:
    """The most memory, in bytes, that it took until the stream was refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelRefused, match=TOO_MUCH) as caught:
            read(pieces)
        assert caught.value.failure.kind == "protocol"
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [1_000, BITE])
def test_a_line_without_an_end_takes_no_more_memory_than_a_line_may(size: int) -> None:
    assert refused(repeat(b"x" * size)) < 3 * EVENT_LIMIT


def test_a_line_of_64_mib_is_refused_long_before_it_is_whole() -> None:
    whole = chain([b'data: {"x":"'], repeat(b"x" * BITE, 64 * MIB // BITE), [b'"}\n\n'])
    assert refused(whole) < 3 * EVENT_LIMIT


def test_lines_that_make_one_event_without_an_end_are_bounded_together() -> None:
    def feed_on() -> None:
        parser = SseParser(limit=MIB // 4)
        while True:
            parser.feed(b"data:xx\n" * 1_000)

    tracemalloc.start()
    with pytest.raises(TooLarge):
        feed_on()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MIB


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_an_answer_without_an_end_is_refused(field: str) -> None:
    assert refused(repeat(chunk({field: "é" * 60_000}))) < 4 * ANSWER_LIMIT


def test_the_arguments_of_a_call_without_an_end_are_refused() -> None:
    assert refused(repeat(call("x" * 60_000))) < 4 * ANSWER_LIMIT


def test_pieces_of_one_letter_take_the_memory_of_letters() -> None:
    tracemalloc.start()
    text = Text()
    for _ in range(200_000):
        text.add("\u4e2d")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000 * 12
    assert text.whole() == "\u4e2d" * 200_000


@given(st.lists(st.text(st.characters() | st.sampled_from("\r\n\ud83d\ude00"), max_size=4)))
def test_a_text_in_pieces_is_the_text(texts: list[str]) -> None:
    text = Text()
    shown = [text.add(piece) for piece in texts]
    assert text.whole() == "".join(shown)
    assert text.size == len(text.whole())
    assert bool(text) == bool(text.whole())


def test_as_many_calls_as_there_may_be_are_read() -> None:
    calls = [call("{}", index=n, id_=f"c{n}") for n in range(CALLS_LIMIT)]
    reply = read([*calls, STOP, DONE])
    assert [made.call_id for made in reply.tool_calls] == [f"c{n}" for n in range(CALLS_LIMIT)]


def test_a_hundred_thousand_calls_are_refused() -> None:
    assert refused(call("{}", index=n, id_=f"c{n}") for n in range(100_000)) < 8 * MIB


def test_a_hundred_thousand_calls_in_one_event_are_refused() -> None:
    calls = [{"index": n, "id": f"c{n}"} for n in range(100_000)]
    assert refused([chunk({"tool_calls": calls})]) < 64 * MIB


def test_an_empty_fragment_a_hundred_thousand_times_in_one_event_is_refused() -> None:
    refused([chunk({"tool_calls": [{}] * 100_000})])


def test_what_looks_like_the_beginning_of_a_call_all_the_time_is_read_in_time() -> None:
    # The name in each fragment, and braces on both sides of each cut: the text of a program.
    piece = "{" + "x" * 2_000 + "}"

    def fragments() -> Iterator[bytes]:
        yield call('["')
        yield from repeat(call(piece), 6_000)
        yield call('"]')
        yield STOP

    (made,) = read(fragments()).tool_calls
    assert made.arguments == '["' + piece * 6_000 + '"]'


@settings(max_examples=soak(300))
@given(
    st.text('{}[]"\\ a1,:', max_size=30) | st.sampled_from(['{"a":"}"}', '{"\\"":[]} ']), st.data()
)
def test_a_json_text_is_followed_at_any_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    closing = Closing()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        closing.add(text[start:end])
    if isinstance(loose.read(text), dict | list):
        assert closing.whole
    straight = Closing()
    straight.add(text)
    assert straight.whole == closing.whole


# -- over HTTP, compressed ------------------------------------------------------------------------

REQUEST = Request(
    config=CallConfig(model="m"),
    system="",
    tools=(),
    messages=(UserMessage(turn=1, step=1, content="hello"),),
)
HELLO = chunk({"content": "Hello"}) + chunk(finish="stop") + DONE


async def asked(response: Response) -> Reply:
    async with ModelServer([response]) as server, new_client() as client:
        with anyio.fail_after(50):
            return await OpenAIChat(server.url, client=client)(REQUEST, lambda _: None)


def packed(encoding: str, *chunks: bytes, kind: str = "text/event-stream") -> Response:
    headers = {"content-type": kind, "content-encoding": encoding}
    return Response(headers=headers, chunks=chunks)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(HELLO)),
        ("X-GZIP", gzip.compress(HELLO[:50]) + gzip.compress(HELLO[50:]) + b"\0" * 20),
        ("deflate", zlib.compress(HELLO)),
        ("deflate", raw_deflate(HELLO)),
        ("identity", HELLO),
    ],
)
async def test_what_is_compressed_unasked_is_unpacked(encoding: str, body: bytes) -> None:
    assert (await asked(packed(encoding, body))).content == "Hello"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "nonsense"])
async def test_what_cannot_be_unpacked_in_bounds_is_refused(encoding: str) -> None:
    with pytest.raises(ModelFailed, match="cannot be read: compressed as ") as caught:
        await asked(packed(encoding, gzip.compress(gzip.compress(HELLO))))
    assert caught.value.failure.kind == "protocol"


async def test_what_is_not_compressed_as_it_says_is_a_failure() -> None:
    with pytest.raises(ModelFailed, match="not compressed as it says"):
        await asked(packed("gzip", HELLO))


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_a_little_that_unpacks_to_very_much_is_refused(kind: str) -> None:
    bomb = gzip.compress(b"x" * (32 * MIB))
    with pytest.raises(ModelFailed, match="sent too much"):
        await asked(packed("gzip", bomb, kind=kind))


@settings(max_examples=soak(60))
@given(st.binary(max_size=300), st.integers(1, 64), st.integers(1, 40), st.booleans())
def test_what_is_unpacked_is_what_was_packed(
    data: bytes, repeats: int, step: int, twice: bool
) -> None:
    body = gzip.compress(data * repeats) + (gzip.compress(data) if twice else b"")
    inflating = Inflating(bite=7)
    pieces = [
        piece for at in range(0, len(body), step) for piece in inflating.feed(body[at : at + step])
    ]
    assert b"".join(pieces) == data * (repeats + twice)
    assert all(len(piece) <= 7 for piece in pieces)


def test_what_waits_in_the_unpacker_comes_out_though_no_more_goes_in() -> None:
    # Without a checksum after it, so that the last bytes of text come with the last ones fed.
    for length in range(1, 300):
        data, inflating = b"ab" * length, Inflating(bite=3)
        body = raw_deflate(data)
        pieces = [inflating.feed(body[at : at + 2]) for at in range(0, len(body), 2)]
        assert b"".join(chain.from_iterable(pieces)) == data


async def test_an_answer_in_one_piece_is_bounded_too() -> None:
    body = Response(headers={"content-type": "application/json"}, chunks=repeat(b" " * BITE, 1_000))
    with pytest.raises(ModelFailed, match="sent too much"):
        await asked(body)
