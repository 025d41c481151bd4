"""A condition that is looked at row by row, since no file can be ruled out by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from msgspec import Struct

from paimonlab import write
from paimonlab.arrow_values import null_filled
from paimonlab.errors import ColumnNotFoundError
from paimonlab.table import reading


class Condition(Struct, frozen=True):
    """A condition that is evaluated row by row."""

    text: str
    """In SQL, or as its library shows it."""
    columns: frozenset[str]
    """What it reads."""
    evaluate: Callable[[pa.RecordBatch], pa.Array]
    """Makes a truth value a row of rows with these columns: true, false or null."""

    @classmethod
    def of(cls, where: Any, schema: pa.Schema, table: str) -> Condition:
        """Take one as users give it: SQL text, or an expression of pyarrow or polars.

        Raises
        ------
        UnsupportedError
            If it cannot be evaluated; names the function.
        ColumnNotFoundError
            If a column does not exist; ``table`` is only for the message.
        """
        if isinstance(where, str):
            return cls.of_text(where, schema, table)
        found = reading.library_conditions.library_condition(where, schema, table)
        return cls(found.text, found.columns, found.evaluate)

    @classmethod
    def of_text(cls, text: str, schema: pa.Schema, table: str) -> Condition:
        """Parse one.

        Raises
        ------
        UnsupportedError
            If it cannot be evaluated; names the function.
        ColumnNotFoundError
            If a column does not exist; ``table`` is only for the message.
        """
        names = write.expressions.sql.columns_of(text)
        for name in sorted(names.difference(schema.names)):
            raise ColumnNotFoundError(name, table, schema.names, f"A text is quoted: '{name}'")
        value = write.expressions.conditions.truth(
            write.expressions.sql.parse_expression(text, schema, table)
        )
        return cls(value.text, frozenset(names), value.evaluate)

    def is_true(self, rows: pa.RecordBatch) -> pa.Array:
        """Tell of each row whether it is true: n values without nulls."""
        return null_filled(self.evaluate(rows), False)

    def part_over(self, names: frozenset[str]) -> Condition | None:
        """Return it if it reads these columns alone; what it consists of is not known."""
        return self if self.columns <= names else None
