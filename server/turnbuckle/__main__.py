"""`turnbuckle`: the server for `serve`, the terminal client for everything else."""

import os
import sys


def main() -> None:
    """Run the command that the arguments name."""
    _import_nothing_from_here()
    # Imported late: an editor waits for the server, which needs nothing of the terminal client.
    if sys.argv[1:2] == ["serve"]:
        from turnbuckle.app import main as serve

        sys.exit(serve(sys.argv[2:]))
    from turnbuckle.cli.commands import app
    from turnbuckle.workspace.concealing import conceal

    conceal(keep=True)  # the server that is started gets what is kept

    app(prog_name="turnbuckle")


def _import_nothing_from_here() -> None:
    """Take the folder that we were started in from where modules are found.

    It is a workspace of whatever origin, and `python -m` puts it first, as an empty or relative
    name in PYTHONPATH does. What an absolute one names stays.
    """
    try:
        here = os.getcwd()  # noqa: PTH109 - nothing else at the start
    except OSError:
        return
    if not sys.flags.safe_path and sys.path[:1] in ([""], [here]):
        del sys.path[0]
    names = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    for name in names if os.environ.get("PYTHONPATH") else ():
        path = os.path.join(here, name) if name else here  # noqa: PTH118 - as above
        if not os.path.isabs(name) and os.path.normpath(path) in sys.path:  # noqa: PTH117 - as above
            sys.path.remove(os.path.normpath(path))


if __name__ == "__main__":
    main()
