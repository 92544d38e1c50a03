"""The client's end of a contestant's wire; every frame is stamped when its bytes are read."""

import os
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import orjson

Stamped: TypeAlias = tuple[int, bytes]
"""Nanoseconds of the monotonic clock, and a frame's body."""

_READ = 256 * 1024
_PROGRESS = b'"$/progress"'


class NoAnswer(Exception):
    """A contestant did not answer in time, or is gone."""


class Failed(Exception):
    """A contestant answered with an error; `at` is when, in nanoseconds."""

    def __init__(self, at: int, error: object) -> None:
        super().__init__(orjson.dumps(error).decode()[:500])
        self.at = at


class Wire:
    """A contestant's process, and requests to it.

    `$/progress` is only kept, in `progress`, to be looked at when the clock has stopped; bodies of
    it that hold `watched` are handed to `next_watched` at once.
    """

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, errors: Path
    ) -> None:
        self.spawned = time.monotonic_ns()
        self._errors = errors
        with errors.open("ab") as stderr:
            self._process = subprocess.Popen(
                argv, env=env, cwd=cwd, stderr=stderr, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        self.progress: list[Stamped] = []
        self.watched: bytes | None = None
        self._seen: queue.SimpleQueue[Stamped] = queue.SimpleQueue()
        # Any: JSON of any message.
        self._inbox: queue.SimpleQueue[tuple[int, dict[str, Any]] | None] = queue.SimpleQueue()
        self._count = 0
        self._reading = threading.Event()
        self._reading.set()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def request(self, method: str, params: object) -> tuple[int, int]:
        """Send a request; its id, and when."""
        self._count += 1
        return self._count, self._send({"id": self._count, "method": method, "params": params})

    def notify(self, method: str, params: object) -> int:
        """Send a notification; when."""
        return self._send({"method": method, "params": params})

    # Any: the result is JSON.
    def answer(self, identity: int, timeout: float = 60) -> tuple[int, Any]:
        """When the answer came, and what it is; the contestant's own requests get null meanwhile.

        Raises:
            Failed: it is an error.
            NoAnswer: there is none in time.
        """
        until = time.monotonic() + timeout
        while True:
            try:
                stamped = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise NoAnswer(f"no answer within {timeout:g} s") from None
            if stamped is None:
                raise NoAnswer(f"it ended, and said last: {self._last_words()}")
            at, message = stamped
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "result": None})
            elif message.get("id") == identity:
                if "error" in message:
                    raise Failed(at, message["error"])
                return at, message.get("result")

    def refusal(self, identity: int, timeout: float = 60) -> int:
        """When a request that was cancelled was answered, however.

        Raises:
            NoAnswer: it was not, in time.
        """
        try:
            return self.answer(identity, timeout)[0]
        except Failed as failed:
            return failed.at

    def call(self, method: str, params: object, timeout: float = 60) -> tuple[int, int, Any]:
        """Ask and wait: when it was sent, when answered, and the result."""
        identity, sent = self.request(method, params)
        at, result = self.answer(identity, timeout)
        return sent, at, result

    def next_watched(self, timeout: float = 20) -> Stamped:
        """The next progress that holds `watched`.

        Raises:
            NoAnswer: none comes in time.
        """
        try:
            return self._seen.get(timeout=timeout)
        except queue.Empty:
            raise NoAnswer(f"{self.watched!r} was not told within {timeout:g} s") from None

    def stop_reading(self) -> None:
        """Read nothing but what is read already, until `go_on_reading`."""
        self._reading.clear()

    def go_on_reading(self) -> None:
        """Read again."""
        self._reading.set()

    def end(self) -> None:
        """End the process: by closing its input, then by force."""
        self._reading.set()
        assert self._process.stdin is not None
        with suppress(OSError):  # it is gone already
            self._process.stdin.close()
        for force in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(3)
            except subprocess.TimeoutExpired:
                force()
        self._process.wait()
        self._thread.join(3)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _last_words(self) -> str:
        said = self._errors.read_text(encoding="utf-8", errors="replace")
        return said.strip()[-500:]

    def _send(self, message: dict[str, object]) -> int:
        body = orjson.dumps({"jsonrpc": "2.0", **message})
        assert self._process.stdin is not None
        at = time.monotonic_ns()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()
        return at

    def _read(self) -> None:
        assert self._process.stdout is not None
        descriptor, rest = self._process.stdout.fileno(), b""
        while True:
            self._reading.wait()
            data = os.read(descriptor, _READ)
            at = time.monotonic_ns()
            if not data:
                self._inbox.put(None)
                return
            bodies, rest = _bodies(rest + data)
            for body in bodies:
                self._take(at, body)

    def _take(self, at: int, body: bytes) -> None:
        if _PROGRESS not in body[:80]:
            self._inbox.put((at, orjson.loads(body)))
            return
        self.progress.append((at, body))
        if self.watched is not None and self.watched in body:
            self._seen.put((at, body))


def _bodies(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole bodies in some bytes, and the rest."""
    bodies: list[bytes] = []
    start = 0
    for begin, length in _headers(data):
        bodies.append(data[begin : begin + length])
        start = begin + length
    return bodies, data[start:]


def _headers(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while (end := data.find(b"\r\n\r\n", start)) >= 0:
        lines = data[start:end].split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line[:15].lower() == b"content-length:")
        if end + 4 + length > len(data):
            return
        yield end + 4, length
        start = end + 4 + length
