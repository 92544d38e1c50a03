"""One spelling for all the ways in which some file system writes a name."""

import unicodedata


def folded(part: str) -> str:
    """A name as the most careless of file systems compares it: what it may be the same as.

    Case, forms of Unicode and what is not shown do not count there; Windows drops dots and blanks
    at the end, and has streams of the same file behind a colon.
    """
    if part.isascii():
        shown = part
    else:
        normal = unicodedata.normalize("NFKC", part)
        shown = "".join(c for c in normal if unicodedata.category(c) != "Cf")
    return shown.partition(":")[0].rstrip(" .").casefold()
