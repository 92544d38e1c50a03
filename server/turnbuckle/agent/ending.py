"""How a turn ended, as the log can say it: each turn has an end, whatever came in between."""

from dataclasses import replace

from turnbuckle.session import codec
from turnbuckle.session.codec import NotJson, scrub
from turnbuckle.session.events import TurnEnd
from turnbuckle.session.parts import End, Failure
from turnbuckle.session.session import Session


def settled(end: End, cause: str | None) -> End:
    """A cancel's cause, if there was one: also where a layer made something else of the cancel."""
    return end if cause is None else End(kind="aborted", cause=cause)


def kept(end: End, session: Session) -> End:
    """The end of a turn that is in the file, else that it is not: nobody must think that it is."""
    session.write_through()
    if session.failing is None or end.kind in ("error", "aborted"):
        return end
    return End(kind="error", failure=Failure(kind="store", message=str(session.failing)))


def writable(end: End) -> End:
    """The end in letters that can be written down; each turn has one, whatever a plugin gave."""
    try:
        failure = end.failure and replace(end.failure, message=scrub(end.failure.message))
        reason, cause = (text and scrub(text) for text in (end.reason, end.cause))
        spelt = replace(end, reason=reason, cause=cause, failure=failure)
        codec.sealed(TurnEnd(turn=1, end=spelt))
    except (NotJson, AttributeError) as error:
        said = f"what ended the turn cannot be written down: {error}"
        return End(kind="error", failure=Failure(kind="hook", message=said))
    return spelt
