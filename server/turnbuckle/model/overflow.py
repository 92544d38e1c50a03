"""Signs that a request did not fit, where a server does not say so."""

from turnbuckle.model.port import Reply, cut
from turnbuckle.model.providers import Provider

_COUNTS_FROM = 1000  # tokens; a server that counts only what it had not cached says less
_FAR = 2  # how many times more than was read must have been sent to be no error of the estimate


IMAGE = 1_000
"""Tokens that a picture is about: between some hundred and 2,000, as providers count them."""


def estimated(size: int, images: int = 0) -> int:
    """About how many tokens a request is: rather too few than too many for text and code.

    `size` is that of its body in bytes, without its pictures.
    """
    return size // 4 + images * IMAGE


def overflow_in(
    provider: Provider, reply: Reply, *, said: bool, asked: int, allowed: int | None
) -> str | None:
    """Why an answer must be taken for an overflow, or None.

    `said` is whether anything came in it, `asked` the estimated tokens of the request, `allowed`
    how many tokens the answer was allowed.
    """
    if said:
        read = reply.usage.input if reply.usage else 0
        if _above(provider.cuts_above, asked) and _COUNTS_FROM <= read < asked / _FAR:
            return f"read only {read} of about {asked} tokens, to fit them into its context"
    elif cut(reply.finish) == "limit":
        if reply.usage and reply.usage.output <= 1 < (allowed or 2):
            return f"had no room for an answer to about {asked} tokens"
    elif _above(provider.mute_above, asked):
        return f"said nothing to about {asked} tokens, which seem to be too many"
    return None


def _above(limit: int | None, asked: int) -> bool:
    return limit is not None and asked > limit
