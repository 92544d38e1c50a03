"""Providers that need no configuration but a key, and servers that this machine may run; data."""

from dataclasses import dataclass

from turnbuckle.config.settings import host_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A provider whose key stands in a usual variable; `model` is asked where none is named.

    `keys` is the page where people get a key.
    """

    id: str
    title: str
    base_url: str
    variable: str
    model: str
    keys: str


KNOWN = (
    Known(
        id="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        variable="OPENAI_API_KEY",
        model="gpt-5.4-mini",
        keys="https://platform.openai.com/api-keys",
    ),
    Known(
        id="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        variable="DEEPSEEK_API_KEY",
        model="deepseek-flash",
        keys="https://platform.deepseek.com/api_keys",
    ),
    Known(
        id="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        variable="MISTRAL_API_KEY",
        model="mistral-medium-latest",
        keys="https://console.mistral.ai/api-keys",
    ),
    Known(
        id="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        variable="OPENROUTER_API_KEY",
        model="openrouter/auto",
        keys="https://openrouter.ai/keys",
    ),
    Known(
        id="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        variable="GROQ_API_KEY",
        model="openai/gpt-oss-120b",
        keys="https://console.groq.com/keys",
    ),
)
"""In the order in which they are taken where several keys are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """A model server at its usual port of this machine; it wants no key."""

    id: str
    title: str
    base_url: str


LOCAL = (
    Local(id="ollama", title="Ollama", base_url="http://127.0.0.1:11434/v1"),
    Local(id="lmstudio", title="LM Studio", base_url="http://127.0.0.1:1234/v1"),
    Local(id="llama.cpp", title="llama.cpp", base_url="http://127.0.0.1:8080/v1"),
)
"""In the order in which they are taken where several answer."""

NOT_FOR_TALK = ("embed", "rerank", "whisper", "tts", "bge-", "minilm", "moderation")
"""What stands in the names of models that hold no conversation."""


def known_at(base_url: str) -> Known | None:
    """The known provider at an endpoint."""
    host = host_of(base_url)
    return next((known for known in KNOWN if host_of(known.base_url) == host), None)
