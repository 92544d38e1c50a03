"""What was used, for people: tokens, their cost, and how full the context is."""

from turnbuckle.cli.lines import counted
from turnbuckle.lsp.choosing import EffectiveConfig
from turnbuckle.session.parts import Usage
from turnbuckle.session.usage import Price, UsageFold, cost


def price_in(config: EffectiveConfig) -> Price | None:
    """The price that a session is run at, if the person has set one."""
    if config.price is None:
        return None
    return Price(**config.price.model_dump())


def used_by(usage: Usage | None, price: Price | None) -> str:
    """`1,234 tokens, 0.0021 USD`; nothing where nobody counted."""
    if usage is None:
        return ""
    tokens = counted(usage.total, "token")
    return f"{tokens}, {money(cost(usage, price), price.currency)}" if price else tokens


def context_of(used: UsageFold) -> str:
    """`12 % of the context of 128,000`; nothing where the window is not known."""
    if used.fill is None:
        return ""
    share = "less than 1 %" if 0 < used.fill < 0.01 else f"{used.fill:.0%}".replace("%", " %")
    return f"{share} of the context of {used.window:,}"


def meter(used: UsageFold, price: Price | None) -> str:
    """The last turn, the context, and the whole session where that was more than the turn."""
    turn = ", ".join(filter(None, (used_by(used.turn, price), context_of(used))))
    if used.session == used.turn:
        return turn
    return " · ".join(filter(None, (turn, f"in all {used_by(used.session, price)}")))


def money(amount: float, currency: str) -> str:
    """An amount, with as many digits as it takes to see something."""
    return f"{amount:,.2f} {currency}" if amount >= 1 else f"{amount:.4f} {currency}"
