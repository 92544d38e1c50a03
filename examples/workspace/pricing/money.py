"""Amounts of money, in whole cents."""


def percent_of(cents: int, percent: int) -> int:
    """So many per cent of an amount, rounded to the nearest cent."""
    return (cents * percent + 50) // 100


def show(cents: int) -> str:
    """The amount as people write it."""
    return f"{cents // 100}.{cents % 100:02d} EUR"
