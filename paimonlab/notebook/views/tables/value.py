"""The tables of a catalog."""

from __future__ import annotations

import msgspec


class TableEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One table of a catalog."""

    database: str
    table: str
    primary_keys: tuple[str, ...]
    partition_keys: tuple[str, ...]
    column_count: int
    snapshot_id: int | None
    """The latest snapshot; None for a table that nothing was written to."""


class TableList(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="tables", tag_field="kind"
):
    """The tables of a catalog or of one of its databases."""

    databases: tuple[str, ...]
    tables: tuple[TableEntry, ...]
