"""Name the layer that holds a turn up, so that a plugin that never returns has a name."""

import logging

import anyio

from turnbuckle.agent.agent import Agent

logger = logging.getLogger(__name__)


async def name_overdue(agent: Agent) -> None:
    """Watch the running turn until cancelled; each layer that holds it up is named once.

    A layer holds a turn up if it did not move and nothing was appended for `layer_limit` seconds;
    not while a question to the person is open. It is only named: the turn stays the person's, to
    wait for or to cancel.
    """
    limit, session = agent.settings.layer_limit, agent.session
    before: dict[object, tuple[str, str]] = {}
    seq, named = session.log.seq, set[object]()
    while True:
        await anyio.sleep(limit)
        now = {} if agent.approvals.pending else agent.hooks.held_by()
        still = now.keys() & before.keys() if session.log.seq == seq else set[object]()
        for key in still - named:
            named.add(key)
            who, hook = now[key]
            text = f"{who} has held up {hook} for {limit:g} seconds; cancel the turn to stop it"
            logger.warning("session %s: %s", session.id, text)
            session.note("status", {"text": text})
        before, seq = now, session.log.seq
