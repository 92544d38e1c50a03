"""Settings: where they come from, what is wrong with them, and what may not set them."""

import json
from collections.abc import Mapping
from pathlib import Path

import hypothesis
import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle import config
from turnbuckle.config import VARIABLES, ConfigError, Loaded, Settings, rows

SECRET = "sk-canary-0123456789"


class Person:
    """Someone with a configuration file, options in an editor, and an environment."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "config.toml"

    def read(
        self, text: str | bytes = "", env: Mapping[str, str] | None = None, options: object = None
    ) -> Loaded:
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return config.read({"TURNBUCKLE_CONFIG": str(self.file), **(env or {})}, options)

    def wrong(
        self, text: str | bytes = "", env: Mapping[str, str] | None = None, options: object = None
    ) -> str:
        """What is said of this configuration, with FILE for the path of the file."""
        with pytest.raises(ConfigError) as caught:
            self.read(text, env, options)
        return str(caught.value).replace(str(self.file), "FILE")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


# -- where settings come from --------------------------------------------------------------------


def test_nothing_has_to_be_set(tmp_path: Path) -> None:
    loaded = config.read({"TURNBUCKLE_CONFIG": str(tmp_path / "none.toml")})
    assert loaded == Loaded(settings=Settings())


def test_every_setting_can_stand_in_the_file(person: Person) -> None:
    loaded = person.read("""
        max_steps = 7
        max_parallel_tool_calls = 3
        plugins = ["cost_guard.py"]
        redact = false
        metrics = true
        comment_word = "ai"
        [budget.turn]
        steps = 50
        tokens = 1000000
        cost = 0.5
        seconds = 600
        [budget.session]
        steps = 500
        tokens = 9000000
        cost = 5
        seconds = 36000.5
        [routing]
        first = "large"
        later = "small"
        long = "large"
        long_after = 10
        summary = "small"
        [failover]
        models = ["other", "openai/gpt"]
        [timeouts]
        default = 60
        tools = { search = 30, task = 0 }
        [approvals.commands]
        allow = ["git status"]
        deny = ["rm"]
        [commands]
        environment = ["GH_TOKEN"]
        [approvals.reads]
        allow = ["/usr/include"]
        [approvals.writes]
        allow = ["docs"]
        [model]
        name = "qwen"
        base_url = "http://127.0.0.1:8000/v1"
        context_window = 65536
        idle_timeout = 30
        total_timeout = 600.5
        think_tags = true
        discover = false
        price = { input = 0.3, output = 1, cached = 0.03, currency = "EUR" }
    """)
    model = loaded.settings.model
    assert (model.name, model.base_url, model.discover) == (
        "qwen",
        "http://127.0.0.1:8000/v1",
        False,
    )
    assert (model.context_window, model.idle_timeout, model.total_timeout) == (65536, 30, 600.5)
    assert model.price is not None
    assert (model.price.output, model.price.cached, model.price.currency) == (1, 0.03, "EUR")
    assert (loaded.settings.max_steps, loaded.settings.max_parallel_tool_calls) == (7, 3)
    assert loaded.settings.failover.models == ("other", "openai/gpt")
    assert loaded.settings.timeouts.tools == {"search": 30, "task": 0}
    assert (loaded.settings.budget.turn.cost, loaded.settings.budget.session.cost) == (0.5, 5)
    tools = {"timeouts.tools.search", "timeouts.tools.task"}
    named = {row.name for row in rows() if not row.table} - {"timeouts.tools"}
    assert set(loaded.origins) == named | tools
    assert set(loaded.origins.values()) == {str(person.file)}


def test_each_variable_sets_what_it_is_for(person: Person) -> None:
    values = {
        "model.name": "m",
        "model.base_url": "http://h/v1",
        "model.discover": "FALSE",
        "model.think_tags": "1",
    }
    env = {name: values.get(".".join(key), "9") for name, key in VARIABLES.items()}
    loaded = person.read("", env)
    assert loaded.origins == {".".join(key): name for name, key in VARIABLES.items()}
    assert loaded.settings.model.discover is False
    assert (loaded.settings.max_steps, loaded.settings.model.idle_timeout) == (9, 9)


def test_the_environment_goes_before_the_editor_and_the_editor_before_the_file(
    person: Person,
) -> None:
    loaded = person.read(
        "max_steps = 1\n[model]\nidle_timeout = 1\ntotal_timeout = 1",
        {"TURNBUCKLE_MAX_STEPS": "3"},
        {"settings": {"max_steps": 2, "model": {"idle_timeout": 2}}},
    )
    model = loaded.settings.model
    assert (loaded.settings.max_steps, model.idle_timeout, model.total_timeout) == (3, 2, 1)
    assert loaded.origins == {
        "max_steps": "TURNBUCKLE_MAX_STEPS",
        "model.idle_timeout": "initializationOptions.turnbuckle.settings",
        "model.total_timeout": str(person.file),
    }


def test_an_empty_variable_sets_nothing(person: Person) -> None:
    loaded = person.read("max_steps = 1", {"TURNBUCKLE_MAX_STEPS": "", "TURNBUCKLE_MODEL": ""})
    assert (loaded.settings.max_steps, loaded.settings.model.name) == (1, None)


def test_a_price_can_come_from_two_places(person: Person) -> None:
    options = {"settings": {"model": {"price": {"output": 2}}}}
    price = person.read("[model]\nprice = { input = 1 }", options=options).settings.model.price
    assert price is not None
    assert (price.input, price.output, price.cached, price.currency) == (1, 2, None, "USD")


def test_a_file_with_a_byte_order_mark_is_read(person: Person) -> None:
    assert person.read(b"\xef\xbb\xbfmax_steps = 5\r\n").settings.max_steps == 5


@pytest.mark.parametrize("options", [None, {}, [], "x", 3, {"client": {"settings": 1}}])
def test_an_editor_that_sends_no_settings_sets_none(person: Person, options: object) -> None:
    assert person.read(options=options).settings == Settings()


# -- what is wrong names itself, its place, and what would be right ------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[model]\nidle_tmeout = 3",
            "FILE: model.idle_tmeout: there is no such setting; did you mean model.idle_timeout?",
        ),
        (
            '[model]\nbaseUrl = "x"',
            "FILE: model.baseUrl: there is no such setting; did you mean model.base_url?",
        ),
        ("[modle]\nx = 1", "FILE: modle: there is no such setting; did you mean model?"),
        (
            "idle_timeout = 3",
            "FILE: idle_timeout: there is no such setting; did you mean model.idle_timeout?",
        ),
        (
            "zzz = 1",
            (
                "FILE: zzz: there is no such setting; there are approvals, budget, commands, "
                "comment_word, failover, max_parallel_tool_calls, max_steps, metrics, model, plugins, redact, "
                "routing, timeouts"
            ),
        ),
        (
            'comment_word = "ask me"',
            (
                "FILE: comment_word: must be a word without spaces and colons, such as "
                '"agent"'
            ),
        ),
        ("max_steps = 0", "FILE: max_steps: must be a whole number greater than 0"),
        ("max_steps = true", "FILE: max_steps: must be a whole number greater than 0"),
        ("max_steps = 1.0", "FILE: max_steps: must be a whole number greater than 0"),
        ("[model]\nidle_timeout = inf", "FILE: model.idle_timeout: must be a number greater than 0"),
        ("[model]\nidle_timeout = '9'", "FILE: model.idle_timeout: must be a number greater than 0"),
        ("[model]\nname = ''", "FILE: model.name: must be text that is not empty"),
        ("[model]\ndiscover = 1", "FILE: model.discover: must be true or false"),
        ("model = 3", "FILE: model: must be a table"),
        (
            "[model]\nbase_url = 'host/v1'",
            'FILE: model.base_url: must be a URL such as "https://host/v1"',
        ),
        (
            "[model]\nbase_url = 'http://[::1/v1'",
            'FILE: model.base_url: must be a URL such as "https://host/v1"',
        ),
        (
            "[model]\nprice = { input = 1 }",
            "FILE: model.price.output: is missing; it must be a number, 0 or more",
        ),
        (
            "[model]\nprice = { input = 1, output = 1, currency = 'Euro' }",
            'FILE: model.price.currency: must be three capital letters, such as "USD" or "EUR"',
        ),
        (
            "[model]\nbase_url = 'http://h/v1'",
            "FILE: model.base_url: an endpoint is set but no model: set TURNBUCKLE_MODEL, or `name` in [model]",
        ),
        ("a = ]", "FILE: is not TOML: Invalid value (at line 1, column 5)"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file_is_named(person: Person, text: str, said: str) -> None:
    assert person.wrong(text) == said


def test_what_is_wrong_in_the_environment_is_named_by_its_variable(person: Person) -> None:
    assert person.wrong("", {"TURNBUCKLE_MAX_STEPS": "many"}) == (
        "TURNBUCKLE_MAX_STEPS: must be a whole number greater than 0"
    )
    assert person.wrong("", {"TURNBUCKLE_IDLE_TIMEOUT": "nan"}) == (
        "TURNBUCKLE_IDLE_TIMEOUT: must be a number greater than 0"
    )
    assert person.wrong("", {"TURNBUCKLE_DISCOVER": "perhaps"}) == (
        "TURNBUCKLE_DISCOVER: must be true or false"
    )


def test_what_is_wrong_in_the_editor_is_named_by_its_option(person: Person) -> None:
    options = {"settings": {"model": {"idle_timeout": "3"}}}
    assert person.wrong(options=options) == (
        "initializationOptions.turnbuckle.settings.model.idle_timeout: "
        "must be a number greater than 0"
    )
    assert person.wrong(options={"settings": []}) == (
        "initializationOptions.turnbuckle.settings: must be an object"
    )
    assert person.wrong(options={"model": {}}) == (
        "initializationOptions.turnbuckle.model: "
        "settings stand in initializationOptions.turnbuckle.settings"
    )


def test_all_that_is_wrong_is_said_at_once_but_no_more_than_can_be_read(person: Person) -> None:
    said = person.wrong(
        "a1=1\na2=1\na3=1\na4=1", {"TURNBUCKLE_MAX_STEPS": "-1", "TURNBUCKLE_DISCOVER": "?"}
    )
    assert said.count("there is no such setting") == 4
    assert said.endswith("; and 1 more")


def test_a_wrong_value_is_wrong_even_where_a_right_one_goes_before_it(person: Person) -> None:
    assert "max_steps" in person.wrong("max_steps = 0", {"TURNBUCKLE_MAX_STEPS": "3"})


@pytest.mark.parametrize("name", ["api_key", "apiKey", "key", "token", "OPENAI_API_KEY"])
def test_a_key_in_the_file_is_sent_elsewhere_and_not_repeated(person: Person, name: str) -> None:
    said = person.wrong(f'[model]\n{name} = "{SECRET}"')
    assert "keys are kept in no file: set TURNBUCKLE_API_KEY" in said
    assert SECRET not in said


def test_a_file_that_is_no_utf_8_is_named(person: Person) -> None:
    assert person.wrong("max_steps = 3".encode("utf-16")) == (
        "FILE: is not UTF-8; save it as UTF-8"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        config.read({"TURNBUCKLE_CONFIG": str(tmp_path)})


def test_a_file_that_never_ends_is_not_read_to_its_end(person: Person) -> None:
    assert "is larger than" in person.wrong(b"# " + b"x" * 2_000_000)


def test_a_file_that_is_nested_too_deep_is_no_configuration(person: Person) -> None:
    assert "is not TOML" in person.wrong("a = " + "[" * 100_000)


def test_a_variable_that_nobody_reads_is_told_and_stops_nothing(person: Person) -> None:
    env = {"TURNBUCKLE_BASEURL": "x", "TURNBUCKLE_CALL": "inherited", "OTHER": "x"}
    assert person.read("", env).warnings == (
        "TURNBUCKLE_BASEURL: no such variable is read; did you mean TURNBUCKLE_BASE_URL?",
    )


@hypothesis.settings(deadline=None)
@given(st.dictionaries(st.text(max_size=12), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just(SECRET),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=6,
), max_size=4))  # fmt: skip
def test_whatever_an_editor_sends_gives_settings_or_faults_without_values(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, object]
) -> None:
    env = {"TURNBUCKLE_CONFIG": str(tmp_path_factory.getbasetemp() / "none.toml")}
    named = {"model": values, "max_steps": values.get("max_steps", 1)}
    for settings in (values, named):
        assert SECRET not in said_of(env, settings)


def said_of(env: Mapping[str, str], settings: object) -> str:
    try:
        config.read(env, {"settings": settings})
    except ConfigError as error:
        return str(error)
    return ""


def test_a_level_of_the_log_that_does_not_exist_is_told(person: Person) -> None:
    (warning,) = person.read("", {"TURNBUCKLE_LOG": "verbose"}).warnings
    assert warning == "TURNBUCKLE_LOG: must be one of debug, info, warning, error, critical"
    assert person.read("", {"TURNBUCKLE_LOG": "debug"}).warnings == ()


# -- what may not set anything, and what may not be shown ----------------------------------------


def test_nothing_in_the_workspace_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "workspace"
    for name in (
        "config.toml",
        ".turnbuckle/config.toml",
        "turnbuckle.toml",
        "turnbuckle/config.toml",
    ):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("max_steps = 1\n")
    (workspace / ".env").write_text("TURNBUCKLE_MAX_STEPS=1\n")
    monkeypatch.chdir(workspace)
    assert config.read({"TURNBUCKLE_CONFIG": str(tmp_path / "none.toml")}).settings == Settings()
    # A relative path would lead into whatever folder an editor happens to stand in.
    for relative in ("config.toml", "./config.toml", "../workspace/config.toml"):
        with pytest.raises(ConfigError, match="is no absolute path"):
            config.read({"TURNBUCKLE_CONFIG": relative})


def test_the_file_stands_in_the_users_own_folder() -> None:
    folder = platformdirs.user_config_path("turnbuckle", appauthor=False)
    assert config.config_file({}) == folder / "config.toml"


def test_the_state_is_kept_where_the_environment_says(tmp_path: Path) -> None:
    assert config.state_dir({"TURNBUCKLE_STATE_DIR": str(tmp_path)}) == tmp_path
    assert config.state_dir({}) == platformdirs.user_state_path("turnbuckle", appauthor=False)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().max_steps = 3


def test_a_secret_in_a_url_is_not_shown(person: Person) -> None:
    url = f"https://me:{SECRET}@host:8443/v1?key={SECRET}"
    loaded = person.read(f'[model]\nname = "m"\nbase_url = "{url}"')
    assert SECRET not in repr(loaded)
    assert loaded.settings.model.host == "host:8443"
    assert config.shown_url(url) == "https://host:8443/v1"


def test_the_reference_has_every_setting_with_what_is_right_for_it() -> None:
    shown = {row.name: (row.right, row.default) for row in rows()}
    assert shown["model"] == ("a table", None)
    assert shown["max_steps"] == ("a whole number greater than 0", 100)
    assert shown["model.price.cached"] == ("a number, 0 or more", None)
    json.dumps([row.default for row in rows()])
