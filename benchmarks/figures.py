"""Figures with what they should reach, and the table of them."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Basis = Literal["stock", "itself"]


@dataclass(frozen=True, slots=True)
class Limit:
    """What our figure may be: times the stock floor's, or by itself; `most` or at least."""

    factor: float
    of: Basis = "stock"
    most: bool = True

    def holds(self, value: float) -> bool:
        """Whether a ratio, or a figure by itself, is within it."""
        return value <= self.factor if self.most else value >= self.factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row: what was measured in each round, by contestant.

    `reference` stands for the stock floor's figure where that is not the same measurement.
    """

    name: str
    unit: str
    rounds: Mapping[str, Sequence[float]]
    limit: Limit | None = None
    reference: float | None = None

    def value(self, contestant: str) -> float | None:
        """The median round."""
        rounds = self.rounds.get(contestant)
        return statistics.median(rounds) if rounds else None

    @property
    def ratio(self) -> float | None:
        """Ours against the stock floor; None for what is a mere number, or a ratio already.

        It is taken round by round, and the median told: a machine has faster and slower moments,
        and the rounds of both were done in the same ones.
        """
        ours, stock = self.rounds.get("ours", ()), self.rounds.get("stock", ())
        if self.reference is not None:
            stock = [self.reference] * len(ours)
        pairs = list(zip(ours, stock, strict=len(ours) == len(stock)))
        if self.unit in ("", "×") or not pairs or any(math.inf in pair for pair in pairs):
            return None
        return statistics.median(one / other for one, other in pairs)

    @property
    def reached(self) -> bool | None:
        """Whether the limit is kept; None where there is none, or nothing was measured."""
        judged = self.ratio if self.limit and self.limit.of == "stock" else self.value("ours")
        return None if self.limit is None or judged is None else self.limit.holds(judged)

    def as_json(self) -> dict[str, object]:
        """Everything that is known of it."""
        return {
            "name": self.name,
            "unit": self.unit,
            "rounds": {
                name: [None if math.isinf(value) else value for value in values]
                for name, values in self.rounds.items()
            },
            "ratio": self.ratio,
            "target": self.limit and _target(self.limit, self.unit),
            "reached": self.reached,
        }


_HEADS = ("", "plain", "stock", "ours", "", "ours/stock", "target", "")


def table(figures: Iterable[Figure]) -> str:
    """The rows under one another, in aligned columns."""
    rows = [_HEADS, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:4], widths[1:4], strict=True)]
        cells.append(row[4].ljust(widths[4]))
        cells += [cell.rjust(width) for cell, width in zip(row[5:7], widths[5:7], strict=True)]
        lines.append("  ".join([*cells, row[7]]).rstrip())
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, ...]:
    outcome = {True: "reached", False: "MISSED", None: ""}[figure.reached]
    return (
        figure.name,
        *(_shown(figure.value(name)) for name in _HEADS[1:4]),
        figure.unit,
        f"{figure.ratio:.2f} ×" if figure.ratio is not None else "",
        _target(figure.limit, figure.unit) if figure.limit else "",
        outcome,
    )


def _target(limit: Limit, unit: str) -> str:
    sign = "≤" if limit.most else "≥"
    return f"{sign} {limit.factor:g} {'×' if limit.of == 'stock' else unit}"


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    if math.isinf(value):
        return "never"
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
