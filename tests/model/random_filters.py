"""Random conditions, as SQL text and as a function on a row of the model."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.model.table_model import Column, Row

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">=": operator.ge,
}
FILTERED_TYPES = ("INT", "BIGINT", "STRING")
"""Types whose values of the model compare as they do in SQL."""


@dataclass(frozen=True)
class Condition:
    """A condition in both languages."""

    sql: str
    decide: Callable[[Row], bool | None]
    """True, False, or None: unknown."""

    def holds(self, row: Row) -> bool:
        """Whether a filter keeps the row."""
        return self.decide(row) is True


def random_condition(
    columns: Sequence[Column], rows: Sequence[Row], rng: np.random.Generator, depth: int = 1
) -> Condition | None:
    """Make a condition over columns that can be compared; None if there are none."""
    usable = [column for column in columns if column.type.split()[0] in FILTERED_TYPES]
    if not usable:
        return None
    if depth and rng.random() < 0.4:
        left = random_condition(usable, rows, rng, depth - 1)
        right = random_condition(usable, rows, rng, depth - 1)
        assert left is not None
        assert right is not None
        return _both(left, right) if rng.random() < 0.5 else _either(left, right)
    return _leaf(usable[int(rng.integers(len(usable)))], rows, rng)


def _leaf(column: Column, rows: Sequence[Row], rng: np.random.Generator) -> Condition:
    name, number = f"`{column.name}`", column.number
    if rng.random() < 0.15:
        return Condition(f"{name} IS NULL", lambda row: row.get(number) is None)
    if rng.random() < 0.15:
        return Condition(f"{name} IS NOT NULL", lambda row: row.get(number) is not None)
    values = [_value(column, rows, rng) for _ in range(3)]
    if rng.random() < 0.25:
        texts = ", ".join(_literal(value) for value in values)
        return Condition(
            f"{name} IN ({texts})",
            lambda row: None if row.get(number) is None else row[number] in values,
        )
    symbol = str(rng.choice(list(_COMPARE)))
    compare, value = _COMPARE[symbol], values[0]
    return Condition(
        f"{name} {symbol} {_literal(value)}",
        lambda row: None if row.get(number) is None else compare(row[number], value),
    )


def _value(column: Column, rows: Sequence[Row], rng: np.random.Generator) -> Any:
    known = [row[column.number] for row in rows if row.get(column.number) is not None]
    if known and rng.random() < 0.8:
        return known[int(rng.integers(len(known)))]
    return "m" if column.type.startswith("STRING") else int(rng.integers(-9, 9))


def _literal(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return str(value)


def _both(left: Condition, right: Condition) -> Condition:
    def decide(row: Row) -> bool | None:
        found = (left.decide(row), right.decide(row))
        return False if False in found else (None if None in found else True)

    return Condition(f"({left.sql}) AND ({right.sql})", decide)


def _either(left: Condition, right: Condition) -> Condition:
    def decide(row: Row) -> bool | None:
        found = (left.decide(row), right.decide(row))
        return True if True in found else (None if None in found else False)

    return Condition(f"({left.sql}) OR ({right.sql})", decide)
