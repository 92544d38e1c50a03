"""How named providers differ, as data."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

Echo: TypeAlias = Literal["never", "tool-steps", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One endpoint's habits.

    `reasoning_fields` are where thoughts may stand in an answer, best first. `echo` says on which
    assistant messages they are sent back, and `echo_empty` whether also where there were none.
    """

    name: str
    reasoning_fields: tuple[str, ...] = ("reasoning_content", "reasoning")
    echo: Echo = "tool-steps"
    echo_empty: bool = False
    stream_options: bool = True
    max_tokens_field: str = "max_tokens"


COMPATIBLE = Provider(name="the model's endpoint")
"""What is taken for granted where nothing is known."""

PROVIDERS: dict[str, Provider] = {
    "api.openai.com": Provider(
        name="OpenAI", echo="never", max_tokens_field="max_completion_tokens"
    ),
    "api.deepseek.com": Provider(name="DeepSeek", echo_empty=True),
    "openrouter.ai": Provider(name="OpenRouter", reasoning_fields=("reasoning",)),
    "api.mistral.ai": Provider(name="Mistral", echo="never", stream_options=False),
}
"""By the host of the base URL."""


def provider_of(base_url: str) -> Provider:
    """The entry for this endpoint; one that nobody knows is called by its host and port."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return COMPATIBLE
    if host in PROVIDERS:
        return PROVIDERS[host]
    if not host:
        return COMPATIBLE
    shown = f"[{host}]" if ":" in host else host
    return replace(COMPATIBLE, name=f"{shown}:{port}" if port else shown)
