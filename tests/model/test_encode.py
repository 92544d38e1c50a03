"""The request that goes out, for each provider's habits."""

import gc
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.model.encode import Encoder
from turnbuckle.model.port import CallConfig, Request, ToolSpec
from turnbuckle.model.providers import (
    COMPATIBLE,
    DEEPSEEK,
    LLAMA_CPP,
    LM_STUDIO,
    MISTRAL,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    PROVIDERS,
    VLLM,
    Provider,
    changed_for,
    provider_of,
)
from turnbuckle.session.events import (
    AssistantMessage,
    ContextSummary,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.parts import Call, Image, JsonObject

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
                {
                    "role": "user",
                    "content": """\
Earlier: the tests were found.

Fix the test — bitte.

main, clean\
""",
                },
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


# -- one request a provider: the options, then each message on its line ---------------------------

EXCHANGE = Request(
    config=CallConfig(model="m-1", max_tokens=1000),
    system="Be brief.",
    tools=(),
    messages=(
        UserMessage(turn=1, step=1, content="main, clean", source="context"),
        UserMessage(turn=1, step=1, key="k", content="Fix it."),
        AssistantMessage(
            turn=1,
            step=1,
            content="Looking.",
            reasoning="Which?",
            tool_calls=(Call(call_id="call_1", name="list_files", arguments=""),),
            finish="tool_calls",
        ),
        ToolResult(turn=1, step=1, call_id="call_1", content="a.py", is_error=False),
        AssistantMessage(
            turn=1,
            step=2,
            content="",
            tool_calls=(Call(call_id="Ab3dE6gH9", name="read_file", arguments='{"path":"a.py"}'),),
            finish="tool_calls",
        ),
        ToolResult(turn=1, step=2, call_id="Ab3dE6gH9", content="x = 1", is_error=False),
        UserMessage(turn=2, step=1, key="l", content="And?"),
        AssistantMessage(turn=2, step=1, content="Done.", reasoning="So.", finish="stop"),
        UserMessage(turn=3, step=1, key="m", content="Thanks."),
    ),
)


def lines(provider: Provider) -> str:
    body = sent(EXCHANGE, provider)
    messages = body.pop("messages")
    compact = (json.dumps(part, separators=(",", ":")) for part in (body, *messages))
    return "".join(f"{line}\n" for line in compact)


def test_what_openai_is_sent() -> None:
    assert lines(OPENAI) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_deepseek_is_sent() -> None:
    assert lines(DEEPSEEK) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning_content":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","reasoning_content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_mistral_is_sent() -> None:
    assert lines(MISTRAL) == snapshot("""\
{"model":"m-1","stream":true,"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","tool_calls":[{"id":"OQMW7ZZOJ","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"OQMW7ZZOJ","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"assistant","content":"Understood."}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_openrouter_is_sent() -> None:
    assert lines(OPENROUTER) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_ollama_is_sent() -> None:
    assert lines(OLLAMA) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_lm_studio_is_sent() -> None:
    assert lines(LM_STUDIO) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning_content":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_llama_cpp_is_sent() -> None:
    assert lines(LLAMA_CPP) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning_content":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_vllm_is_sent() -> None:
    assert lines(VLLM) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


def test_what_a_plain_proxy_is_sent() -> None:
    assert lines(COMPATIBLE) == snapshot("""\
{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000}
{"role":"system","content":"Be brief."}
{"role":"user","content":"main, clean\\n\\nFix it."}
{"role":"assistant","content":"Looking.","reasoning_content":"Which?","tool_calls":[{"id":"call_1","type":"function","function":{"name":"list_files","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.py"}
{"role":"assistant","content":"","tool_calls":[{"id":"Ab3dE6gH9","type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"a.py\\"}"}}]}
{"role":"tool","tool_call_id":"Ab3dE6gH9","content":"x = 1"}
{"role":"user","content":"And?"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
""")


# -- single habits ---------------------------------------------------------------------------------


@given(st.lists(st.lists(st.text(), min_size=1, max_size=4), max_size=4))
def test_what_the_person_says_in_a_row_is_one_message(rows: list[list[str]]) -> None:
    messages: list[Message] = []
    for row in rows:
        messages += [UserMessage(turn=1, step=1, content=text) for text in row]
        messages.append(AssistantMessage(turn=1, step=1, content="ok", finish="stop"))
    shown = sent(replace(REQUEST, system="", messages=tuple(messages)))["messages"]
    said = [message["content"] for message in shown if message["role"] == "user"]
    assert said == ["\n\n".join(row) for row in rows]
    assert [message["role"] for message in shown] == ["user", "assistant"] * len(rows)


@given(st.text(min_size=1))
def test_short_call_ids_are_nine_letters_and_digits_on_both_sides(call_id: str) -> None:
    call = Call(call_id=call_id, name="f", arguments="{}")
    said = replace(WITH_CALL, tool_calls=(call,))
    result = ToolResult(turn=1, step=1, call_id=call_id, content="x", is_error=False)
    shown = sent(replace(REQUEST, system="", messages=(said, result)), MISTRAL)["messages"]
    short = shown[1]["tool_call_id"]
    assert re.fullmatch("[A-Za-z0-9]{9}", short)
    assert shown[0]["tool_calls"][0]["id"] == short


def test_a_bridge_stands_only_between_a_result_and_the_person() -> None:
    roles = [message["role"] for message in sent(EXCHANGE, MISTRAL)["messages"]]
    assert roles == [
        "system", "user", "assistant", "tool", "assistant", "tool",
        "assistant", "user", "assistant", "user",
    ]  # fmt: skip


def test_after_a_change_of_habits_everything_is_written_anew() -> None:
    encoder = Encoder(COMPATIBLE)
    encoder.body(EXCHANGE)
    encoder.follow(MISTRAL)
    assert encoder.body(EXCHANGE) == Encoder(MISTRAL).body(EXCHANGE)


# What servers say whose model sees nothing.
NO_IMAGES = (
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    "Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`",
    "Invalid content type. image_url is only supported by certain models.",
    "No endpoints found that support image input",
    "Image input is not enabled for this model",
    "Model does not support images. Please use a model that does.",
    "m is not a multimodal model",
    "At most 0 image(s) may be provided in one prompt.",
    "this model is missing data required for image input",
)


@pytest.mark.parametrize(
    ("complaint", "provider", "changed"),
    [
        ("no such tool", COMPATIBLE, None),
        ("stream_options is required", COMPATIBLE, None),
        ("Unrecognized request argument supplied: stream_options", COMPATIBLE,
         replace(COMPATIBLE, stream_options=False)),
        ("Unknown field stream_options", MISTRAL, None),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", COMPATIBLE,
         replace(COMPATIBLE, max_tokens_field="max_completion_tokens")),
        ('{"loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}', OPENAI,
         replace(OPENAI, max_tokens_field="max_tokens")),
        ("reasoning_content must be passed back", DEEPSEEK, replace(DEEPSEEK, echo="always")),
        ("reasoning_effort is not supported", COMPATIBLE, None),
        *((said, COMPATIBLE, replace(COMPATIBLE, images=False)) for said in NO_IMAGES),
        ("image_url is not supported", replace(COMPATIBLE, images=False), None),
        ("The image data you provided does not represent a valid image.", COMPATIBLE, None),
        ("Invalid base64 image_url.", COMPATIBLE, None),
        ("Unsupported image format: WebP. Send a PNG.", COMPATIBLE, None),
        ("unknown image type", COMPATIBLE, None),
        ("You uploaded an unsupported image. Make sure it is a png.", COMPATIBLE, None),
        ("Unsupported content part: image_url", COMPATIBLE, replace(COMPATIBLE, images=False)),
    ],
)  # fmt: skip
def test_a_complaint_changes_the_habit_that_it_names(
    complaint: str, provider: Provider, changed: Provider | None
) -> None:
    assert changed_for(complaint, provider) == changed


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
    assert thoughts(OPENAI, WITH_CALL) == {}
    assert thoughts(replace(COMPATIBLE, echo="always"), WITHOUT_CALL) == {
        "reasoning_content": "Hm."
    }
    empty = replace(WITH_CALL, reasoning=None)
    assert thoughts(DEEPSEEK, empty) == {"reasoning_content": ""}
    assert thoughts(DEEPSEEK, WITHOUT_CALL) == {}


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
    kept = dict(encoder._history._known)
    more = UserMessage(turn=2, step=1, content="And now?")
    encoder.body(replace(REQUEST, messages=(*HISTORY, more)))
    now = encoder._history._known
    assert all(now[key][1] is encoded for key, (_, encoded) in kept.items())
    encoder.body(replace(REQUEST, messages=(more,)))
    assert [message for message, _ in encoder._history._known.values()] == [more]


@given(st.lists(st.lists(st.sampled_from(HISTORY), max_size=6), max_size=6), st.booleans())
def test_a_body_does_not_depend_on_the_requests_before(
    requests: list[list[Message]], bridge: bool
) -> None:
    provider = replace(COMPATIBLE, bridge=bridge)
    encoder = Encoder(provider)
    for messages in requests:
        request = replace(REQUEST, messages=tuple(messages))
        assert encoder.body(request) == Encoder(provider).body(request)


IMAGE = Image(digest="d1", mime_type="image/png", size=3)
SHOWN = UserMessage(
    turn=1, step=1, content="The person shows an image.", source="context", image=IMAGE
)
SAID = UserMessage(turn=1, step=1, key="k", content="What is wrong here?")
PICTURES = {"d1": b"AAAA"}
PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def shown(
    *messages: Message, provider: Provider = COMPATIBLE, pictures: Mapping[str, bytes] = PICTURES
) -> list[JsonObject]:
    request = replace(REQUEST, system="", messages=messages)
    body: JsonObject = json.loads(Encoder(provider).body(request, pictures))
    return cast("list[JsonObject]", body["messages"])


def test_a_picture_is_a_part_of_what_the_person_says() -> None:
    told = {"type": "text", "text": "The person shows an image."}
    said = {"type": "text", "text": "What is wrong here?"}
    assert shown(SHOWN) == [{"role": "user", "content": [told, PART]}]
    assert shown(SHOWN, SAID) == [{"role": "user", "content": [told, PART, said]}]
    assert shown(SAID, SHOWN, SHOWN) == [
        {"role": "user", "content": [said, told, PART, told, PART]}
    ]
    # A text without words is no part: some servers refuse it.
    assert shown(SHOWN, replace(SAID, content="")) == shown(SHOWN)
    assert shown(HISTORY[3], HISTORY[4], SHOWN, provider=MISTRAL)[-2]["content"] == "Understood."


def test_a_picture_that_cannot_be_sent_is_told_of_in_words() -> None:
    (blind,) = shown(SHOWN, SAID, provider=replace(COMPATIBLE, images=False))
    assert blind["content"].startswith("The person shows an image. [it is left out, since you take")
    assert blind["content"].endswith("\n\nWhat is wrong here?")
    (gone,) = shown(SHOWN, pictures={})
    assert "its file is gone" in gone["content"]


def test_the_bytes_of_a_picture_are_wanted_once() -> None:
    encoder = Encoder(COMPATIBLE)
    request = replace(REQUEST, messages=(SHOWN, SAID))
    assert encoder.wanted(request) == [IMAGE]
    first = encoder.body(request, PICTURES)
    assert encoder.wanted(request) == []
    assert encoder.body(request) == first
    more = replace(request, messages=(SHOWN, SAID, HISTORY[6], replace(SHOWN, turn=2)))
    assert encoder.wanted(more) == [IMAGE]
    encoder.follow(replace(COMPATIBLE, images=False))
    assert encoder.wanted(more) == []


def test_a_picture_is_about_as_many_tokens_however_many_bytes_it_has() -> None:
    def tokens(data: bytes, *messages: Message) -> int:
        encoder = Encoder(COMPATIBLE)
        return encoder.tokens(encoder.body(replace(REQUEST, messages=messages), {"d1": data}))

    assert tokens(b"A" * 1_000_000, SHOWN) == tokens(b"AAAA", SHOWN)
    assert tokens(b"AAAA", SHOWN, SAID, SHOWN) > tokens(b"AAAA", SHOWN, SAID) + 500


def test_a_new_object_at_an_old_address_is_not_taken_for_the_old_one() -> None:
    encoder = Encoder(COMPATIBLE)
    for number in range(200):
        message = UserMessage(turn=1, step=1, content=f"number {number}")
        assert f"number {number}".encode() in encoder.body(replace(REQUEST, messages=(message,)))
        del message
        gc.collect(0)


def test_one_message_may_stand_twice() -> None:
    body = sent(replace(REQUEST, system="", messages=(HISTORY[6], HISTORY[6])))
    assert len(body["messages"]) == 2


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "OpenAI"),
        ("https://API.OpenAI.com/v1/", "OpenAI"),
        ("https://openrouter.ai/api/v1", "OpenRouter"),
        ("http://localhost:8080/v1", "localhost:8080"),
        ("http://localhost:11434/v1", "localhost:11434"),
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


@pytest.mark.parametrize(
    ("url", "row"),
    [
        ("http://localhost:11434/v1", OLLAMA),
        ("http://[::1]:1234/v1", LM_STUDIO),
        ("http://gpu-box:8080/v1", LLAMA_CPP),
        (" http://127.0.0.1:8000/v1", VLLM),
        ("https://api.mistral.ai:8080/v1", MISTRAL),
        ("http://localhost:4000/v1", COMPATIBLE),
    ],
)
def test_a_server_of_ones_own_is_known_by_its_port(url: str, row: Provider) -> None:
    assert replace(provider_of(url), name="") == replace(row, name="")


def test_whether_thoughts_stand_in_the_text_can_be_set() -> None:
    assert not provider_of("http://localhost:1234/v1", think_tags=False).think_tags
    assert provider_of("https://api.openai.com/v1", think_tags=True).think_tags
    assert provider_of("https://api.openai.com/v1", think_tags=None) == OPENAI


def test_no_host_and_no_port_is_claimed_twice() -> None:
    claims = [claim for row in PROVIDERS for claim in (*row.hosts, *row.ports)]
    assert len(claims) == len(set(claims))
