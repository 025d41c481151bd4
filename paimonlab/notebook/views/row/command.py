"""Show the life of one row."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.notebook import views
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.bounds import MOST_VERSIONS
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.row.drawing import draw
from paimonlab.notebook.views.row.value import RowFile, RowLife, RowStep
from paimonlab.table.reading.row_history import RowVersion, why_unknown
from paimonlab.table.table import Table

_CHARACTERS = 120


def row(table: str | Table, where: str, *, last: int = 50) -> Drawn[views.RowLife]:
    """Show what became of one row from snapshot to snapshot; this reads data files.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    where
        The condition that finds the row: ``id = 5``. In a table with a primary key it is about
        columns of that key.
    last
        How many of the newest snapshots are read, 1 to 500; those that tags keep are among them.

    Raises
    ------
    ArgumentError
        If the condition finds several rows.
    UnsupportedError
        If it is about columns that are not of the primary key: they change, and the row would
        seem to be deleted.
    SchemaError
        If it is not a condition.
    ValueError
        If ``last`` is out of its range.
    """
    if not 1 <= last <= MOST_VERSIONS:
        raise ValueError(f"last must be 1 to {MOST_VERSIONS}, got {last}")
    opened_table = opened(table)
    history = opened_table.history(where, last=last)
    with_times = not is_deterministic()
    return draw(
        RowLife(
            table=history.table,
            where=where,
            columns=tuple(history.schema.field_names),
            steps=tuple(
                _step(version, with_times=with_times, has_levels=bool(opened_table.primary_keys))
                for version in history
            ),
            looked_at=history.read_count,
            older_count=history.left_out_count,
        )
    )


def _step(version: RowVersion, *, with_times: bool, has_levels: bool) -> RowStep:
    """Write a version as text; times and names of files are left out where they would vary."""
    return RowStep(
        snapshot_id=version.snapshot.id,
        commit_kind=version.snapshot.commit_kind.value,
        time_millis=version.snapshot.time_millis if with_times else None,
        tags=version.tags,
        what=version.what,
        earliest_id=version.earliest_id,
        unknown=why_unknown(version.snapshot.id - version.earliest_id, version.left_out_count),
        values=() if version.row is None else _texts(version.row),
        changed=version.changed,
        files=tuple(
            RowFile(
                name=file.name if with_times else "",
                level=file.level if has_levels else None,
                place=file.bucket_path,
            )
            for file in version.files
        ),
    )


def _texts(row: pa.Table) -> tuple[str | None, ...]:
    written = [cells(column)[0] for column in row.columns]
    return tuple(cell.text[:_CHARACTERS] if cell.is_value else None for cell in written)
