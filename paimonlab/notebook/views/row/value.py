"""One row from snapshot to snapshot, for display."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class RowFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A data file that a read of the row opens."""

    name: str
    """Without its folder; empty when names are hidden."""
    level: int | None
    """None in an append table."""
    place: str
    """Folder of its bucket, relative to the table."""


class RowStep(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a snapshot did to the row."""

    snapshot_id: int
    commit_kind: str
    time_millis: int | None
    """Commit time, milliseconds since the epoch; None when times are hidden."""
    tags: tuple[str, ...]
    what: str
    """``inserted``, ``updated``, ``deleted``; ``rewritten``: the same values, in other files;
    ``unchanged``, of a snapshot with a tag; ``absent``, of a tag before the row was inserted;
    ``present``: it is there in the oldest snapshot that was read."""
    earliest_id: int
    """Id of the earliest snapshot that may have done it; ``snapshot_id``: it was this one."""
    unknown: str
    """Why it is not known which of them did it; empty: it is known."""
    values: tuple[str | None, ...]
    """The row after it, as text; None is NULL. Empty: there is no such row."""
    changed: tuple[str, ...]
    """Columns that are not as before."""
    files: tuple[RowFile, ...]


class RowLife(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="row", tag_field="kind"
):
    """The life of one row."""

    table: str
    where: str
    """The condition that finds it."""
    columns: tuple[str, ...]
    steps: tuple[RowStep, ...]
    """Oldest first; those that did nothing to it are left out."""
    looked_at: int
    """Snapshots and tags that were read."""
    older_count: int
    """Existing ones that were not."""


MOST_COLUMNS = 8
"""Columns of a table that are all shown; of more those that tell something."""


def shown_columns(columns: Sequence[str], steps: Sequence[RowStep]) -> list[int]:
    """Choose the columns that are shown beside each other: the first, and those that changed.

    Parameters
    ----------
    columns
        Their names.
    steps
        What became of the row.

    Returns
    -------
    list of int
        Places, ascending; all, if there are few columns.
    """
    changed = {name for step in steps for name in step.changed}
    is_few = len(columns) <= MOST_COLUMNS
    places = [at for at, name in enumerate(columns) if is_few or not at or name in changed]
    return places[:MOST_COLUMNS]
