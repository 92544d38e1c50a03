"""A session that another process writes: read on in it, and write it when that process is gone."""

from anyio import to_thread

from turnbuckle.agent.opening import OpenSession, SessionUnreadable, loaded_of
from turnbuckle.session.loading import Loaded
from turnbuckle.session.recovery import closing
from turnbuckle.session.session import Session
from turnbuckle.session.store import Locked, Store, StoreFailed, Sync, read_lines


async def catch_up(opened: OpenSession) -> None:
    """Take in what another process has written meanwhile; nothing where it cannot be read."""
    session = opened.session
    if not session.read_only or session.damage is not None:
        return
    try:
        news = await to_thread.run_sync(_read_on, session, opened)
    except (StoreFailed, SessionUnreadable):
        return  # what was seen so far can be shown; writing will say what is wrong
    if session.read_only:
        session.follow(news)


def _read_on(session: Session, opened: OpenSession) -> Loaded:
    return _news(session, read_lines(opened.path)[0])


async def take_over(opened: OpenSession, sync: Sync) -> bool:
    """Whether a session can be written now; it is taken over where its writer is gone.

    Then it goes on behind what that wrote last, with closing facts where a turn was broken off.

    Raises:
        SessionUnreadable: what the other process wrote cannot be read here.
        StoreFailed: its file cannot be used.
    """
    session = opened.session
    if not session.read_only:
        return True
    if session.damage is not None:
        return False
    store = Store(opened.path, sync=sync)
    try:
        news = await to_thread.run_sync(_take, session, store)
    except Locked:
        return False
    session.follow(news)
    session.store, session.read_only = store, False
    for fact in closing(session.log.entries):
        session.append(fact)
    return True


def _take(session: Session, store: Store) -> Loaded:
    try:
        news = _news(session, store.read())
        _require_whole(session, news)
        store.begin()
    except BaseException:
        store.close()
        raise
    return news


def _require_whole(session: Session, news: Loaded) -> None:
    if news.damage is not None:
        raise SessionUnreadable(
            f"session {session.id} was damaged by whoever wrote it last ({news.damage}); "
            f"close it and open it again"
        )


def _news(session: Session, lines: list[bytes]) -> Loaded:
    """What stands behind the facts that this session knows."""
    count = len(session.log.entries)
    if count and (len(lines) < count or lines[count - 1] != session.last_line):
        raise SessionUnreadable(
            f"the file of session {session.id} is not what is shown here any more; "
            f"close it and open it again"
        )
    return loaded_of(session.id, lines[count:], count)
