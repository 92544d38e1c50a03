"""An editor as a server sees one: a process that starts it, and holds the other ends of its pipes."""

import os
import subprocess
import sys
from threading import Thread
from typing import IO

CHUNK = 64 * 1024


def main() -> int:
    """Start what the arguments say, and hand bytes on until it ends."""
    with subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        Thread(target=_into, args=(server.stdin,), daemon=True).start()
        while data := os.read(server.stdout.fileno(), CHUNK):
            _whole(1, data)
        return server.wait()


def _into(pipe: IO[bytes]) -> None:
    try:
        while data := os.read(0, CHUNK):
            _whole(pipe.fileno(), data)
        pipe.close()
    except OSError:
        pass  # it has ended


def _whole(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    os._exit(main())  # the other thread may wait for ever
