"""Show the differences of two snapshots of a table."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from paimonlab.analysis.partition_names import partition_names
from paimonlab.analysis.row_words import rows_are
from paimonlab.analysis.schema_history import differences
from paimonlab.analysis.snapshots import diff as snapshot_diff
from paimonlab.errors import SnapshotNotFoundError, TagNotFoundError
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.diff.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.incremental import Moment
from paimonlab.table.reading.time_travel import to_millis
from paimonlab.table.system.live import files_of
from paimonlab.table.table import Table


def diff(table: str | Table, start: Moment, end: Moment) -> views.View:
    """Show how files, rows, partitions, columns and options of two states differ.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    start, end
        A snapshot id (0: before the first), the name of a tag, a time as text in the process's
        local zone, or an aware datetime; ``end`` may be the older one.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot; `SnapshotExpiredError` if it has expired.
    TagNotFoundError
        If text is neither a tag nor a time.
    """
    opened_table = opened(table)
    before, after = _both(opened_table, start, end)
    schemas = _schema_of(opened_table, before), _schema_of(opened_table, after)
    files = (
        files_of(store_of(opened_table).manifests, before, with_postponed=True),
        files_of(store_of(opened_table).manifests, after, with_postponed=True),
    )
    partitions = pa.chunked_array([pa.concat_tables(files)["partition"].combine_chunks().unique()])
    value = snapshot_diff.diff(
        opened_table.name,
        (before, after),
        files,
        dict(
            zip(
                partitions.to_pylist(),
                partition_names(definition_of(opened_table).schema, partitions),
                strict=True,
            )
        ),
        (schemas[0].id, schemas[1].id),
        differences(*schemas),
        has_levels=bool(opened_table.primary_keys),
        rows_are=rows_are(opened_table.primary_keys, definition_of(opened_table).options),
        has_snapshots=any((before, after)) or bool(opened_table.snapshots.ids()),
    )
    return draw(views.repeatable_diff(value) if is_deterministic() else value)


def _schema_of(table: Table, snapshot: Snapshot | None) -> TableSchema:
    """Return the schema of a snapshot, or the one that the table was made with."""
    return table.schemas.get(snapshot.schema_id if snapshot else min(table.schemas.ids()))


def _both(table: Table, start: Moment, end: Moment) -> tuple[Snapshot | None, Snapshot | None]:
    """Return both snapshots; tags are listed only where they may be meant, and once."""
    if isinstance(start, int) and isinstance(end, int):
        found = table.snapshots.those((start, end))
        if len(found) == 2:
            return found[0], found[1]
    tags = table.tags.list()
    return _at(table, start, tags), _at(table, end, tags)


def _at(table: Table, moment: Moment, tags: Mapping[str, Tag]) -> Snapshot | None:
    """Return the snapshot of a tag, of an id, or the last one at or before a time; None: of 0."""
    if isinstance(moment, str):
        if moment in tags:
            return tags[moment].to_snapshot()
        if moment.isdecimal():
            moment = int(moment)
    if isinstance(moment, int):
        return _with_id(table, moment, tags) if moment else None
    try:
        millis = to_millis(moment)
    except ValueError as error:
        raise TagNotFoundError(table.name, str(moment), list(tags)) from error
    return table.snapshots.at_or_before(millis)


def _with_id(table: Table, snapshot_id: int, tags: Mapping[str, Tag]) -> Snapshot:
    """Return a snapshot; one that has expired may still have a tag."""
    try:
        return table.snapshots.get(snapshot_id)
    except SnapshotNotFoundError:
        for tag in tags.values():
            if tag.id == snapshot_id:
                return tag.to_snapshot()
        raise
