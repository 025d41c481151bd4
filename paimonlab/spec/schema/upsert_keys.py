"""``upsert-key``: columns of an append table by which an INSERT finds the rows that it replaces.

It is Spark's connector that obeys the option; Java Paimon's other writers append.

Source: apache/paimon@1.4.2 ``SchemaValidation``, ``RewriteUpsertTable``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field

if TYPE_CHECKING:
    from paimonlab.spec.schema.table_schema import TableSchema


class UpsertOptions(OptionSlice):
    """The table option that says which rows an INSERT replaces."""

    keys: tuple[str, ...] = option_field("upsert-key", "list", ())
    """``upsert-key``: columns; () if rows are appended."""


def check_upsert_key(schema: TableSchema) -> None:
    """Check that a table may have an ``upsert-key``; its columns are checked with the others.

    Raises
    ------
    SchemaError
        If it has a primary key as well.
    UnsupportedError
        If a row with a lower ``sequence.field`` should win.
    """
    text = schema.options.get("upsert-key", "")
    if not text:
        return
    if schema.primary_keys:
        raise SchemaError(
            f"option 'upsert-key' = {text!r} cannot be combined with the primary key "
            f"({', '.join(schema.primary_keys)}): remove one of them"
        )
    order = schema.options.get("sequence.field.sort-order", "ascending")
    if order.lower() != "ascending":
        raise UnsupportedError(
            f"sequence.field.sort-order = {order!r} with 'upsert-key'",
            "the row with the greatest 'sequence.field' is kept; use 'ascending'",
        )


def check_appends(table: str, options: Mapping[str, str]) -> None:
    """Check that rows may be added to a table without looking for those they replace.

    Raises
    ------
    UnsupportedError
        If it has an ``upsert-key``.
    """
    keys = Options(options).slice(UpsertOptions).keys
    if keys:
        raise UnsupportedError(
            f"adding rows to {table} with upsert-key = {','.join(keys)!r}",
            "only INSERT of Spark looks for the rows they replace; use MERGE INTO, or table.merge",
        )
