"""What stands side by side in several names: in order, and never without an owner."""

import pytest

from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Scope, ScopeClosed


async def test_what_is_added_stands_in_order_and_leaves_with_its_owner() -> None:
    owned, one, other = Owned[str](), Scope("one"), Scope("other")
    owned.add(one, "a", "a letter")
    owned.add(other, "b", "a letter")
    owned.add(one, "c", "a letter")
    owned.add(other, "before all", "a word", first=True)
    assert list(owned) == ["before all", "a", "b", "c"]
    assert one.labels == ("a letter", "a letter")
    await one.aclose()
    assert list(owned) == ["before all", "b"]
    assert len(owned) == 2


def test_the_same_value_is_there_as_often_as_it_was_added() -> None:
    owned, scope = Owned[str](), Scope("s")
    take_back = owned.add(scope, "x", "x")
    owned.add(scope, "x", "x")
    take_back()
    assert list(owned) == ["x"]


def test_who_goes_through_them_is_not_disturbed_by_what_comes_and_leaves() -> None:
    owned, scope = Owned[int](), Scope("s")
    take_back = [owned.add(scope, number, "n") for number in (1, 2)]
    seen = []
    for number in owned:
        seen.append(number)
        owned.add(scope, number + 10, "n")
        take_back[1]()
    assert seen == [1, 2]
    assert list(owned) == [1, 11, 12]


async def test_a_closed_owner_can_add_nothing() -> None:
    owned, scope = Owned[str](), Scope("s")
    await scope.aclose()
    with pytest.raises(ScopeClosed):
        owned.add(scope, "late", "x")
    assert not owned
