"""The floor that counts: the same forwarding on stock pygls and httpx, written the obvious way."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import httpx
from lsprotocol import types
from pygls.lsp.server import LanguageServer

URL = os.environ["BENCH_URL"] + "/chat/completions"
READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}

server = LanguageServer("stock-floor", "1")


class Floor:
    """One history and one HTTP client, made when it is first needed."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None
        self._history: list[object] = [{"role": "system", "content": "You are a coding agent."}]

    async def turn(self, prompt: str, token: str) -> None:
        """Forward answers until one calls no tool."""
        self._history.append({"role": "user", "content": prompt})
        while calls := await self._step(token):
            for call in calls:
                path = Path(json.loads(call["function"]["arguments"])["path"])
                text = await asyncio.to_thread(path.read_text, encoding="utf-8")
                self._history.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    async def _step(self, token: str) -> list[dict[str, Any]]:  # Any: JSON
        """Forward one answer; the calls in it."""
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=httpx.Timeout(600, connect=5))
        request = {"model": "m", "stream": True, "messages": self._history, "tools": [READ_FILE]}
        texts: list[str] = []
        calls: list[dict[str, Any]] = []
        async with self._client.stream("POST", URL, json=request) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    for choice in json.loads(line[6:])["choices"]:
                        calls += choice["delta"].get("tool_calls", ())
                        if text := choice["delta"].get("content"):
                            texts.append(text)
                            value = types.ProgressParams(token=token, value={"text": text})
                            server.protocol.notify("$/progress", value)
        answer: dict[str, object] = {"role": "assistant", "content": "".join(texts)}
        self._history.append({**answer, "tool_calls": calls} if calls else answer)
        return calls


floor = Floor()


@server.feature("agent/turn")
async def turn(params: Any) -> dict[str, object]:  # Any: pygls makes an object of unknown params
    """One turn."""
    await floor.turn(params.prompt, params.token)
    return {}


if __name__ == "__main__":
    server.start_io()
