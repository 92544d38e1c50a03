"""What can be typed about messages that wait, and about the turn that runs."""

from turnbuckle.cli.sitting import Sitting
from turnbuckle.cli.waiting import Message
from turnbuckle.lsp.names import INBOX_EDIT
from turnbuckle.lsp.protocol import InboxEditParams, InboxEditResult, Text


async def queue(sitting: Sitting, _: str) -> None:
    """List what waits."""
    rows = sitting.dialogue.waiting.lines(None)
    if rows:
        sitting.stage.screen.aside(rows)
    else:
        sitting.say("nothing waits")


async def edit(sitting: Sitting, words: str) -> None:
    """Change a message that waits: the given text, or what the person makes of it."""
    number, _, text = words.partition(" ")
    if (message := _found(sitting, number)) is None:
        return
    if not text.strip():
        reply = await sitting.source.line("Change the message: ", given=message.text)
        text = reply or ""
    if text.strip():
        changed = (Text(type="text", text=text.strip()),)
        await _change(sitting, message, InboxEditParams(
            session_id=sitting.talk.session_id, key=message.key, input=changed
        ))  # fmt: skip


async def drop(sitting: Sitting, words: str) -> None:
    """Take a message out."""
    if (message := _found(sitting, words)) is not None:
        await _change(sitting, message, InboxEditParams(
            session_id=sitting.talk.session_id, key=message.key, remove=True
        ))  # fmt: skip


async def steer(sitting: Sitting, words: str) -> None:
    """Send a message into the turn that runs."""
    if words:
        await sitting.send(words, "steer")
    else:
        sitting.say("say what: /steer TEXT", "warn")


async def cancel(sitting: Sitting, words: str) -> None:
    """Cancel the turn that runs."""
    if sitting.busy or sitting.dialogue.waiting.messages:
        await sitting.cancel(keep_queue=words == "keep")
    else:
        sitting.say("nothing runs")


async def go_on(sitting: Sitting, _: str) -> None:
    """Go on with a turn that was cut off."""
    await sitting.send(None)


async def leave(sitting: Sitting, _: str) -> None:
    """Leave the chat."""
    sitting.close()


def _found(sitting: Sitting, word: str) -> Message | None:
    waiting = sitting.dialogue.waiting
    if (message := waiting.numbered(word)) is None:
        several = "name one by its number, as /queue shows it"
        sitting.say(several if waiting.messages else "nothing waits", "warn")
    return message


async def _change(sitting: Sitting, message: Message, params: InboxEditParams) -> None:
    result = await sitting.talk.client.request(INBOX_EDIT, params)
    assert isinstance(result, InboxEditResult)
    if not result.changed:
        sitting.say("too late: the agent has taken it up", "warn")
    elif not params.remove:
        sitting.say("changed")
