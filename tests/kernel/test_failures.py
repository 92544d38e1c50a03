"""A failure in one line, whatever was raised."""

import pytest

from turnbuckle.kernel.failures import blame, told


class Silent(Exception):
    """It cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("boom"), "ValueError: boom"),
        (TimeoutError(), "TimeoutError"),
        (Silent(), "Silent: <exception str() failed>"),
        (SystemExit(2), "SystemExit: 2"),
        (ExceptionGroup("g", [ExceptionGroup("h", [ValueError("boom")])]), "ValueError: boom"),
        (ExceptionGroup("g", [OSError(), OSError()]), "ExceptionGroup: g (2 sub-exceptions)"),
    ],
)
def test_every_error_can_be_told(error: BaseException, said: str) -> None:
    assert told(error) == said


def test_a_long_error_is_cut() -> None:
    assert len(told(ValueError("x" * 1_000_000))) < 3000


def test_the_first_who_is_blamed_stays_blamed() -> None:
    error = ValueError("boom")
    error.add_note("a note of somebody else")
    blame(error, "plugin a in hook")
    blame(error, "plugin b in hook")
    assert told(error) == "ValueError: boom, raised by plugin a in hook"


def test_nobody_is_blamed_for_a_cancellation() -> None:
    error = KeyboardInterrupt()
    blame(error, "plugin a in hook")
    assert told(error) == "KeyboardInterrupt"
