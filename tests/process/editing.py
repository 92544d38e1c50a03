"""An editor as a process of its own, which can be killed: it has a server, and sends it a message
for each command; how they end is told to it by the name of a method on its input."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from process.life import Life
from turnbuckle.lsp import names


class Sitting:
    """Somebody at an editor who allows whatever is asked."""

    def __init__(self, life: Life) -> None:
        self.life = life

    def hear(self, params: Any) -> None:  # Any: JSON
        """Answer what is asked."""
        match params:
            case {"value": {"type": "approval/asked", "data": {"approvalId": approval}}}:
                answer = {"approvalId": approval, "decision": "allow"}
                self.life.client.ask(names.APPROVE, answer)

    async def begin(self, prompts: list[str]) -> None:
        """Send each message in a session of its own."""
        self.life.client.on_notification("$/progress", self.hear)
        for prompt in prompts:
            opened = await self.life.client.request(names.SESSION_OPEN, {})
            events = {"sessionId": opened.session_id, "token": prompt}
            await self.life.client.request(names.SESSION_EVENTS, events)
            self.life.send(opened.session_id, prompt)

    async def exit(self) -> None:
        """Tell the server to end."""
        await self.life.client.shutdown()

    async def leave(self) -> None:
        """Go away without a word; only the pipe tells."""


async def main(folder: Path, url: str, prompts: list[str]) -> None:
    """Sit there until told how to go."""
    life = Life("sitting")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(life.run, folder / "work", folder / "state", url)
        await life.ready.wait()
        print(life.pid, flush=True)  # noqa: T201 - it is what the test reads
        sitting = Sitting(life)
        await sitting.begin(prompts)
        how = await anyio.to_thread.run_sync(sys.stdin.readline)
        await {"exit": sitting.exit, "leave": sitting.leave}[how.strip()]()
        life.over.set()


if __name__ == "__main__":
    anyio.run(partial(main, Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
