"""Which variables of an environment hold secrets, and which of them the key of a model's provider.

It is read at the very start of a server, so no regular expression is made for it.
"""

_WORDS = frozenset({
    "KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASS", "PASSWD", "PASSWORD",
    "PASSWORDS", "PASSPHRASE", "PAT", "CREDENTIAL", "CREDENTIALS", "AUTH", "COOKIE", "DSN",
})  # fmt: skip
"""Parts of names, between underscores."""

_ENDINGS = ("APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")

_BEGINNINGS = (
    "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
    "AIza", "hf_", "npm_", "pypi-", "eyJ", "AKIA", "ASIA", "-----BEGIN",
)  # fmt: skip
"""How the usual tokens begin."""

_PROVIDERS = frozenset({
    "TURNBUCKLE", "OPENAI", "AZURE_OPENAI", "DEEPSEEK", "MISTRAL", "CODESTRAL", "OPENROUTER",
    "GROQ", "ANTHROPIC", "CLAUDE", "GEMINI", "GOOGLE_GENERATIVE_AI", "COHERE", "CO", "XAI",
    "TOGETHER", "TOGETHERAI", "FIREWORKS", "PERPLEXITY", "PPLX", "CEREBRAS", "SAMBANOVA", "NVIDIA",
    "NIM", "MOONSHOT", "KIMI", "ZHIPU", "ZHIPUAI", "ZAI", "DASHSCOPE", "QWEN", "MINIMAX",
    "SILICONFLOW", "DEEPINFRA", "HYPERBOLIC", "NOVITA", "LITELLM", "LLM",
})  # fmt: skip
OURS = frozenset({
    "TURNBUCKLE_API_KEY", "TURNBUCKLE_BASE_URL", "OPENAI_API_KEY", "DEEPSEEK_API_KEY",
    "MISTRAL_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY",
})  # fmt: skip
"""The variables that we read ourselves and that may hold a secret."""

_KEYS = ("_API_KEY", "_APIKEY", "_API_TOKEN", "_API_SECRET", "_AUTH_TOKEN", "_KEY", "_TOKEN")


def holds_secret(name: str, value: str) -> bool:
    """Whether a variable looks as if it held a secret, by its name or its value."""
    capitals = name.upper()
    return bool(value) and (
        not _WORDS.isdisjoint(capitals.split("_"))
        or capitals.endswith(_ENDINGS)
        or value.startswith(_BEGINNINGS)
        or is_secret_url(value)
        or (capitals.endswith("_PROXY") and "@" in value)  # a proxy needs no scheme
    )


def is_secret_url(value: str) -> bool:
    """Whether a value is a URL with a name or a password in it, or with a query."""
    scheme, found, rest = value.partition("://")
    return bool(found and scheme) and ("@" in rest.partition("/")[0] or "?" in rest)


def is_provider_key(name: str) -> bool:
    """Whether a variable of this name holds the key of a model's provider."""
    capitals = name.upper()
    ending = next((one for one in _KEYS if capitals.endswith(one)), None)
    return ending is not None and capitals.removesuffix(ending) in _PROVIDERS
