"""A small app for tests of the wire: echoes, waits, fails, prints and floods on request."""

import os
import secrets
import sys
from typing import Any

import anyio
import orjson

from turnbuckle.lsp.rpc import Connection, NoAnswer, Refused
from turnbuckle.lsp.serve import serve_stdio, serve_tcp

# Any: params and results are JSON, or what the connection makes of it.
Json = dict[str, Any]


class EchoApp:
    """Serves methods under `test/`; `log` is what happened, in order."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.log: list[object] = []

    def initialize(self, params: Json) -> Json:
        """Claim hardly anything; who comes with `rootUri: "refuse:"` is turned away."""
        if params.get("rootUri") == "refuse:":
            raise Refused("not here", kind="place", retryable=False)
        return {"capabilities": {"executeCommandProvider": {"commands": ["test.slow"]}}}

    async def load(self) -> None:
        """Register everything."""
        from turnbuckle.lsp.protocol import REQUESTS

        self.log.append("load")
        connection = self.connection
        connection.know(REQUESTS)
        connection.on_request("test/echo", self._echo)
        connection.on_request("test/log", self._read_log)
        connection.on_request("test/slow", self._slow)
        connection.on_request("workspace/executeCommand", self._slow)
        connection.on_request("test/ask", self._ask)
        connection.on_request("test/flood", self._flood)
        connection.on_request("test/print", _print)
        connection.on_request("textDocument/hover", self._echo)
        connection.on_request("turnbuckle/session/close", self._echo)
        connection.on_notification("test/note", self.log.append)

    async def serving(self) -> None:
        """Wait for the end; `ECHO_STUCK` makes its clean-up last for ever."""
        self.log.append("serving")
        try:
            await anyio.sleep_forever()
        finally:
            self.log.append("served")
            if os.environ.get("ECHO_STUCK"):
                with anyio.CancelScope(shield=True):
                    await anyio.sleep_forever()

    async def _echo(self, params: object) -> object:
        self.log.append("echo")
        return {"params": params}

    async def _read_log(self, _: object) -> object:
        return {"log": self.log}

    async def _slow(self, params: object) -> object:
        """Wait to be cancelled; with `keep`, answer then nevertheless."""
        self.log.append("slow")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.log.append("cancelled")
            if isinstance(params, dict) and params.get("keep"):
                return {"kept": True}
            raise
        return None

    async def _ask(self, params: Json) -> object:
        """Ask the client in return, and say what it said."""
        try:
            return {"said": await self.connection.call("test/question", params, timeout=None)}
        except NoAnswer as no_answer:
            return {"refused": no_answer.said}

    async def _flood(self, params: Json) -> object:
        """Send `count` values on `token` as text, each with `size` characters."""
        for number in range(params["count"]):
            value = {"number": number, "text": "x" * params["size"]}
            message = {"token": params["token"], "value": value}
            await self.connection.send_text(
                orjson.dumps({"jsonrpc": "2.0", "method": "$/progress", "params": message})
            )
        return {"sent": params["count"]}


async def _print(params: Json) -> object:
    """Do what a careless library does with the standard streams; give what a child could read."""
    print("stray print", flush=True)  # noqa: T201 - that is the point
    os.write(1, b"stray write\n")
    command = [sys.executable, "-c", "import sys; print('stray child'); sys.stdin.read()"]
    child = await anyio.run_process(command, stdin=None, stdout=None, stderr=None, check=False)
    return {"child": child.returncode}


def main() -> int:
    """Serve standard streams, or with `--tcp` a port."""
    if "--tcp" in sys.argv:
        return anyio.run(serve_tcp, "127.0.0.1", 0, secrets.token_urlsafe(), EchoApp)
    grace = float(os.environ.get("ECHO_GRACE", "4"))
    return anyio.run(lambda: serve_stdio(EchoApp, grace=grace))


if __name__ == "__main__":
    sys.exit(main())
