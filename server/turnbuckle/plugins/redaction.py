"""Keep what looks like a secret from the model and the log: a placeholder stands in its place."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from turnbuckle.agent.hooks import Decision, Enter, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ToolResult, UserMessage
from turnbuckle.tools.hooks import (
    Accept,
    Block,
    Deny,
    Enrich,
    Executed,
    Execution,
    PostExecute,
    Replace,
)
from turnbuckle.tools.tool import Change, Outcome, ToolError


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
        if len(secret) >= SHORTEST and secret in text:
            text = text.replace(secret, "[redacted: key]")
    for one in patterns:
        if any(hint in text for hint in one.hints):
            text = one.pattern.sub(f"[redacted: {one.name}]", text)
    return text


def install(
    ctx: PluginContext,
    *,
    held: Callable[[], Iterable[str]] = tuple,
    patterns: Sequence[Pattern] = PATTERNS,
) -> None:
    """Redact what enters a step, and what tools give, before it is logged or sent.

    `held` gives the secrets that are known by their text, each time anew. A change that would write
    a placeholder that the model was shown into a file is denied: it would overwrite the secret.
    """
    redaction = _Redaction(ctx.session.facts, lambda text: redacted(text, held(), patterns))
    ctx.hooks.pre_step.use(redaction.entering)
    ctx.hooks.execute.use(redaction.running)
    ctx.hooks.post_execute.use(redaction.after)
    ctx.hooks.guard(redaction.spare)


class _Redaction:
    """The layers, and which placeholders the model was shown."""

    def __init__(self, facts: Iterable[Entry], redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._shown: set[str] = set()
        for entry in facts:
            if isinstance(entry.fact, UserMessage | ToolResult):
                self._shown.update(_marks(entry.fact.content))

    def _clean(self, text: str) -> str:
        done = self._redact(text)
        if done is not text:
            self._shown.update(_marks(done))
        return done

    async def entering(self, step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        """Redact what enters, whoever added it."""
        decision = await next_layer(step)
        if not isinstance(decision, Enter):
            return decision
        return Enter(tuple(replace(m, content=self._clean(m.content)) for m in decision.messages))

    async def running(self, execution: Execution, next_layer: Next[Execution, Outcome]) -> Outcome:
        """Redact what a body gives, also where the call is cancelled after it."""
        try:
            outcome = await next_layer(execution)
        except ToolError as error:
            raise ToolError(error.code, self._clean(str(error)), error.meta) from error
        contexts = tuple(map(self._clean, outcome.contexts))
        return replace(outcome, content=self._clean(outcome.content), contexts=contexts)

    async def after(
        self, executed: Executed, next_layer: Next[Executed, PostExecute]
    ) -> PostExecute:
        """Redact what other layers make of a result, and results of calls that never ran."""
        before = executed.outcome
        outcome = replace(before, content=self._clean(before.content))
        decision = await next_layer(replace(executed, outcome=outcome))
        changed = outcome.content != before.content
        return _decided(decision, outcome.content, self._clean, changed=changed)

    def spare(self, execution: Execution) -> Deny | None:
        """Deny a change that puts a placeholder where the secret stands."""
        subject = execution.prepared.subject
        if not isinstance(subject, Change):
            return None
        for hunk in (hunk for file in subject.files for hunk in file.hunks):
            if (self._shown & set(_marks(hunk.new))) - set(_marks(hunk.old)):
                return Deny(
                    "the change would write a placeholder where a secret stands that is kept from"
                    " you; leave those lines as they are and edit around them"
                )
        return None


def _decided(
    decision: PostExecute, content: str, clean: Callable[[str], str], *, changed: bool
) -> PostExecute:
    """What inner layers decided, with their words redacted, for a result that may have changed."""
    match decision:
        case Accept():
            return Replace(content) if changed else decision
        case Replace(said):
            return Replace(clean(said))
        case Enrich(contexts):
            more = tuple(map(clean, contexts))
            return Replace("\n\n".join((content, *more))) if changed else Enrich(more)
        case Block(feedback):
            return Block(clean(feedback))


def _marks(text: str) -> list[str]:
    return _MARK.findall(text) if _BEGIN in text else []
