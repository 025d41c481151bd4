"""The condition of a read, as users give it."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.predicate import Predicate, bind
from paimonlab.spec.types import DataField


def bound(
    where: str | Predicate | None, fields: Sequence[DataField], table: str
) -> Predicate | None:
    """Bind SQL text or an expression to columns; None stays None.

    Raises
    ------
    SchemaError
        If the text cannot be read, or a literal does not fit its column.
    ColumnNotFoundError
        If a column is not there; ``table`` is only for the message.
    """
    if where is None:
        return None
    if isinstance(where, str):
        # sqlglot takes 0.1 s to import, and most reads have no SQL text.
        from paimonlab.spec.predicate_sql import parse_predicate  # noqa: PLC0415

        where = parse_predicate(where)
    return bind(where, fields, table)
