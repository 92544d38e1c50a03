"""What waits as the model will read it: what the person pointed at, then the words."""

from typing import assert_never

from turnbuckle.session.events import InboxAdded, UserMessage
from turnbuckle.session.markdown import fenced
from turnbuckle.session.parts import Context
from turnbuckle.workspace.unseen import named


def messages_of(item: InboxAdded, turn: int, step: int) -> tuple[UserMessage, ...]:
    """A waiting message as messages."""
    pointed = tuple(
        UserMessage(turn=turn, step=step, content=_render(context), source="context")
        for context in item.context
    )
    said = UserMessage(turn=turn, step=step, key=item.key, content=item.input, source=item.source)
    return (*pointed, said)


def _render(context: Context) -> str:
    where = f" {named(context.uri)}" if context.uri else ""
    if context.range:
        first, last = context.range["start"]["line"] + 1, context.range["end"]["line"] + 1
        where += f", line {first}" if first == last else f", lines {first} to {last}"
    match context.kind:
        case "file":
            head = f"The person points at the file{where}."
        case "selection":
            head = f"The person has selected{where}:"
        case "diagnostics":
            head = f"The editor reports{where}:"
        case "terminal":
            head = "From the person's terminal:"
        case "text":
            head = "The person adds:"
        case _:
            assert_never(context.kind)
    if context.text is None:
        return head
    # Only what the person adds is said by them; the rest is a block, which nothing in it can end.
    return f"{head}\n\n{context.text if context.kind == 'text' else fenced(context.text)}"
