"""Files that complete others require these to be unchanged.

Source: apache/paimon@2.0.0 ``org.apache.paimon.operation.commit.ConflictDetection``, row ids;
1.3.1 checks nothing and loses the older of two updates.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import FilesConflictError
from paimonlab.spec.manifests.manifest import FileKind


def completing_files(entries: pa.Table) -> pa.Table:
    """Return the additions that have the row ids of other files (`ENTRY_SCHEMA`)."""
    is_added = pc.equal(entries["kind"], int(FileKind.ADD))
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
    first = alive["first_row_id"].fill_null(-1).to_numpy()
    rows = alive["row_count"].to_numpy()
    newest = alive["max_sequence_number"].to_numpy()
    starts, counts = added["first_row_id"].to_numpy(), added["row_count"].to_numpy()
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
