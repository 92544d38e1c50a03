"""What can be typed about the model that answers and about what is allowed."""

from turnbuckle.cli.lines import Line
from turnbuckle.cli.sitting import Sitting
from turnbuckle.cli.subjects import grant_words
from turnbuckle.cli.visible import one_line
from turnbuckle.lsp.choosing import EffectiveConfig, ModelEntry, ModelsParams, ModelsResult
from turnbuckle.lsp.lives import (
    GrantsResult,
    GrantsRevokeParams,
    SessionConfigureParams,
    SessionParams,
)
from turnbuckle.lsp.names import GRANTS, GRANTS_REVOKE, MODELS, SESSION_CONFIGURE


async def model(sitting: Sitting, words: str) -> None:
    """Show the models, or have the named one answer from now on."""
    if words:
        params = SessionConfigureParams(session_id=sitting.talk.session_id, model=words)
        config = await sitting.talk.client.request(SESSION_CONFIGURE, params)
        assert isinstance(config, EffectiveConfig)
        sitting.config = config
        sitting.say(f"{one_line(config.model or words)} answers from now on")
        return
    result = await sitting.talk.client.request(MODELS, ModelsParams())
    assert isinstance(result, ModelsResult)
    now = sitting.config.model
    sitting.stage.screen.aside([_row(entry, now) for entry in result.models])
    sitting.say("/model NAME chooses one" if result.models else "no model is configured")


async def grants(sitting: Sitting, words: str) -> None:
    """Show what is allowed without a question, or take one of it back by its number."""
    session_id = sitting.talk.session_id
    result = await sitting.talk.client.request(GRANTS, SessionParams(session_id=session_id))
    assert isinstance(result, GrantsResult)
    first, _, number = words.partition(" ")
    if first == "revoke":
        index = int(number) - 1 if number.isascii() and number.isdigit() else -1
        if not 0 <= index < len(result.grants):
            sitting.say("name one by its number: /grants revoke 1", "warn")
            return
        params = GrantsRevokeParams(session_id=session_id, grant_id=result.grants[index].grant_id)
        await sitting.talk.client.request(GRANTS_REVOKE, params)
        sitting.say("it is asked about again")
        return
    cwd = sitting.dialogue.cwd
    rows: list[Line] = [
        ((f"  {n} ", "you"), (grant_words(grant.subject, cwd), ""))
        for n, grant in enumerate(result.grants, 1)
    ]
    sitting.stage.screen.aside(rows)
    sitting.say(
        "/grants revoke NUMBER takes one back" if rows else "nothing is allowed without a question"
    )


def _row(entry: ModelEntry, now: str | None) -> Line:
    used = entry.current if now is None else entry.name == now
    window = f"  {entry.window:,} tokens" if entry.window else ""
    why = f"  {one_line(entry.unavailable, 120)}" if entry.unavailable else ""
    return (
        ("● " if used else "  ", "good"),
        (one_line(entry.name), ""),
        (f"  {one_line(entry.provider, 40)}{window}", "dim"),
        (why, "warn"),
    )
