"""What looks like a secret in a text, and the placeholder that stands in its place."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Pattern:
    """A known form of secret; its regular expression takes time in proportion to the text.

    One of its `hints` stands in every match, so that a text without them is passed over fast.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _form(name: str, hints: str, pattern: str) -> Pattern:
    return Pattern(name, tuple(hints.split()), re.compile(pattern))


_BODY = r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n]*\n|\\[nr]|[A-Za-z0-9+/=\s])"

PATTERNS: tuple[Pattern, ...] = (
    _form(
        "private key",
        "-----BEGIN",
        rf"-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY[A-Z ]{{0,10}}-----{_BODY}{{64,}}(?<!\s)"
        r"(?:\s*-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
    ),
    _form("AWS key", "AKIA ASIA", r"\b(?:AKIA|ASIA)(?=[A-Z]{0,15}[2-7])[A-Z2-7]{16}\b"),
    _form("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    _form("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    _form("GitLab token", "glpat-", r"\bglpat-(?=[\w-]{0,40}\d)[\w-]{20,64}"),
    _form("API key", "sk-", r"\bsk-(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{32,128}\b"),
    _form(
        "API key",
        "sk-",
        r"\bsk-(?:proj|svcacct|admin|ant|or)-(?=[A-Za-z_-]{0,60}\d)[\w-]{40,256}",
    ),
    _form("Slack token", "xox", r"\bxox[abeoprs]-(?=[A-Za-z-]{0,40}\d)[A-Za-z0-9-]{20,256}"),
    _form("Google key", "AIza", r"\bAIza(?=[A-Za-z_-]{0,34}\d)[\w-]{35}(?![\w-])"),
    _form("Google token", "ya29.", r"\bya29\.(?=[A-Za-z_-]{0,40}\d)[\w-]{30,512}"),
    _form("Stripe key", "k_live_ k_test_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,128}\b"),
    _form("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _form("PyPI token", "pypi-", r"\bpypi-AgE[\w-]{50,512}"),
    _form("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{34}\b"),
    _form("SendGrid key", "SG.", r"\bSG\.[\w-]{22}\.[\w-]{43}(?![\w-])"),
    _form("web token", "eyJ", r"(?<![\w-])eyJ[\w-]{10,1024}\.eyJ[\w-]{10,8192}\.[\w-]{20,1024}"),
)
"""Forms that hardly occur by chance: ordinary text, code and digests are none of them."""

SHORTEST = 8
"""Characters that a known secret has at least: shorter ones would be found everywhere."""

_BEGIN = "[redacted: "
_MARK = re.compile(r"\[redacted: [\w ]{1,40}\]")


def redacted(text: str, held: Iterable[str] = (), patterns: Sequence[Pattern] = PATTERNS) -> str:
    """The text with `[redacted: <what>]` for each secret in it; `held` are secrets by their text.

    What has no secret in it comes back as the same string.
    """
    for secret in held:
        if len(secret) >= SHORTEST:
            for form in forms_of(secret):
                if form in text:
                    text = text.replace(form, "[redacted: key]")
    for one in patterns:
        if any(hint in text for hint in one.hints):
            text = one.pattern.sub(f"[redacted: {one.name}]", text)
    return text


@lru_cache(maxsize=256)
def forms_of(secret: str) -> tuple[str, ...]:
    """A secret as it is, and as it stands in JSON, in a URL and in what Python shows of a value."""
    # Beside both quotes, as in a longer text, Python escapes one of them.
    shown = repr(f"{secret}'\"").removesuffix("\\'\"'")[1:]
    forms = (json.dumps(secret)[1:-1], shown, repr(secret)[1:-1], quote(secret, safe=""), secret)
    return tuple(dict.fromkeys(forms))


def marks_in(text: str) -> list[str]:
    """The placeholders in a text."""
    return _MARK.findall(text) if _BEGIN in text else []
