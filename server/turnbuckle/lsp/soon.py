"""Do something soon, once for all the reasons that come up until then."""

import logging
from collections.abc import Awaitable, Callable

from turnbuckle.agent.sessions import Starts
from turnbuckle.lsp.rpc import NoAnswer

logger = logging.getLogger(__name__)


class Soon:
    """Does one thing after another for names that were touched; a name waits in it once at most.

    So nothing grows while a client does not read or answer: what waits is made when it is sent.
    """

    def __init__(self, tasks: Starts, work: Callable[[str], Awaitable[object]]) -> None:
        self._tasks = tasks
        self._work = work
        self._waiting: dict[str, None] = {}
        self._runs = False

    def touch(self, name: str) -> None:
        """Have it done for this name."""
        self._waiting[name] = None
        if not self._runs:
            self._runs = True
            self._tasks.start_soon(self._run)

    async def _run(self) -> None:
        try:
            while self._waiting:
                name = next(iter(self._waiting))
                del self._waiting[name]
                try:
                    await self._work(name)
                except NoAnswer as error:
                    logger.debug("a client did not take %s: %s", name, error)
        finally:
            self._runs = False
