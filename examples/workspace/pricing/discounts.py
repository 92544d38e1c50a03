"""Who gets a discount."""

from pricing.money import percent_of

WHOLESALE_FROM = 10
WHOLESALE_PERCENT = 10


def discount(unit_price: int, quantity: int) -> int:
    """The discount on one line of a cart, in cents: 10 % from ten pieces on."""
    if quantity > WHOLESALE_FROM:
        return percent_of(unit_price * quantity, WHOLESALE_PERCENT)
    return 0
