"""What waits as the model will read it: what the person pointed at, then the words."""

from turnbuckle.session.events import InboxAdded, UserMessage
from turnbuckle.session.markdown import fenced
from turnbuckle.session.parts import Context
from turnbuckle.workspace.unseen import named

_HEADS = {
    "file": "The person points at the file{where}.",
    "selection": "The person has selected{where}:",
    "diagnostics": "The editor reports{where}:",
    "terminal": "From the person's terminal:",
    "text": "The person adds:",
    "image": "The person shows an image.",
}


def messages_of(item: InboxAdded, turn: int, step: int) -> tuple[UserMessage, ...]:
    """A waiting message as messages."""
    pointed = tuple(
        UserMessage(
            turn=turn, step=step, content=_render(context), source="context", image=context.image
        )
        for context in item.context
    )
    said = UserMessage(turn=turn, step=step, key=item.key, content=item.input, source=item.source)
    return (*pointed, said)


def _render(context: Context) -> str:
    where = f" {named(context.uri)}" if context.uri else ""
    if context.range:
        first, last = context.range["start"]["line"] + 1, context.range["end"]["line"] + 1
        where += f", line {first}" if first == last else f", lines {first} to {last}"
    head = _HEADS[context.kind].format(where=where)
    if context.text is None:
        return head
    # Only what the person adds is said by them; the rest is a block, which nothing in it can end.
    return f"{head}\n\n{context.text if context.kind == 'text' else fenced(context.text)}"
