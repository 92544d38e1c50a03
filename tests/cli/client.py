"""The terminal client on the fake server, as a process: `client.py ask|chat PROMPT [--json]`."""

import os
import sys
from functools import partial
from pathlib import Path

import anyio

from turnbuckle.cli import asking
from turnbuckle.cli.chat import chat as run_chat
from turnbuckle.cli.stage import perform
from turnbuckle.cli.talk import Server

FAKE = Server(argv=(sys.executable, "-m", "turnbuckle.testing.plays"))


def main(command: str, *arguments: str) -> int:
    """Run one command and give its exit code."""
    if command == "chat":
        state = Path(os.environ["FAKE_STATE"])
        chat = partial(run_chat, server=FAKE, cwd=Path.cwd(), session_id=None, state=state)
        return anyio.run(perform, chat, False, True)
    prompt, *options = arguments
    session_id = next((o for o in options if o != "--json"), None)
    ask = partial(
        asking.ask,
        server=FAKE,
        cwd=Path.cwd(),
        session_id=session_id,
        prompt=prompt,
        json="--json" in options,
    )
    return anyio.run(perform, ask, "--json" in options)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
