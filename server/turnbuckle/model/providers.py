"""How providers differ, as data: one row each, and what a row learns from a complaint."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

Echo: TypeAlias = Literal["never", "tool-steps", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One endpoint's habits. A row is known by one of its hosts, else by one of its ports.

    What is sent: `echo` says on which assistant messages thoughts go back, and `echo_empty` whether
    also where there were none; `short_call_ids` are nine letters and digits; `bridge` puts an
    assistant's message between tool results and what the person says next; without
    `images`, pictures are told of in words.

    What is read: `reasoning_fields` are where thoughts may stand, best first; with `think_tags`
    they may also begin the text, between `<think>` and `</think>`. Some servers do not say that a
    request is too long for them: above so many tokens, `cuts_above` may have cut it, and an answer
    of `mute_above` in which nothing is said means just that.
    """

    name: str
    hosts: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    stream_options: bool = True
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    echo: Echo = "tool-steps"
    echo_empty: bool = False
    short_call_ids: bool = False
    bridge: bool = False
    images: bool = True
    reasoning_fields: tuple[str, ...] = ("reasoning_content", "reasoning")
    think_tags: bool = True
    cuts_above: int | None = None
    mute_above: int | None = None
    overflow_advice: str = "The conversation is too long for this model."


COMPATIBLE = Provider(name="the model's endpoint")
"""What is taken for granted where nothing is known."""

OPENAI = Provider(
    name="OpenAI",
    hosts=("api.openai.com",),
    max_tokens_field="max_completion_tokens",
    echo="never",
    think_tags=False,
)
DEEPSEEK = Provider(name="DeepSeek", hosts=("api.deepseek.com",), echo_empty=True, think_tags=False)
MISTRAL = Provider(
    name="Mistral",
    hosts=("api.mistral.ai", "codestral.mistral.ai"),
    stream_options=False,  # fields that it does not know are refused; usage comes without asking
    echo="never",
    short_call_ids=True,
    bridge=True,
    think_tags=False,
)
OPENROUTER = Provider(
    name="OpenRouter",
    hosts=("openrouter.ai",),
    reasoning_fields=("reasoning", "reasoning_content"),
    think_tags=False,
)
OLLAMA = Provider(
    name="Ollama",
    ports=(11434,),
    reasoning_fields=("reasoning", "reasoning_content"),
    cuts_above=2000,
    overflow_advice="Ollama takes its context from OLLAMA_CONTEXT_LENGTH when it starts, or from "
    "num_ctx in a Modelfile; a request cannot change it.",
)
LM_STUDIO = Provider(
    name="LM Studio",
    ports=(1234,),
    mute_above=2000,
    overflow_advice="Load the model with a larger context length.",
)
LLAMA_CPP = Provider(
    name="llama.cpp",
    ports=(8080,),
    overflow_advice="A llama.cpp server gets a larger context with -c.",
)
VLLM = Provider(
    name="vLLM",
    ports=(8000,),
    reasoning_fields=("reasoning", "reasoning_content"),
    overflow_advice="A vLLM server gets a larger context with --max-model-len.",
)

PROVIDERS: tuple[Provider, ...] = (
    OPENAI, DEEPSEEK, MISTRAL, OPENROUTER, OLLAMA, LM_STUDIO, LLAMA_CPP, VLLM,
)  # fmt: skip


def provider_of(base_url: str, *, think_tags: bool | None = None) -> Provider:
    """The row for this endpoint; one that only its port tells is called by its place.

    `think_tags` stands above what the row says, unless it is None.
    """
    row = _row_of(base_url)
    return row if think_tags is None else replace(row, think_tags=think_tags)


def changed_for(complaint: str, provider: Provider) -> Provider | None:
    """The row with the one habit changed that a refusal complains of; None if it names none.

    So a proxy in front of a strict provider, which no table can know, is understood at the first
    refusal.
    """
    for pattern, change in _CHANGES:
        if pattern.search(complaint) and (changed := change(provider)) != provider:
            return changed
    return None


def _row_of(base_url: str) -> Provider:
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return COMPATIBLE
    if not host:
        return COMPATIBLE
    for row in PROVIDERS:
        if host in row.hosts:
            return row
    # A port is a guess: the habits of such a row harm nobody else, but its name would mislead.
    row = next((row for row in PROVIDERS if port in row.ports), COMPATIBLE)
    shown = f"[{host}]" if ":" in host else host
    return replace(row, name=f"{shown}:{port}" if port else shown)


_REFUSED = r"(?:extra|forbidden|not (?:permitted|allowed|supported)|unsupported|unknown|unrecogni)"


def _unwanted(field: str) -> str:
    """A pattern for complaints of a field that should not have been sent."""
    return rf"\b{field}\b.{{0,120}}{_REFUSED}|{_REFUSED}.{{0,120}}\b{field}\b"


_NO_IMAGES = (
    r"\bimages?(?:_url)?\b.{0,60}(?:not (?:supported|enabled|allowed|accepted)|only supported)"
    r"|\b(?:unknown|not accept|required for|supports?)\b"
    r".{0,60}\bimages?(?:_url)?\b(?!\W{0,3}(?:format|type|media|size|file|dimension|detail))"
    r"|unsupported.{0,40}\bimage_url\b|not a (?:multimodal|vision) model|at most 0 image"
)

_CHANGES: tuple[tuple[re.Pattern[str], Callable[[Provider], Provider]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), change)
    for pattern, change in (
        (
            r"must be passed back|missing.{0,40}reasoning_content",
            lambda row: replace(
                row, echo="always" if row.echo_empty else "tool-steps", echo_empty=True
            ),
        ),
        (
            _unwanted("reasoning(?:_content)?"),
            lambda row: replace(row, echo="never", echo_empty=False),
        ),
        (_unwanted("stream_options"), lambda row: replace(row, stream_options=False)),
        (
            r"use\W+max_completion_tokens",
            lambda row: replace(row, max_tokens_field="max_completion_tokens"),
        ),
        (
            _unwanted("max_completion_tokens"),
            lambda row: replace(row, max_tokens_field="max_tokens"),
        ),
        (
            r"tool call id.{0,120}length of 9",
            lambda row: replace(row, short_call_ids=True),
        ),
        (
            r"unexpected role.{0,20}user.{0,20}after.{0,20}tool",
            lambda row: replace(row, bridge=True),
        ),
        (_NO_IMAGES, lambda row: replace(row, images=False)),
    )
)
