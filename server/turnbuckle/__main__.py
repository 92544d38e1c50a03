"""`turnbuckle`: the server for `serve`, the terminal client for everything else."""

import sys


def main() -> None:
    """Run the command that the arguments name."""
    # Imported late: an editor waits for the server, which needs nothing of the terminal client.
    if sys.argv[1:2] == ["serve"]:
        from turnbuckle.app import main as serve

        sys.exit(serve(sys.argv[2:]))
    from turnbuckle.cli.commands import app

    app(prog_name="turnbuckle")


if __name__ == "__main__":
    main()
