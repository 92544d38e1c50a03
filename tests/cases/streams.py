"""What a provider may send: the cases A."""

import email.utils
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from cases.case import Case, Run
from cases.streams_played import Json, Played, as_said, pieces, play, response, sent
from turnbuckle.model.providers import DEEPSEEK
from turnbuckle.session.events import AssistantMessage, LlmStream
from turnbuckle.session.loading import read_log
from turnbuckle.session.store import read_lines
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import Response

OUTCOMES = {"ok": "completed", "incomplete": "stopped", "provider_error": "error"}


async def answered(case: Case, folder: Path) -> None:
    """One answer, or several that each have a turn of their own."""
    for number, data in enumerate(case.data.get("cases", [case.data])):
        played = await play([response(data)], folder / str(number))
        ends_as_said(played, data["expect"])


def ends_as_said(played: Played, expect: Json) -> None:
    """How the turn ended, and all else that a case says."""
    end = played.end.end
    cut = expect.get("finish") == "length"
    assert end.kind == ("max-tokens" if cut else OUTCOMES[expect["outcome"]])
    if "error_contains" in expect:
        assert end.failure is not None
        assert expect["error_contains"] in end.failure.message
        assert played.first.interrupted
    as_said(played, expect)


async def broken_off(case: Case, folder: Path) -> None:
    """An error in a stream is the provider's; a request that was wrong is not sent again."""
    await answered(case, folder)
    (said,) = [one["text"] for one in case.data["chunks"]]
    refusal = {"type": "invalid_request_error", "message": case.data["expect"]["error_contains"]}
    before, _ = said.split('data: {"error"')
    wrong = f'{before}data: {{"error": {json.dumps(refusal)}}}\n\n'.encode()
    for name, chunks, requests in (("busy", pieces(case.data), 2), ("wrong", [wrong], 1)):
        played = await play([Response(chunks=chunks)], folder / name, attempts=5)
        assert len(played.requests) == requests


async def same_id(case: Case, folder: Path) -> None:
    """Calls that share an id: two that differ are two, one that is said twice is one."""
    differ, twice = case.data["cases"]
    played = await play([response(differ)], folder / "differ")
    as_said(played, differ["expect"])
    asked, results = sent(played.requests[1])[2:3], sent(played.requests[1])[3:]
    ids = [call["id"] for call in asked[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [result["tool_call_id"] for result in results] == ids
    played = await play([response(twice)], folder / "twice")
    as_said(played, twice["expect"])


async def no_id(case: Case, folder: Path) -> None:
    """Calls without an id get one at once, and the session can be opened again."""
    await answered(case, folder)
    for path in folder.glob("*/state/sessions/**/*.jsonl"):
        lines, _ = read_lines(path)
        loaded = read_log(lines)
        assert loaded.damage is None
        calls = [
            call
            for entry in loaded.entries
            if isinstance(entry.fact, AssistantMessage)
            for call in entry.fact.tool_calls
        ]
        assert calls
        assert all(call.call_id for call in calls)


async def dropped(case: Case, folder: Path) -> None:
    """A connection that breaks after words were seen: the answer is there once."""
    script = [response(attempt) for attempt in case.data["attempts"]]
    played = await play(script, folder, attempts=len(script))
    ends_as_said(played, case.data["expect"])
    assert len(played.of(AssistantMessage)) == case.data["expect"]["assistant_messages"]
    # Whoever watches is told: what came before the second request of a step counts no more.
    assert [fact.attempt for fact in played.of(LlmStream)] == [1, 2]


async def stalled(case: Case, folder: Path) -> None:
    """Comments keep no answer alive."""
    (_, first), (_, _, comment) = case.data["script"]

    def kept_warm() -> Iterator[bytes]:
        yield first.encode()
        while True:
            yield comment.encode()

    limit, expect = case.data["idle_limit_s"], case.data["expect"]
    warm = Response(chunks=kept_warm())
    with anyio.fail_after(limit + expect["within_s"] + 10):
        played = await play([warm], folder, idle=limit, attempts=2)
    (failed,) = played.failures
    assert failed.failure.kind == expect["outcome"]
    assert len(played.ran) == expect["calls_executed"]
    # It may be tried again, and is.
    assert len(played.requests) == 2
    assert played.end.end.kind == "completed"


async def thought(case: Case, folder: Path) -> None:
    """What a model thought is no text, and goes back to it where it wants that."""
    played = await play([response(case.data)], folder, provider=DEEPSEEK)
    ends_as_said(played, case.data["expect"])
    wanted = case.data["next_request"]["assistant_has"]
    assert sent(played.requests[1])[2][wanted] == case.data["expect"]["reasoning"]


def refusals(responses: list[Json]) -> list[Response]:
    return [
        answer("ok") if one["status"] == 200 else Response(
            status=one["status"],
            headers={"content-type": "application/json", **one.get("headers", {})},
            chunks=(b'{"error": {"message": "not now"}}',),
        )
        for one in responses
    ]  # fmt: skip


async def refused(case: Case, folder: Path) -> None:
    """A refusal that says when to come again, one that says much later, one that says nothing."""
    for number, data in enumerate(case.data["cases"]):
        expect = data["expect"]
        played = await play(refusals(data["responses"]), folder / str(number), attempts=5)
        assert len(played.requests) == expect["attempts"]
        if "min_wait_s" in expect:
            assert played.asked[1] - played.asked[0] >= expect["min_wait_s"]
        if expect["outcome"] == "ok":
            assert played.end.end.kind == "completed"
            continue
        failure = played.end.end.failure
        assert failure is not None
        assert failure.kind == "rate-limit"
        assert failure.retry_after == float(expect["message_contains"])
        assert re.search(r"3 h|10,?800", failure.message), failure.message


async def odd_waits(case: Case, folder: Path) -> None:
    """When to come again, as odd servers say it."""
    for number, (said, expected) in enumerate(case.data["rows"]):
        if found := re.fullmatch(r"<now([+-]\d+)s as HTTP date>", said):
            said = email.utils.formatdate(time.time() + int(found[1]), usegmt=True)
        headers = {"retry-after": said.encode().decode("latin-1")}
        script = refusals([{"status": 429, "headers": headers}, {"status": 200}])
        played = await play(script, folder / str(number), attempts=5)
        if expected == "no_retry":
            assert len(played.requests) == 1
            continue
        assert len(played.requests) == 2
        asked = played.failures[0].failure.retry_after
        if expected == "default":
            assert not asked
        else:  # a date has whole seconds: of two, more than one is left
            assert asked is not None
            assert asked >= 0.9


async def large(case: Case, folder: Path) -> None:
    """A call in very many pieces is one call, and what it costs grows with its size alone."""
    before, _, after = case.data["wrap"].partition("%s")
    body: list[str] = [before, *[case.data["fragment"]] * case.data["fragments"], after]

    def chunks() -> Iterator[bytes]:
        from turnbuckle.testing.completions import DONE, chunk

        opened: dict[str, Any] = {"index": 0, "id": "w", "type": "function"}
        for count, piece in enumerate(body):
            function = {"arguments": piece} | ({"name": "write_file"} if count == 0 else {})
            call = {**(opened if count == 0 else {"index": 0}), "function": function}
            yield chunk({"tool_calls": [call]})
        yield chunk(finish="tool_calls")
        yield DONE

    # Far from what it takes, and farther from what it would take if each piece were read again.
    with anyio.fail_after(10 * case.data["expect"]["max_s"]):
        played = await play([Response(chunks=[b"".join(chunks())])], folder)
    assert len(played.first.tool_calls) == case.data["expect"]["calls"]
    assert played.ran == [
        ("write_file", {"path": "big.txt", "text": case.data["fragment"] * case.data["fragments"]})
    ]


RUN: dict[str, Run] = {
    "A01": answered,
    "A03": answered,
    "A04": answered,
    "A07": answered,
    "A08": answered,
    "A09": broken_off,
    "A11": answered,
    "A12": answered,
    "A13": answered,
    "A15": dropped,
    "A17": stalled,
    "A18": answered,
    "A19": answered,
    "A21": same_id,
    "A23": no_id,
    "A24": thought,
    "A25": answered,
    "A27": refused,
    "A28": odd_waits,
    "A29": answered,
    "A31": large,
}
