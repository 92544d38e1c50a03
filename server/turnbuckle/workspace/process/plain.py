"""What a program wrote, as plain text: no control sequences, no half-overwritten lines."""

import re

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|\Z)"  # colours, movements
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links, the clipboard
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"  # strings for devices
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(data: bytes) -> str:
    r"""The text that a person would have seen; undecodable bytes stand as `\xNN`."""
    return clean(data.decode("utf-8", "backslashreplace"))


def clean(text: str) -> str:
    """The text without control sequences, each line in the last state that it had."""
    text = _SEQUENCES.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    if "\b" in text:
        text = "\n".join(map(_erased, text.split("\n")))
    return _CONTROLS.sub("", text)


def _last_state(line: str) -> str:
    """What is left of a line that was written over from its start."""
    return next((part for part in reversed(line.split("\r")) if part), "")


def _erased(line: str) -> str:
    if "\b" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)
