"""A cart, and what it costs."""

from dataclasses import dataclass

from pricing.discounts import discount

SHIPPING = 490
FREE_SHIPPING_FROM = 5000


@dataclass(frozen=True)
class Line:
    """So many pieces of one article; the price of one is in cents."""

    article: str
    unit_price: int
    quantity: int


def goods(lines: list[Line]) -> int:
    """What the goods cost, discounts taken off, in cents."""
    return sum(
        line.unit_price * line.quantity - discount(line.unit_price, line.quantity) for line in lines
    )


def total(lines: list[Line]) -> int:
    """What the person pays, in cents; shipping is free for large orders."""
    cost = goods(lines)
    return cost if cost >= FREE_SHIPPING_FROM else cost + SHIPPING
