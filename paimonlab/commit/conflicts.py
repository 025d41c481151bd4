"""Whether a commit still fits the table as it is now: pure functions of manifest entries.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``, conflict checks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import FilesConflictError
from paimonlab.scan.entries import codes, concat, identities
from paimonlab.spec.manifest import FileKind


@dataclass(frozen=True, slots=True)
class Base:
    """What a commit is checked against."""

    table: str
    """Name of the table, for messages."""
    snapshot_id: int
    """The snapshot that the commit follows; 0: it is the first."""
    entries: pa.Table
    """Files that are alive in that snapshot (`ENTRY_SCHEMA`, additions only): all those of the
    partitions the commit touches, or those that came since the writer looked."""


def check_delta(delta: pa.Table, base: Base) -> None:
    """Check what a commit adds and deletes.

    Every deleted file must be alive, no added file may be, none may be added twice, and all
    files of a partition must have one number of buckets, unless the old ones are deleted.

    Parameters
    ----------
    delta
        Entries of the commit (`ENTRY_SCHEMA`).
    base
        What it follows.

    Raises
    ------
    FilesConflictError
        If it does not fit.
    """
    count = base.entries.num_rows
    both = concat([base.entries, delta])
    identity = identities(both)
    is_added = both["kind"].to_numpy() == int(FileKind.ADD)
    alive, changed = identity[:count], identity[count:]
    added, deleted = changed[is_added[count:]], changed[~is_added[count:]]
    _check_deleted(deleted[~np.isin(deleted, alive)], both, identity, base)
    stays = ~np.isin(alive, deleted)
    distinct, counts = np.unique(added, return_counts=True)
    again = np.concatenate([distinct[counts > 1], added[np.isin(added, alive[stays])]])
    _check_added(again, both, identity, base)
    remaining = np.concatenate([np.flatnonzero(stays), count + np.flatnonzero(is_added[count:])])
    check_total_buckets(both.take(pa.array(remaining)), base)


def check_total_buckets(files: pa.Table, base: Base) -> None:
    """Check that the files of a partition agree in their number of buckets.

    Parameters
    ----------
    files
        Entries of files that are alive together, those of the commit last.
    base
        For the message.

    Raises
    ------
    FilesConflictError
        If a partition has files of two bucket counts: readers would look for rows in the
        wrong bucket.
    """
    if not files.num_rows:
        return
    partition = codes(files["partition"])
    totals = files["total_buckets"].to_numpy()
    first = np.unique(partition, return_index=True)[1]
    differs = np.flatnonzero(totals != totals[first][partition])
    if differs.size:
        row = int(differs[-1])
        raise FilesConflictError(
            base.table,
            base.snapshot_id,
            (),
            f"files written for {totals[row]} buckets meet files of {totals[first][partition][row]}"
            " buckets in one partition: the number of buckets was changed. Open the table again "
            "and redo this write; a partition takes a new number of buckets by being overwritten.",
        )


def _names(
    wanted: npt.NDArray[np.int64], entries: pa.Table, identity: npt.NDArray[np.int64]
) -> list[str]:
    rows = np.flatnonzero(np.isin(identity, wanted))
    return sorted(set(entries["file_name"].take(pa.array(rows)).to_pylist()))


def _check_deleted(
    missing: npt.NDArray[np.int64], both: pa.Table, identity: npt.NDArray[np.int64], base: Base
) -> None:
    if missing.size:
        raise FilesConflictError(base.table, base.snapshot_id, _names(missing, both, identity))


def _check_added(
    again: npt.NDArray[np.int64], both: pa.Table, identity: npt.NDArray[np.int64], base: Base
) -> None:
    if again.size:
        names = _names(again, both, identity)
        raise FilesConflictError(
            base.table,
            base.snapshot_id,
            names,
            f"the file {names[0]} would be added twice: its messages were committed before, under "
            "another user or identifier, or are given twice.",
        )
