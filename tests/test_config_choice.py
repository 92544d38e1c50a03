"""Which model answers: what is set, what a key opens, what runs here, the demo; in this order."""

from collections.abc import Mapping

import pytest

from turnbuckle.config import (
    DEMO,
    KNOWN,
    LOCAL,
    Found,
    Keys,
    ModelSettings,
    Offer,
    PriceSettings,
    key_for,
    looks,
    offers,
    provider_at,
)

OLLAMA, STUDIO, LLAMA = LOCAL
SECRET = "sk-canary-0123456789"


def choose(
    settings: ModelSettings | None = None,
    env: Mapping[str, str] | None = None,
    found: tuple[Found, ...] = (),
    given: Mapping[str, str] | None = None,
) -> tuple[Offer, ...]:
    return offers(settings or ModelSettings(), keys(env, given), found)


def keys(env: Mapping[str, str] | None = None, given: Mapping[str, str] | None = None) -> Keys:
    made = Keys(env or {})
    for provider, key in (given or {}).items():
        made.give(provider, key)
    return made


def short(offer: Offer) -> tuple[str, str, str]:
    return offer.provider, offer.model, offer.source


def test_without_anything_the_demo_answers() -> None:
    assert [short(offer) for offer in choose()] == [("built-in", "demo", "built-in")]


def test_a_server_of_this_machine_goes_before_the_demo() -> None:
    found = (Found(OLLAMA, ("qwen3", "gemma3")), Found(STUDIO, problem="it is not there"))
    assert [short(offer) for offer in choose(found=found)] == [
        ("ollama", "qwen3", "machine"),
        ("ollama", "gemma3", "machine"),
        ("built-in", "demo", "built-in"),
    ]


@pytest.mark.parametrize(
    "name", ["nomic-embed-text", "text-embedding-3", "bge-m3", "whisper-large", "bge-reranker"]
)
def test_a_model_that_holds_no_conversation_is_not_taken(name: str) -> None:
    assert choose(found=(Found(OLLAMA, (name, "qwen3")),))[0].model == "qwen3"
    assert choose(found=(Found(OLLAMA, (name,)),))[0].model == DEMO


def test_a_key_of_a_known_provider_goes_before_what_runs_here() -> None:
    found = (Found(OLLAMA, ("qwen3",)),)
    env = {"MISTRAL_API_KEY": SECRET, "DEEPSEEK_API_KEY": SECRET}
    assert [offer.provider for offer in choose(env=env, found=found)] == [
        "deepseek",
        "mistral",
        "ollama",
        "built-in",
    ]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.id)
def test_each_known_provider_is_reached_with_its_key_alone(known: object) -> None:
    provider = next(one for one in KNOWN if one is known)
    first = choose(env={provider.variable: SECRET})[0]
    assert (first.provider, first.model) == (provider.id, provider.model)
    assert first.base_url == provider.base_url
    assert first.base_url.startswith("https://")
    assert first.problem is None


def test_a_key_that_was_handed_over_counts_like_one_of_the_environment() -> None:
    assert choose(given={"openrouter": SECRET})[0].provider == "openrouter"


def test_what_is_set_goes_before_everything() -> None:
    settings = ModelSettings(name="m", base_url="https://llm.example.com/v1")
    env = {"OPENAI_API_KEY": SECRET}
    known = choose(settings, env, (Found(OLLAMA, ("qwen3",)),))
    assert [short(offer) for offer in known] == [
        ("llm.example.com", "m", "configured"),
        ("openai", KNOWN[0].model, "key"),
        ("ollama", "qwen3", "machine"),
        ("built-in", "demo", "built-in"),
    ]


def test_the_demo_answers_where_it_is_named_whatever_else_is_set() -> None:
    settings = ModelSettings(name=DEMO, base_url="https://llm.example.com/v1")
    env = {"OPENAI_API_KEY": SECRET}
    assert short(choose(settings, env)[0]) == ("built-in", "demo", "built-in")


def test_a_known_endpoint_without_a_key_says_where_to_get_one_and_is_not_passed_over() -> None:
    settings = ModelSettings(name="m", base_url="https://api.mistral.ai/v1")
    first = choose(settings, {"OPENAI_API_KEY": SECRET})[0]
    assert first.provider == "mistral"
    assert first.problem is not None
    assert "set MISTRAL_API_KEY" in first.problem
    assert choose(settings, {"MISTRAL_API_KEY": SECRET})[0].problem is None
    assert choose(settings, {"TURNBUCKLE_API_KEY": SECRET})[0].problem is None
    assert choose(settings, given={"mistral": SECRET})[0].problem is None


def test_a_known_endpoint_needs_no_model() -> None:
    settings = ModelSettings(base_url="https://api.deepseek.com/v1")
    first = choose(settings, {"DEEPSEEK_API_KEY": SECRET})[0]
    assert short(first) == ("deepseek", "deepseek-flash", "configured")


def test_a_name_without_an_endpoint_is_looked_for_here_then_where_there_is_a_key() -> None:
    settings = ModelSettings(name="qwen3")
    env = {"OPENAI_API_KEY": SECRET}
    found = (Found(OLLAMA, ("gemma3",)), Found(LLAMA, ("qwen3",)))
    assert short(choose(settings, env, found)[0]) == ("llama.cpp", "qwen3", "configured")
    assert short(choose(settings, env)[0]) == ("openai", "qwen3", "configured")
    nowhere = choose(settings)[0]
    assert nowhere.problem is not None
    assert "has no endpoint: set TURNBUCKLE_BASE_URL" in nowhere.problem
    assert "OPENAI_API_KEY" in nowhere.problem


def test_without_discovery_only_what_the_person_gave_counts() -> None:
    settings = ModelSettings(discover=False)
    env = {"OPENAI_API_KEY": SECRET}
    assert [offer.provider for offer in choose(settings, env)] == ["built-in"]
    assert choose(settings, env, given={"openai": SECRET})[0].provider == "openai"
    configured = ModelSettings(name="m", base_url="https://api.openai.com/v1", discover=False)
    assert choose(configured, env)[0].problem is None


@pytest.mark.parametrize(
    ("settings", "env", "waits"),
    [
        (ModelSettings(), {}, True),
        (ModelSettings(name="qwen3"), {"OPENAI_API_KEY": SECRET}, True),
        (ModelSettings(), {"OPENAI_API_KEY": SECRET}, False),
        (ModelSettings(name=DEMO), {}, False),
        (ModelSettings(name="m", base_url="http://127.0.0.1:9/v1"), {}, False),
        (ModelSettings(discover=False), {}, False),
    ],
)
def test_the_machine_is_only_waited_for_where_that_decides(
    settings: ModelSettings, env: Mapping[str, str], waits: bool
) -> None:
    assert looks(settings, keys(env)) is waits


def test_a_key_goes_to_its_own_provider_only() -> None:
    env = {"TURNBUCKLE_API_KEY": "own", "OPENAI_API_KEY": "open"}
    settings = ModelSettings(name="m", base_url="https://llm.example.com/v1")
    assert value(settings, env, "llm.example.com") == "own"
    assert value(settings, env, "openai") == "open"
    assert value(settings, env, "mistral") is None
    assert value(settings, env, "ollama") is None
    assert value(ModelSettings(), env, "llm.example.com") is None
    known = ModelSettings(name="m", base_url="https://api.openai.com/v1")
    assert value(known, env, "openai") == "own"


def value(settings: ModelSettings, env: Mapping[str, str], provider: str) -> str | None:
    key = key_for(settings, keys(env), provider)
    return key.value if key else None


def test_a_key_that_was_handed_over_goes_first_until_it_is_forgotten() -> None:
    made = keys({"OPENAI_API_KEY": "old"}, {"openai": "new"})
    key = made.of("openai")
    assert key is not None
    assert (key.value, key.source, key.given) == ("new", "memory", True)
    made.give("openai", None)
    key = made.of("openai")
    assert key is not None
    assert (key.value, key.source, key.given) == ("old", "OPENAI_API_KEY", False)
    made.give("openai", None)


def test_no_key_is_shown() -> None:
    made = keys({"OPENAI_API_KEY": SECRET}, {"mistral": SECRET})
    settings = ModelSettings(name="m", base_url=f"https://me:{SECRET}@host/v1?key={SECRET}")
    shown = (made, made.of("openai"), made.of("mistral"), offers(settings, made, ()))
    assert SECRET not in repr(shown)


def test_only_loopback_is_looked_at() -> None:
    assert {one.base_url.rpartition(":")[0] for one in LOCAL} == {"http://127.0.0.1"}


def test_an_endpoint_is_called_by_its_known_name_or_by_its_host_and_port() -> None:
    assert provider_at("https://openrouter.ai/api/v1") == "openrouter"
    assert provider_at("http://127.0.0.1:11434/v1") == "ollama"
    assert provider_at("http://me:pw@gpu.lan:8000/v1") == "gpu.lan:8000"
    assert provider_at("https://api.openai.com.evil.example/v1") == "api.openai.com.evil.example"


def test_prices_count_for_what_is_paid_and_not_for_what_runs_here() -> None:
    settings = ModelSettings(price=PriceSettings(input=1, output=2), context_window=1000)
    paid, here, demo = choose(settings, {"OPENAI_API_KEY": SECRET}, (Found(OLLAMA, ("q",)),))
    assert paid.price is not None
    assert (paid.price.output, paid.window, here.window) == (2, 1000, 1000)
    assert (here.price, demo.price) == (None, None)
