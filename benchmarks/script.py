"""What the scripted model shall do: the script travels in the prompt, so its server keeps none."""

import re
from dataclasses import asdict, dataclass

import orjson

_MARK = re.compile(r"bench: (\{.*\})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """`steps` calls of `tool`, one an answer, and then an answer of `chunks` pieces of text.

    In the arguments `{step}` stands for the number of the step, from 0. `rate` is in chunks a
    second, 0 for as fast as possible. `times` asks for the time of each chunk.
    """

    chunks: int = 1
    rate: float = 0
    times: bool = False
    steps: int = 0
    tool: str = "read_file"
    arguments: str = "{}"

    def prompt(self) -> str:
        """The script as a message of the person."""
        return f"bench: {orjson.dumps(asdict(self)).decode()}"


def read_script(prompt: str) -> Script | None:
    """The script in a message, if there is one."""
    found = _MARK.search(prompt)
    return Script(**orjson.loads(found[1])) if found else None


def piece(number: int) -> str:
    """The text of one chunk, which says its number wherever it is read."""
    return f"m{number:06d} "
