"""Ids and sequence numbers that rows get by being committed.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``,
``assignRowTrackingMeta`` and ``assignSnapshotId``; apache/paimon@1.4.2 ``RowTrackingCommitUtils``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.types.system_fields import ROW_ID


def assign_row_ids(
    entries: pa.Table, *, snapshot_id: int, next_row_id: int
) -> tuple[pa.Table, int]:
    """Give the rows of new files their ids.

    Parameters
    ----------
    entries
        Entries of the commit (`ENTRY_SCHEMA`).
    snapshot_id
        Becomes the sequence number of all rows of the files that are added, but for files
        of all columns with ids in their metadata: compacted ones of a table with data evolution.
    next_row_id
        The first id that no row has.

    Returns
    -------
    entries : pyarrow.Table
        Files that were written, not compacted, and have no ids get them in their order; those with
        a column of ids, which ``write_cols`` names, have some.
    next_row_id : int
        The first id that is free now.

    Raises
    ------
    ValueError
        If an added file does not say how it came to be.
    """
    is_added = numpy_values(entries["kind"]) == int(FileKind.ADD)
    source = entries["file_source"]
    if np.any(is_added & numpy_values(source.is_null())):
        raise ValueError("files of a table with row ids must say whether they were compacted")
    is_written = numpy_values(source.fill_null(-1)) == int(FileSource.APPEND)
    first = entries["first_row_id"]
    gets_ids = is_added & is_written & numpy_values(first.is_null()) & ~_hold_ids(entries)
    counts = np.where(gets_ids, numpy_values(entries["row_count"]), 0)
    starts = next_row_id + np.cumsum(counts) - counts
    ids = np.where(gets_ids, starts, numpy_values(null_filled(first, 0)))
    has_ids = gets_ids | numpy_values(first.is_valid())
    columns = {"first_row_id": arrow_array(ids, pa.int64(), mask=~has_ids)}
    # Files of all columns that have ids come of compaction with data evolution: columns that were
    # written after what they were made of hide theirs.
    is_whole = numpy_values(pc.and_(first.is_valid(), entries["write_cols"].is_null()))
    is_whole &= numpy_values(entries["min_sequence_number"]) > 0
    is_numbered = is_added & ~is_whole
    for name in ("min_sequence_number", "max_sequence_number"):
        columns[name] = arrow_array(np.where(is_numbered, snapshot_id, numpy_values(entries[name])))
    for name, column in columns.items():
        index = entries.schema.get_field_index(name)
        entries = entries.set_column(index, entries.schema.field(index), column)
    return entries, next_row_id + int(counts.sum())


def _hold_ids(entries: pa.Table) -> npt.NDArray[np.bool_]:
    """Return which files have a column of ids."""
    holds = np.zeros(entries.num_rows, np.bool_)
    names = entries["write_cols"].combine_chunks()
    if names.null_count < len(names):
        is_id = numpy_values(pc.equal(pc.list_flatten(names), arrow_scalar(ROW_ID)))
        holds[numpy_values(pc.list_parent_indices(names))[is_id]] = True
    return holds
