"""Files that complete others require these to be unchanged.

Source: apache/paimon@2.0.0 ``org.apache.paimon.operation.commit.ConflictDetection``, row ids;
1.3.1 checks nothing and loses the older of two updates.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import FilesConflictError
from paimonlab.spec.manifests.manifest import FileKind, is_kind


def completing_files(entries: pa.Table) -> pa.Table:
    """Return the additions that have the row ids of other files (`ENTRY_SCHEMA`)."""
    is_added = is_kind(entries, FileKind.ADD)
    return entries.filter(pc.and_(is_added, entries["first_row_id"].is_valid()))


def check_row_ranges(
    added: pa.Table, alive: pa.Table, checked_id: int, *, table: str, snapshot_id: int
) -> None:
    """Check that files complete existing files, and hide nothing written meanwhile.

    Parameters
    ----------
    added
        Files of the commit with row ids (`ENTRY_SCHEMA`).
    alive
        All files of their partitions in the snapshot that the commit follows.
    checked_id
        The snapshot whose rows the new files were made of.
    table, snapshot_id
        For the message.

    Raises
    ------
    FilesConflictError
        If rows are gone, or others wrote columns of them meanwhile.
    """
    first = numpy_values(alive["first_row_id"].fill_null(-1))
    rows = numpy_values(alive["row_count"])
    newest = numpy_values(alive["max_sequence_number"])
    starts, counts = numpy_values(added["first_row_id"]), numpy_values(added["row_count"])
    order = np.lexsort((newest, first))
    # The last of equal first row ids is the newest file.
    preceding = np.searchsorted(first[order], starts, side="right") - 1
    completed = order[np.maximum(preceding, 0)] if len(order) else np.zeros(len(starts), np.int64)
    is_there = np.zeros(len(starts), np.bool_)
    if len(order):
        is_there = (preceding >= 0) & (first[completed] == starts) & (rows[completed] == counts)
    names = added["file_name"]
    if not is_there.all():
        gone = names[int(np.flatnonzero(~is_there)[0])].as_py()
        problem = f"the rows that {gone} completes are gone; read the table again and redo this"
        raise FilesConflictError(table, snapshot_id, (gone,), problem)
    if (newest[completed] > checked_id).any():
        late = names[int(np.flatnonzero(newest[completed] > checked_id)[0])].as_py()
        problem = (
            f"others wrote columns of the rows of {late} after snapshot {checked_id}; read the "
            "table again and redo this"
        )
        raise FilesConflictError(table, snapshot_id, (late,), problem)


def check_whole_ranges(
    added: pa.Table, alive: pa.Table, gone: Collection[str], *, table: str, snapshot_id: int
) -> None:
    """Check that compacted files have all rows of files that complete them, or none.

    Parameters
    ----------
    added
        Files of a compaction with row ids (`ENTRY_SCHEMA`), of different rows.
    alive
        All files of their partitions in the snapshot that the commit follows.
    gone
        Names of files that the compaction replaces.
    table, snapshot_id
        For the message.

    Raises
    ------
    FilesConflictError
        If others wrote columns of some rows of a new file meanwhile.
    """
    replaced = arrow_array(sorted(gone), pa.string())
    is_other = pc.invert(pc.is_in(alive["file_name"], replaced))
    others = alive.filter(pc.and_(alive["first_row_id"].is_valid(), is_other))
    starts = numpy_values(added["first_row_id"])
    order = np.argsort(starts)
    starts, counts = starts[order], numpy_values(added["row_count"])[order]
    first, rows = numpy_values(others["first_row_id"]), numpy_values(others["row_count"])
    last = np.searchsorted(starts, first + rows, side="left") - 1
    touches = (last >= 0) & (starts[last] + counts[last] > first)
    late = touches & ~((starts[last] == first) & (counts[last] == rows))
    if late.any():
        name = others["file_name"][int(np.flatnonzero(late)[0])].as_py()
        problem = f"{name} has columns of some of the rows that were compacted meanwhile"
        raise FilesConflictError(table, snapshot_id, (name,), problem)
