"""The server: the only place where concrete things meet. Light, since starting it is waited for."""

import argparse
import os
import secrets
import sys
from functools import partial

import anyio


def main(argv: list[str]) -> int:
    """`turnbuckle serve`: serve standard input and output, or a port of this machine.

    Gives the exit code: 0 after `shutdown`, 1 without it, 2 for wrong arguments.
    """
    from turnbuckle.workspace.concealing import conceal

    env = conceal(os.environ, keep=False)
    arguments = _parser().parse_args(argv)
    from turnbuckle.app.logs import log_to_standard_error
    from turnbuckle.app.server import Server
    from turnbuckle.lsp.serve import serve_stdio, serve_tcp

    make = partial(Server, env=env, log=log_to_standard_error(env))
    if arguments.tcp is None:
        return anyio.run(serve_stdio, make)
    host, port = arguments.tcp
    try:
        return anyio.run(serve_tcp, host, port, secrets.token_urlsafe(32), make)
    except OSError as error:
        print(f"turnbuckle serve: {host}:{port}: {error.strerror}", file=sys.stderr)  # noqa: T201 — not served yet
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="turnbuckle serve",
        description="The language server. Editors start it; it speaks LSP on standard input and "
        "output. TURNBUCKLE_LOG names a level; the log goes to standard error.",
    )
    parser.add_argument(
        "--tcp",
        type=_address,
        metavar="127.0.0.1:PORT",
        help="listen on a port of this machine instead (0 takes a free one); prints one JSON line "
        "{port, token}, and the client must bring the token",
    )
    return parser


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if host != "127.0.0.1":
        raise argparse.ArgumentTypeError("only 127.0.0.1 can be served; give 127.0.0.1:PORT")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{port!r} is not a port")
    return host, int(port)
