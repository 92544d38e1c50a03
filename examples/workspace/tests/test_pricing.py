"""What a cart should cost."""

import unittest

from pricing.cart import Line, goods, total
from pricing.money import percent_of, show


class Money(unittest.TestCase):
    def test_cents_are_shown_with_two_digits(self) -> None:
        assert show(1205) == "12.05 EUR", show(1205)

    def test_per_cents_are_rounded(self) -> None:
        assert percent_of(995, 10) == 100, percent_of(995, 10)


class Cart(unittest.TestCase):
    def test_nine_pieces_cost_nine_times_the_price(self) -> None:
        cost = goods([Line("bolt", 500, 9)])
        assert cost == 4500, f"9 pieces at 5.00 should cost 45.00 EUR, not {show(cost)}"

    def test_ten_pieces_get_the_discount(self) -> None:
        cost = goods([Line("bolt", 500, 10)])
        assert cost == 4500, f"10 pieces at 5.00 should cost 45.00 EUR, not {show(cost)}"

    def test_a_small_order_pays_for_shipping(self) -> None:
        cost = total([Line("nut", 100, 5)])
        assert cost == 990, f"5 pieces at 1.00 should cost 9.90 EUR, not {show(cost)}"

    def test_shipping_is_free_for_large_orders(self) -> None:
        cost = total([Line("rod", 2500, 2)])
        assert cost == 5000, f"2 pieces at 25.00 should cost 50.00 EUR, not {show(cost)}"


if __name__ == "__main__":
    unittest.main()
