"""How much one answer may be; what is more is refused, so that no answer takes all the memory."""

EVENT_LIMIT = 8 * 1024 * 1024
"""The most bytes that one event, one line, or an answer in one piece may have."""

STREAM_LIMIT = 256 * 1024 * 1024
"""The most bytes that one stream may have, after it was decompressed."""

ANSWER_LIMIT = 16 * 1024 * 1024
"""The most characters that one answer may have: its text, its thoughts and its calls together."""

CALLS_LIMIT = 1_000
"""The most calls that one answer may make, and the most pieces of calls in one event."""

BITE = 64 * 1024
"""The most bytes of a body that are looked at in one go."""


class TooLarge(ValueError):
    """An answer outgrew a limit; nothing can be read after it."""
