"""What a provider said becomes the right kind of failure, without what must not be said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.model.failures import Failures, error_in, kind_of, retry_after, wait_in, words
from turnbuckle.model.port import ModelRefused, ModelUnavailable
from turnbuckle.session.parts import FailureKind

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "tools[0].function: bad schema", "protocol"),
        (400, "This model's maximum context length is 8192 tokens", "overflow"),
        (400, "context_length_exceeded", "overflow"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "overflow"),
        (400, "This model's maximum prompt length is 131072", "overflow"),
        (400, "max_tokens is too large: 99999. This model supports at most 16384", "protocol"),
        (400, "Your credit balance is too low", "quota"),
        (400, "API key not valid. Please pass a valid API key.", "auth"),
        (401, "", "auth"),
        (402, "Insufficient Balance", "quota"),
        (403, "Country not supported", "auth"),
        (404, "The model `x` does not exist", "protocol"),
        (408, "", "timeout"),
        (413, "", "overflow"),
        (418, "", "protocol"),
        (422, "Prompt contains 40000 tokens, over the maximum context length", "overflow"),
        (422, "extra fields not permitted", "protocol"),
        (429, "Rate limit reached for requests", "rate-limit"),
        (429, "", "rate-limit"),
        (429, "Need more tokens? Upgrade at https://example.org/settings/billing", "rate-limit"),
        (429, "You exceeded your current quota, please check your plan", "quota"),
        (429, "insufficient_quota", "quota"),
        (429, "Request too large for m on tokens per min (TPM): Limit 30000", "overflow"),
        (500, "exceed_context_size_error", "overflow"),
        (500, "oops", "server"),
        (503, "context length worker is down", "server"),
        (504, "", "timeout"),
        (529, "overloaded", "server"),
        (None, "overloaded_error", "server"),
        (None, "something new", "server"),
        (None, "invalid_request_error", "protocol"),
        (None, "Too Many Requests", "rate-limit"),
        (None, "authentication_error", "auth"),
        (None, "deadline timed out", "timeout"),
    ],
)  # fmt: skip
def test_the_kind_is_told_by_the_status_and_the_words(
    status: int | None, said: str, kind: FailureKind
) -> None:
    assert kind_of(status, said) == kind


def test_what_may_be_tried_again_is_unavailable_and_the_rest_is_refused() -> None:
    failures = Failures("P")
    again: list[FailureKind] = ["rate-limit", "server", "timeout", "transport", "empty"]
    never: list[FailureKind] = ["auth", "quota", "overflow", "protocol"]
    assert all(isinstance(failures.failed(kind, "m"), ModelUnavailable) for kind in again)
    assert all(isinstance(failures.failed(kind, "m"), ModelRefused) for kind in never)


def test_a_refusal_says_who_what_and_what_to_do() -> None:
    error = Failures("P").refused(401, '{"error":{"message":"No such key","code":"bad_key"}}')
    assert error.failure.message == (
        "P answered 401: No such key (bad_key). Check the API key, and what it may be used for."
    )
    assert (error.failure.provider, error.failure.status) == ("P", 401)


def test_a_refusal_without_words_says_so() -> None:
    assert str(Failures("P").refused(500, "")) == "P answered 500: it did not say why"


def test_a_hint_stands_only_where_the_kind_has_no_advice() -> None:
    refused = Failures("P").refused
    assert str(refused(404, "no such page", hint="Check it.")) == (
        "P answered 404: no such page. Check it."
    )
    assert "Check it." not in str(refused(401, "no", hint="Check it."))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "m", "type": "t", "code": 7}}, "m (t, 7)"),
        ({"error": "m"}, "m"),
        ({"object": "error", "message": "m", "code": 400}, "m (400)"),
        ({"detail": "m"}, "m"),
        ({"detail": [{"msg": "m"}]}, '[{"msg":"m"}]'),
        ([{"error": {"message": "m", "code": 400}}], "m (400)"),
        ({"type": "error", "error": {"type": "t", "message": "m"}}, "m (t)"),
        ({"error": {"code": 502, "message": "m", "metadata": {"raw": "r"}}}, "m (502, r)"),
        ({"error": {"status": "bad"}}, '{"status":"bad"}'),
        ({"error": ["a"]}, '["a"]'),
    ],
)
def test_error_objects_are_found_in_every_form(body: object, said: str) -> None:
    assert words(error_in(body)) == said


@pytest.mark.parametrize(
    "answer",
    [None, [], 3, {}, {"error": None}, {"error": {}, "choices": []}, {"choices": [], "message": 1}],
)
def test_an_answer_without_an_error_has_none(answer: object) -> None:
    assert error_in(answer) is None


def test_the_secret_is_in_no_message() -> None:
    secret = "sk-0123456789abcdef"
    failures = Failures("P", secret)
    body = f'{{"error":{{"message":"Incorrect API key provided: {secret}"}}}}'
    for error in (
        failures.refused(401, body),
        failures.reported({"message": f"key {secret}", "code": secret}),
        failures.failed("transport", f"proxy said {secret}"),
    ):
        assert secret not in f"{error} {error!r} {error.failure}"
        assert "[key]" in str(error)
    assert secret not in repr(failures)


def test_a_cut_does_not_leave_half_of_the_secret() -> None:
    secret = "sk-0123456789abcdef"
    text = "x" * 490 + secret
    assert "sk-" not in Failures("P", secret).tidy(text)


@given(st.text(max_size=3000), st.integers(1, 600))
def test_a_tidy_text_is_one_line_within_its_bound(text: str, limit: int) -> None:
    tidy = Failures("P").tidy(text, limit)
    assert len(tidy) <= limit
    assert tidy.isprintable()


def test_half_a_surrogate_pair_and_control_characters_do_not_come_through() -> None:
    assert Failures("P").tidy("a\ud83d\x1b[2J\u202e\nb") == "a\ufffd\ufffd[2J\ufffd b"


def test_a_message_is_bounded() -> None:
    assert len(str(Failures("P").refused(500, "x" * 10_000))) < 600


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("1", 1.0),
        (" 7 ", 7.0),
        ("2.5", 2.5),
        ("0", 0.0),
        ("10800", 10_800.0),
        ("1000000000", 1e9),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:12:50 GMT", None),
        ("Tue, 14 Nov 2023 22:13:50 -0000", 30.0),
        ("-5", None),
        ("soon", None),
        ("\u00b2", None),
        ("\u0665", None),
        ("1e9", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("9" * 400, None),
        ("Mon, 99 Foo 99999 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_to_come(header: str, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "2", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "2", "retry-after-ms": "soon"}, 2.0),
        ({"retry-after-ms": "-1"}, None),
    ],
)
def test_milliseconds_stand_above_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_in(headers) == seconds


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (0.0, "0 s"),
        (1.0, "1 s"),
        (0.2504, "0.25 s"),
        (59.96, "60 s"),
        (125.0, "125 s (about 2 min)"),
        (10_800.0, "10800 s (about 3 h)"),
        (1e9, "1000000000 s (about 11574 days)"),
    ],
)
def test_a_wait_is_said_in_seconds_and_in_what_they_are_to_a_person(wait: float, said: str) -> None:
    message = str(Failures("P").refused(429, "no", retry_after=wait))
    assert message == f"P answered 429: no. It asks to wait {said}."


def test_what_to_do_about_an_overflow_is_the_providers_own_advice() -> None:
    error = Failures("P", overflow="Start it with -c.").reported(
        {"message": "does not fit", "type": "exceed_context_size_error", "n_ctx": 512}
    )
    assert str(error) == (
        "P reported an error: does not fit (exceed_context_size_error, n_ctx 512). "
        "Start it with -c."
    )


@given(st.text())
def test_no_header_is_worse_than_none(header: str) -> None:
    wait = retry_after(header, NOW)
    assert wait is None or wait >= 0
