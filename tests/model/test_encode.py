"""The request that goes out, for each provider's habits."""

import gc
import json
from dataclasses import replace
from typing import cast

import pytest
from inline_snapshot import snapshot

from turnbuckle.model.encode import Encoder
from turnbuckle.model.port import CallConfig, Request, ToolSpec
from turnbuckle.model.providers import COMPATIBLE, PROVIDERS, Provider, provider_of
from turnbuckle.session.events import (
    AssistantMessage,
    ContextSummary,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.parts import Call, JsonObject

HISTORY: tuple[Message, ...] = (
    ContextSummary(covers=(3, 40), text="Earlier: the tests were found."),
    UserMessage(turn=1, step=1, key="k", content="Fix the test — bitte."),
    UserMessage(turn=1, step=1, content="main, clean", source="context"),
    AssistantMessage(
        turn=1,
        step=1,
        content="",
        reasoning="Which files?",
        tool_calls=(
            Call(call_id="a", name="list_files", arguments=""),
            Call(call_id="b", name="read_file", arguments='{"path": "é.py"}'),
        ),
        finish="tool_calls",
    ),
    ToolResult(turn=1, step=1, call_id="a", content="é.py", is_error=False),
    ToolResult(
        turn=1, step=1, call_id="b", content="<tool error: gone>", is_error=True, code="NOT_FOUND"
    ),
    AssistantMessage(turn=1, step=2, content="It is gone.", reasoning="Hm.", finish="stop"),
)

REQUEST = Request(
    config=CallConfig(model="m-1", temperature=0.5, max_tokens=1000),
    system="Be brief.",
    tools=(
        ToolSpec(
            name="list_files",
            description="Lists files.",
            parameters={"type": "object", "properties": {}},
        ),
    ),
    messages=HISTORY,
)


def sent(request: Request, provider: Provider = COMPATIBLE) -> JsonObject:
    return cast("JsonObject", json.loads(Encoder(provider).body(request)))


def test_a_full_history_goes_out_as_chat_messages() -> None:
    assert sent(REQUEST) == snapshot(
        {
            "model": "m-1",
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0.5,
            "max_tokens": 1000,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Earlier: the tests were found."},
                {"role": "user", "content": "Fix the test — bitte."},
                {"role": "user", "content": "main, clean"},
                {
                    "role": "assistant",
                    "content": "",
                    "reasoning_content": "Which files?",
                    "tool_calls": [
                        {
                            "id": "a",
                            "type": "function",
                            "function": {"name": "list_files", "arguments": "{}"},
                        },
                        {
                            "id": "b",
                            "type": "function",
                            "function": {"name": "read_file", "arguments": '{"path": "é.py"}'},
                        },
                    ],
                },
                {"role": "tool", "tool_call_id": "a", "content": "é.py"},
                {"role": "tool", "tool_call_id": "b", "content": "<tool error: gone>"},
                {"role": "assistant", "content": "It is gone."},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "list_files",
                        "description": "Lists files.",
                        "parameters": {"type": "object", "properties": {}},
                    },
                }
            ],
        }
    )


def test_what_is_absent_is_not_sent() -> None:
    request = Request(config=CallConfig(model="m"), system="", tools=(), messages=HISTORY[1:2])
    assert sent(request) == snapshot(
        {
            "model": "m",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": "Fix the test — bitte."}],
        }
    )


def test_the_body_is_compact_utf_8() -> None:
    request = Request(config=CallConfig(model="m"), system="", tools=(), messages=HISTORY[1:2])
    assert Encoder(replace(COMPATIBLE, stream_options=False)).body(request).decode() == (
        '{"model":"m","stream":true,"messages":[{"role":"user","content":"Fix the test — bitte."}]}'
    )


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("api.openai.com", {"stream_options": True, "limit": "max_completion_tokens"}),
        ("api.mistral.ai", {"stream_options": False, "limit": "max_tokens"}),
        ("api.deepseek.com", {"stream_options": True, "limit": "max_tokens"}),
    ],
)
def test_options_follow_the_provider(host: str, expected: JsonObject) -> None:
    body = sent(REQUEST, PROVIDERS[host])
    assert ("stream_options" in body) == expected["stream_options"]
    assert body[expected["limit"]] == 1000
    assert body["stream"] is True


def thoughts(provider: Provider, message: AssistantMessage) -> JsonObject:
    shown = sent(replace(REQUEST, system="", messages=(message,)), provider)["messages"][0]
    return {name: text for name, text in shown.items() if name.startswith("reasoning")}


WITH_CALL = cast("AssistantMessage", HISTORY[3])
WITHOUT_CALL = cast("AssistantMessage", HISTORY[6])


def test_thoughts_go_back_on_the_steps_that_called_tools() -> None:
    assert thoughts(COMPATIBLE, WITH_CALL) == {"reasoning_content": "Which files?"}
    assert thoughts(COMPATIBLE, WITHOUT_CALL) == {}
    assert thoughts(COMPATIBLE, replace(WITH_CALL, reasoning=None)) == {}


def test_a_provider_may_want_them_never_or_always_or_even_empty() -> None:
    assert thoughts(PROVIDERS["api.openai.com"], WITH_CALL) == {}
    assert thoughts(replace(COMPATIBLE, echo="always"), WITHOUT_CALL) == {
        "reasoning_content": "Hm."
    }
    empty = replace(WITH_CALL, reasoning=None)
    assert thoughts(PROVIDERS["api.deepseek.com"], empty) == {"reasoning_content": ""}
    assert thoughts(PROVIDERS["api.deepseek.com"], WITHOUT_CALL) == {}


def test_thoughts_go_back_under_the_name_that_they_came_by() -> None:
    encoder = Encoder(COMPATIBLE)
    request = replace(REQUEST, messages=(WITH_CALL,))
    assert b'"reasoning_content":"Which' in encoder.body(request)
    encoder.learn(None)
    assert b'"reasoning_content":"Which' in encoder.body(request)
    encoder.learn("reasoning")
    assert b'"reasoning":"Which' in encoder.body(request)


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        (" \n", "{}"),
        ('{"a": ', '{"invalid":"{\\"a\\": "}'),
        ("[1]", '{"invalid":"[1]"}'),
        ('{"a": NaN}', '{"invalid":"{\\"a\\": NaN}"}'),
    ],
)
def test_arguments_in_the_history_are_always_a_json_object(raw: str, arguments: str) -> None:
    call = Call(call_id="c", name="f", arguments=raw)
    message = replace(WITH_CALL, tool_calls=(call,))
    shown = sent(replace(REQUEST, system="", messages=(message,)))["messages"][0]
    assert shown["tool_calls"][0]["function"] == {"name": "f", "arguments": arguments}


def test_what_was_encoded_once_is_kept_for_as_long_as_it_is_sent() -> None:
    encoder = Encoder(COMPATIBLE)
    encoder.body(REQUEST)
    kept = dict(encoder._kept)
    more = UserMessage(turn=2, step=1, content="And now?")
    encoder.body(replace(REQUEST, messages=(*HISTORY, more)))
    assert all(encoder._kept[key][1] is encoded for key, (_, encoded) in kept.items())
    encoder.body(replace(REQUEST, messages=(more,)))
    assert [message for message, _ in encoder._kept.values()] == [more]


def test_a_new_object_at_an_old_address_is_not_taken_for_the_old_one() -> None:
    encoder = Encoder(COMPATIBLE)
    for number in range(200):
        message = UserMessage(turn=1, step=1, content=f"number {number}")
        assert f"number {number}".encode() in encoder.body(replace(REQUEST, messages=(message,)))
        del message
        gc.collect(0)


def test_one_message_may_stand_twice() -> None:
    body = sent(replace(REQUEST, system="", messages=(HISTORY[1], HISTORY[1])))
    assert len(body["messages"]) == 2


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "OpenAI"),
        ("https://API.OpenAI.com/v1/", "OpenAI"),
        ("https://openrouter.ai/api/v1", "OpenRouter"),
        ("http://localhost:8080/v1", "localhost:8080"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        ("https://user:secret@models.example.org/v1", "models.example.org"),
        ("https://api.openai.com.example.org/v1", "api.openai.com.example.org"),
        ("nonsense", "the model's endpoint"),
        ("http://host:port/", "the model's endpoint"),
        ("http://[", "the model's endpoint"),
    ],
)
def test_a_provider_is_known_by_the_host_of_its_url(url: str, name: str) -> None:
    assert provider_of(url).name == name
