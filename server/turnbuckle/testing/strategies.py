"""Random histories, for property tests (needs hypothesis)."""

import os

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    ContextPruned,
    ContextRewound,
    ContextSummary,
    Fact,
    InboxAdded,
    PluginFact,
    SessionTitle,
    StepEnd,
    StepStart,
    TodoWrite,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import Call, Context, End, Image, Pruned, TodoItem, Usage

texts = st.text(st.characters(codec="utf-8"), max_size=12)
seqs = st.integers(0, 12)
call_ids = st.sampled_from(["a", "b", "c", "d"])
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
calls = st.builds(Call, call_id=call_ids, name=texts, arguments=texts)
images = st.builds(Image, digest=texts, mime_type=st.just("image/png"), size=seqs)
usages = st.builds(
    Usage, input=seqs, output=seqs, total=seqs, cached=st.none() | seqs, reasoning=st.none() | seqs
)


def soak(examples: int) -> int:
    """How many examples to try: so many, times what the variable TURNBUCKLE_SOAK says."""
    return int(examples * float(os.environ.get("TURNBUCKLE_SOAK") or 1))


def facts() -> SearchStrategy[Fact]:
    """Any fact that bears on what the model is shown, and some that do not; in any order."""
    numbers = {"turn": st.just(1), "step": st.just(1)}
    return st.one_of(
        st.builds(TurnStart, turn=st.just(1)),
        st.builds(TurnEnd, turn=st.just(1), end=st.builds(End, kind=st.just("completed"))),
        st.builds(StepStart, **numbers),
        st.builds(StepEnd, **numbers, tool_calls=seqs),
        st.builds(SessionTitle, title=texts),
        st.builds(
            InboxAdded,
            key=texts,
            target=st.sampled_from(["turn", "step"]),
            input=texts,
            context=st.lists(
                st.builds(Context, kind=st.just("text"), text=texts, image=st.none() | images),
                max_size=2,
            ).map(tuple),
        ),
        st.builds(
            UserMessage,
            **numbers,
            content=texts,
            key=st.none() | texts,
            image=st.none() | images,
        ),
        st.builds(AssistantChunk, **numbers, text=st.none() | texts),
        st.builds(
            AssistantMessage,
            **numbers,
            content=texts,
            finish=texts,
            usage=st.none() | usages,
            tool_calls=st.lists(calls, max_size=3, unique_by=lambda call: call.call_id).map(tuple),
        ),
        st.builds(
            ToolResult,
            **numbers,
            call_id=call_ids,
            content=texts,
            is_error=st.booleans(),
            meta=st.none() | json_objects,
        ),
        st.builds(
            ContextPruned,
            results=st.lists(st.builds(Pruned, seq=seqs, content=texts), max_size=2).map(tuple),
        ),
        st.builds(ContextSummary, covers=st.tuples(seqs, seqs), text=texts),
        st.builds(ContextRewound, to=seqs),
        st.builds(PluginFact, name=st.sampled_from(["x", "y/z"]), data=json_objects),
        st.builds(
            TodoWrite,
            items=st.lists(st.builds(TodoItem, text=texts, state=st.just("open")), max_size=2).map(
                tuple
            ),
        ),
    )
