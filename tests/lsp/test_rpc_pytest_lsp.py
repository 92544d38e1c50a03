"""A client that shares no code with ours finds nothing wrong with the server."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pytest_lsp import ClientServerConfig, LanguageClient

SOURCE = Path(__file__).parents[2] / "server"


@pytest_lsp.fixture(  # type: ignore[untyped-decorator] # it has no types
    config=ClientServerConfig(
        server_command=[sys.executable, "-m", "turnbuckle.testing.echo_app"],
        server_env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
)
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """A client that has shaken hands, and shuts the server down afterwards."""
    capabilities = pytest_lsp.client_capabilities("visual_studio_code")
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


async def test_requests_of_pygls_own_client_are_answered(client: LanguageClient) -> None:
    asked = client.protocol.send_request("test/echo", {"a": 1})
    assert (await asyncio.wrap_future(asked)).params.a == 1
    asked = client.protocol.send_request("no/such")
    with pytest.raises(JsonRpcMethodNotFound, match="no/such"):
        await asyncio.wrap_future(asked)


async def test_a_request_of_pygls_own_client_is_cancelled(client: LanguageClient) -> None:
    command = types.ExecuteCommandParams(command="test.slow")
    running = client.protocol.send_request("workspace/executeCommand", command, msg_id="run")
    client.cancel_request(types.CancelParams(id="run"))
    with pytest.raises(JsonRpcException) as caught:
        await asyncio.wrap_future(running)
    assert caught.value.code == -32800
