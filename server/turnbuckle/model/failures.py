"""What a provider says when it does not answer, as the model port's errors."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import cast

from turnbuckle.model import loose
from turnbuckle.model.port import ModelFailed, ModelRefused, ModelUnavailable
from turnbuckle.session.parts import FailureKind, JsonObject
from turnbuckle.session.redacting import forms_of

MESSAGE_LIMIT = 500
"""The most characters of a provider's own words in a message."""

_AGAIN: frozenset[FailureKind] = frozenset(
    {"rate-limit", "server", "timeout", "transport", "empty"}
)

_ADVICE: dict[FailureKind, str] = {
    "auth": "Check the API key, and what it may be used for.",
    "quota": "Check the plan and the balance of the account.",
}

_PATTERNS: tuple[tuple[FailureKind, tuple[str, ...]], ...] = (
    (
        "overflow",
        (
            r"context_length_exceeded|exceed_context_size|context[ _-]?(length|window|size|limit)",
            r"maximum (model|prompt) length|(prompt|input) is too long|request too large",
            r"input token count|reduce the length of the (messages|prompt)|context shift",
        ),
    ),
    (
        "quota",
        (
            r"insufficient[ _]?(quota|balance|credits?|funds)|exceeded your current quota",
            r"credit balance|billing_(hard_limit|not_active)|payment required|out of credits",
        ),
    ),
    ("rate-limit", (r"rate[ _-]?limit|too many requests|throttl|resource_exhausted",)),
    (
        "auth",
        (
            r"(invalid|incorrect|missing|no)[ _]api[ _]?key|api key not valid|authentication",
            r"unauthori[sz]ed|permission[ _]denied|permission_error",
        ),
    ),
    ("timeout", (r"timed?[ _-]?out\b",)),
    ("protocol", (r"invalid[ _](request|argument)|bad[ _]request|unsupported|_not_found",)),
)
_SAYS: dict[FailureKind, re.Pattern[str]] = {
    kind: re.compile("|".join(patterns), re.IGNORECASE) for kind, patterns in _PATTERNS
}

_SIZES = ("n_prompt_tokens", "n_ctx")
"""Fields of an error object that tell what did not fit."""

_BY_STATUS: dict[int, FailureKind] = {
    401: "auth", 402: "quota", 403: "auth", 408: "timeout", 413: "overflow", 429: "rate-limit",
    504: "timeout", 524: "timeout",
}  # fmt: skip

_MAY_SAY: dict[int, tuple[FailureKind, ...]] = {
    400: ("overflow", "quota", "auth"),
    403: ("quota",),
    422: ("overflow",),
    429: ("overflow", "quota"),
    500: ("overflow",),
}
"""For which statuses the words tell more than the number, and what."""


def kind_of(status: int | None, text: str) -> FailureKind:
    """The kind of a failure, by its HTTP status (where there is one) and the provider's words."""
    kinds = tuple(_SAYS) if status is None else _MAY_SAY.get(status, ())
    for kind in kinds:
        if _SAYS[kind].search(text):
            return kind
    if status is None:
        return "server"
    return _BY_STATUS.get(status, "server" if status >= 500 else "protocol")


@dataclass(frozen=True, slots=True)
class Failures:
    """Makes errors in the name of one provider; `secret` and `others` appear in none of them.

    `overflow` is what to do where a request was too long.
    """

    provider: str
    secret: str = field(default="", repr=False)
    overflow: str = "The conversation is too long for this model."
    others: tuple[str, ...] = field(default=(), repr=False)

    def failed(
        self,
        kind: FailureKind,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> ModelFailed:
        """An error of the right class for its kind; advice and the wait are added to the message.

        `hint` is what to do where the kind tells nothing.
        """
        cls = ModelUnavailable if kind in _AGAIN else ModelRefused
        more = [self.overflow if kind == "overflow" else _ADVICE.get(kind, hint)]
        if retry_after is not None:
            more.append(f"It asks to wait {_seconds(retry_after)}.")
        return cls(
            kind,
            self.tidy(_with(message, " ".join(filter(None, more))), 2 * MESSAGE_LIMIT),
            provider=self.provider,
            status=status,
            retry_after=retry_after,
        )

    def reported(self, error: object) -> ModelFailed:
        """What an error object in the middle of an answer means."""
        said, status = words(error), _status_in(error)
        kind = kind_of(status, said)
        message = f"{self.provider} reported an error: {self.tidy(said)}"
        return self.failed(kind, message, status=status)

    def refused(
        self, status: int, body: str, *, hint: str = "", retry_after: float | None = None
    ) -> ModelFailed:
        """What a status and its body mean; `hint` is what to do where the kind tells nothing."""
        said = words(error_in(loose.read(body)) or body.strip())
        kind = kind_of(status, said)
        message = f"{self.provider} answered {status}: {self.tidy(said)}"
        return self.failed(kind, message, hint=hint, status=status, retry_after=retry_after)

    def tidy(self, text: str, limit: int = MESSAGE_LIMIT) -> str:
        """The text on one line, printable, without the secret, cut to a bound."""
        # The secrets go first: a cut through the middle of one would leave half of it.
        for secret in sorted((self.secret, *self.others), key=len, reverse=True):
            for form in forms_of(secret) if len(secret) > 3 else ():
                text = text.replace(form, "[key]")
        text = " ".join(text.split())
        text = text if len(text) <= limit else text[: limit - 1] + "…"
        return "".join(char if char.isprintable() else "\ufffd" for char in text)


def error_in(answer: object) -> object:
    """The error that a JSON answer carries, or None; flat forms and a list of one are known."""
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, dict):
        return None
    if answer.get("error"):
        return answer["error"]
    if answer.get("object") == "error":
        return answer
    if answer.get("choices") is None and (answer.get("message") or answer.get("detail")):
        return answer
    return None


def words(error: object) -> str:
    """All that an error object says, as text: message, type, code, and what is behind it."""
    if isinstance(error, str):
        return error or "it did not say why"
    if not isinstance(error, dict):
        return loose.write(error)
    fields = cast("JsonObject", error)
    message = fields.get("message") or fields.get("detail")
    if isinstance(message, list | dict):
        message = loose.write(message)
    metadata = fields.get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, dict) else None
    sizes = [f"{name} {fields[name]}" for name in _SIZES if isinstance(fields.get(name), int)]
    marks = dict.fromkeys(
        str(mark) for mark in (fields.get("type"), fields.get("code"), *sizes, behind) if mark
    )
    said = [str(message)] if message else []
    if marks:
        said.append(f"({', '.join(marks)})")
    return " ".join(said) or loose.write(fields)


def wait_in(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait; some say it to the millisecond, in a header beside."""
    exact = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"[0-9]{1,12}(\.[0-9]*)?", exact):
        return float(exact) / 1000
    return retry_after(headers.get("retry-after", ""))


def retry_after(header: str, now: float | None = None) -> float | None:
    """Seconds to wait from a `Retry-After` header: seconds or an HTTP date; None for anything else.

    `now` in seconds since 1970.
    """
    header = header.strip()
    if re.fullmatch(r"[0-9]{1,12}(\.[0-9]*)?", header):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    # Without a zone, as with "-0000", the date is in UTC.
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    wait = date.timestamp() - (time.time() if now is None else now)
    return wait if wait > 0 else None


def _with(message: str, more: str) -> str:
    end = "" if message.endswith((".", "!", "?", "…")) else "."
    return f"{message}{end} {more}" if more else message


def _seconds(wait: float) -> str:
    """Seconds, and what they are to a person."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if wait >= 2 * size:
            return f"{wait:.0f} s (about {wait / size:.0f} {unit})"
    return f"{wait:.3g} s"


def _status_in(error: object) -> int | None:
    """Some providers put the HTTP status into the error's `code`, as a number or as its digits."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and re.fullmatch(r"[45][0-9]{2}", code):
        return int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None
