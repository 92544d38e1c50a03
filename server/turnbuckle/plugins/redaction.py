"""Keep what looks like a secret from the model and the log: a placeholder stands in its place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from turnbuckle.agent.hooks import Decision, Enter, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ToolResult, UserMessage
from turnbuckle.session.redacting import PATTERNS, Pattern, marks_in, redacted
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

_TAKEN = "what looks like a secret was taken out of your words, and is neither kept nor sent"


def install(
    ctx: PluginContext,
    *,
    held: Callable[[], Iterable[str]] = tuple,
    patterns: Sequence[Pattern] = PATTERNS,
) -> None:
    """Redact what the person types, what enters a step, and what tools give, before it is logged.

    The person is told what was taken out of their words. `held` gives the secrets that are known
    by their text, each time anew. A change that would write a placeholder that the model was shown
    into a file is denied: it would overwrite the secret.
    """
    redaction = _Redaction(ctx.session.facts, lambda text: redacted(text, held(), patterns))

    def typed(text: str) -> str:
        done = redaction.clean(text)
        if done != text:
            what = ", ".join(sorted(set(marks_in(done)) - set(marks_in(text))))
            ctx.session.note("status", {"text": f"{_TAKEN}: {what or 'a secret'}"})
        return done

    ctx.hooks.typed(typed)
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
                self._shown.update(marks_in(entry.fact.content))

    def clean(self, text: str) -> str:
        """The text without secrets."""
        done = self._redact(text)
        if done is not text:
            self._shown.update(marks_in(done))
        return done

    async def entering(self, step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        """Redact what enters, whoever added it."""
        decision = await next_layer(step)
        if not isinstance(decision, Enter):
            return decision
        return Enter(tuple(replace(m, content=self.clean(m.content)) for m in decision.messages))

    async def running(self, execution: Execution, next_layer: Next[Execution, Outcome]) -> Outcome:
        """Redact what a body gives, also where the call is cancelled after it."""
        try:
            outcome = await next_layer(execution)
        except ToolError as error:
            raise ToolError(error.code, self.clean(str(error)), error.meta) from error
        contexts = tuple(map(self.clean, outcome.contexts))
        return replace(outcome, content=self.clean(outcome.content), contexts=contexts)

    async def after(
        self, executed: Executed, next_layer: Next[Executed, PostExecute]
    ) -> PostExecute:
        """Redact what other layers make of a result, and results of calls that never ran."""
        before = executed.outcome
        outcome = replace(before, content=self.clean(before.content))
        decision = await next_layer(replace(executed, outcome=outcome))
        changed = outcome.content != before.content
        return _decided(decision, outcome.content, self.clean, changed=changed)

    def spare(self, execution: Execution) -> Deny | None:
        """Deny a change that puts a placeholder where the secret stands."""
        subject = execution.prepared.subject
        if not isinstance(subject, Change):
            return None
        for hunk in (hunk for file in subject.files for hunk in file.hunks):
            if (self._shown & set(marks_in(hunk.new))) - set(marks_in(hunk.old)):
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
