"""What the HTTP client would import and a server has no use for: memory, and time at each start."""

import sys
from types import ModuleType
from typing import cast


def spare() -> None:
    """Keep it out; called before the HTTP client is imported, and without effect afterwards."""
    # The command line of httpx, which brings rich, click and pygments wherever they are installed.
    # Where it is missing, as an empty module says it is, httpx does without.
    sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))
    # httpcore tries to import this four times a request, searching the whole path each time where
    # it is not installed. None is how a module is said not to be there.
    sys.modules.setdefault("sniffio", cast("ModuleType", None))
