"""What changed between two points of a table, for display."""

from __future__ import annotations

from typing import Literal

import msgspec

ChangeSource = Literal["changelog", "delta", "diff"]

NOTES = {
    "changelog": "from changelog files: every reported change, intermediate ones included",
    "delta": "rows as appends wrote them: what a row was before, and deletes by deletion vector or "
    "rewrite, are unknown",
    "diff": "computed from both states: intermediate changes are lost, and a row that was "
    "deleted and inserted again unchanged does not count",
}


class ChangedRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One row that was inserted, deleted or updated."""

    mark: Literal["+", "-", "~"]
    kind: str
    """``+I``, ``-D``, ``-U``, ``+U``, or ``-U/+U`` for both sides of an update."""
    partition: str
    bucket: int | None
    """None where it differs from run to run."""
    cells: tuple[str | None, ...]
    """The values as text, those after a change; None is NULL."""
    old: tuple[tuple[int, str | None], ...] = ()
    """Column and old value, of changed cells only."""


class ChangeCount(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many rows of a place were inserted, updated and deleted."""

    place: str
    """Partition or bucket."""
    inserts: int
    updates: int
    deletes: int


class ChangeList(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="changes", tag_field="kind"
):
    """The rows that changed between two points of a table."""

    table: str
    start: str
    end: str
    source: ChangeSource
    note: str
    """What the source reports, and what is lost."""
    columns: tuple[str, ...]
    key: tuple[int, ...]
    """Which of the columns are the primary key."""
    floats: tuple[int, ...]
    """Which are FLOAT or DOUBLE."""
    total: ChangeCount
    partitions: tuple[ChangeCount, ...]
    """Those with most changes first; the rest is summed up in the last."""
    buckets: tuple[ChangeCount, ...]
    rows: tuple[ChangedRow, ...]
    """The first ones; the kernel has all."""
    row_count: int
    file_count: int
    """Data files that have them."""
    has_snapshots: bool = True
    """Whether anything was written to the table."""
