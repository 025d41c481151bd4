"""What a query would read."""

from __future__ import annotations

import msgspec


class PlannedRead(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One read of a table in a query; a table that is named twice is read twice."""

    table: str
    """As the plan names it."""
    snapshot_id: int | None
    """None if there is none, or if it is unknown."""
    file_count: int | None
    """Data files that are left after pruning; None where the reader prunes when it runs."""
    all_file_count: int | None
    """Data files of the snapshot."""
    size_bytes: int | None
    all_size_bytes: int | None
    split_count: int | None
    """Splits of the snapshot."""
    merged_split_count: int | None
    """Those whose files have to be merged, or have deleted rows."""
    level_0_count: int | None
    """Files of level 0 in the snapshot: what compaction has not merged yet."""
    filters: str
    """Conditions that were passed to the reader."""
    columns: tuple[str, ...] = ()
    """That are read; none if that is unknown."""
    row_count: int | None = None
    """Rows in the files that are left, of which a key may have several; None: unknown."""


class PlannedRows(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a statement that writes would do to rows and files."""

    table: str
    said: str
    """In words."""
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    files_read: int
    files_changed: int
    """Data files that would be replaced, or get deletion vectors."""


class PlannedQuery(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The reads of a statement, how it is computed, and what it would change."""

    sql: str
    """Without secrets."""
    reads: tuple[PlannedRead, ...]
    plan: str
    """As text, as the planner writes it; empty if it was not asked for."""
    planner: str = "Spark"
    """Whose plan it is."""
    engine: str = ""
    """Who would answer, where that is neither Spark nor a scan."""
    change: PlannedRows | None = None
    """What would be changed; None of a query."""
