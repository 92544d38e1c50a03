"""The scripted model as whoever measures sees it: its process, and what it noted."""

import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request and its answer; times in nanoseconds of the monotonic clock, 0 for never.

    `began` is when its first byte came, `end` when the last byte of a whole answer was written,
    `closed` when the connection was closed before that, and `times` when each chunk was written.
    """

    number: int
    began: int
    end: int
    closed: int
    times: tuple[int, ...]


class ScriptedModel:
    """Starts and ends the model's process, and collects its notes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.modelserver"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._asked: list[Asked] = []
        self._began: dict[int, int] = {}
        self._requests = 0
        self._changed = threading.Condition()
        assert self._process.stdout is not None
        port = orjson.loads(self._process.stdout.readline())["port"]
        self.url = f"http://127.0.0.1:{port}/v1"
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def requests(self) -> int:
        """How many were made so far."""
        with self._changed:
            return self._requests

    def since(self, requests: int, more: int, timeout: float = 5) -> list[Asked]:
        """What was asked after the first `requests`, once `more` of it have ended, or in vain."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._asked) >= requests + more, timeout)
            return sorted(
                (asked for asked in self._asked if asked.number > requests),
                key=lambda asked: asked.number,
            )

    def wait_for_request(self, requests: int, timeout: float = 20) -> None:
        """Return when there are more than `requests`."""
        with self._changed:
            self._changed.wait_for(lambda: self._requests > requests, timeout)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            note = orjson.loads(line)
            with self._changed:
                if note["event"] == "request":
                    self._requests += 1
                    self._began[note["number"]] = note["time"]
                else:
                    self._asked.append(
                        Asked(
                            number=note["number"],
                            began=self._began.pop(note["number"]),
                            end=note["end"],
                            closed=note["closed"],
                            times=tuple(note["times"]),
                        )
                    )
                self._changed.notify_all()
